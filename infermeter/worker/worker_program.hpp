// WorkerProgram: what is started for a plug-in: infermeter-worker for a library, Python for a Python file.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "infermeter/diagnostics/result.hpp"
#include "infermeter/worker/launcher.hpp"
#include "infermeter/worker/wall/supervisor.hpp"

namespace infermeter {

struct WorkerProgram {
  std::filesystem::path file;
  std::vector<std::string> arguments{};
  std::vector<std::string> environment{};  // "KEY=value", beside what every worker gets
  std::filesystem::path supervisor{};      // infermeter-worker; empty: the program is it
};

[[nodiscard]] Result<WorkerProgram> program_for(const Launcher& launcher, const std::filesystem::path& plugin);

// The launcher's Python with these arguments; `what` is what runs in it.
[[nodiscard]] Result<WorkerProgram> python_program(const Launcher& launcher, std::string_view what,
                                                   std::vector<std::string> arguments);

// The exit status of a Python worker that cannot become one (a module for another Python, say); the last line on its
// standard error says why.
inline constexpr int unfit_worker = 78;  // EX_CONFIG of sysexits.h
// The sentence of a worker that ended so.
[[nodiscard]] std::optional<Error> why_unfit(const SupervisorReport& end, std::string_view output);

}  // namespace infermeter
