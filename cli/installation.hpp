// The installation: what infermeter itself needs to measure on this machine.
#pragma once

#include <atomic>
#include <filesystem>
#include <string>
#include <vector>

#include "infermeter/worker/launcher.hpp"

namespace infermeter {

struct Shortcoming {
  std::string what;
  std::string remedy;
};

struct Installation {
  std::vector<BackendInfo> backends;
  std::vector<Shortcoming> missing;
  bool can_measure = false;  // a worker, a back end that can be used, a place for results
};

// `interrupt` as in RunContext.
[[nodiscard]] Installation examine_installation(const std::filesystem::path& backend_path,
                                                const std::filesystem::path& output_dir,
                                                const std::atomic<int>* interrupt);

}  // namespace infermeter
