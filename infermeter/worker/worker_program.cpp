#include "infermeter/worker/worker_program.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include "infermeter/diagnostics/last_words.hpp"
#include "infermeter/worker/plugin.hpp"
#include "infermeter/worker/wire/output_tail.hpp"

namespace infermeter {
namespace {

// PATH is for what compiles models: it starts a C++ compiler. The interpreter's own folder is first in it. Nothing of
// the user's own (PYTHONSTARTUP, a .pth of ~/.local) gets in; the current folder is not searched for modules.
std::vector<std::string> python_environment(const Launcher& launcher) {
  return {"PYTHONPATH=" + launcher.python_package.string(),
          fmt::format("PATH={}:/usr/local/bin:/usr/bin:/bin", launcher.python.parent_path().string()),
          "PYTHONSAFEPATH=1",
          "PYTHONDONTWRITEBYTECODE=1",
          "PYTHONFAULTHANDLER=1",
          "PYTHONUNBUFFERED=1"};
}

}  // namespace

Result<WorkerProgram> program_for(const Launcher& launcher, const std::filesystem::path& plugin) {
  if (!is_python(plugin)) return WorkerProgram{.file = launcher.worker};
  return python_program(launcher, plugin.filename().string(), {"-m", "infermeter.worker"});
}

Result<WorkerProgram> python_program(const Launcher& launcher, std::string_view what,
                                     std::vector<std::string> arguments) {
  if (launcher.python_package.empty())
    return usage_error(fmt::format(
        "{} runs in Python, and infermeter's Python module is not here: build with python3-dev and nanobind "
        "(scripts/setup installs them), or pip install infermeter",
        what));
  if (launcher.python.empty())
    return usage_error(
        fmt::format("{} runs in Python, and no Python was found; name one with INFERMETER_PYTHON", what));
  if (access(launcher.python.c_str(), X_OK) != 0)
    return usage_error(
        fmt::format("the Python {} cannot be executed; look at INFERMETER_PYTHON", launcher.python.string()));
  return WorkerProgram{.file = launcher.python,
                       .arguments = std::move(arguments),
                       .environment = python_environment(launcher),
                       .supervisor = launcher.worker};
}

std::optional<Error> why_unfit(const SupervisorReport& end, std::string_view output) {
  if (end.signal != 0 || end.exit_code != unfit_worker) return std::nullopt;
  const std::string words(last_words(output));
  return usage_error(words.empty() ? "the Python worker could not begin" : words);
}

}  // namespace infermeter
