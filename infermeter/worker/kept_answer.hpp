// What a back end answered when it was asked what it is: kept, so that the next command need not start it only to ask
// again. Some runtimes take seconds to begin.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "infermeter/plan/plan.hpp"
#include "infermeter/worker/launcher.hpp"

namespace infermeter {

// Who is asked, and how.
struct ProbeQuestion {
  std::string name, plugin, library;  // absolute paths; no library: the plug-in searches
  Sandbox sandbox = Sandbox::automatic;
};

class KeptAnswer {
 public:
  // `cache`: empty keeps nothing. Nor is anything kept of a strict sandbox: asking shows that it can be had.
  KeptAnswer(const std::filesystem::path& cache, const Launcher& launcher, const ProbeQuestion& question);

  // None where nothing that it depends on may have changed since: plug-in, worker, Python and its packages, the
  // runtime's library, devices, this start of the machine.
  [[nodiscard]] std::optional<BackendInfo> read() const;
  // An answer with an error is not kept. Where it cannot be written, it is asked for again.
  void keep(const BackendInfo& info) const;

 private:
  std::filesystem::path file_;  // empty: none
  std::string state_;
};

}  // namespace infermeter
