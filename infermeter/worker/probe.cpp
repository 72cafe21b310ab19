#include <fmt/format.h>

#include <future>
#include <system_error>

#include "infermeter/worker/launcher.hpp"
#include "infermeter/worker/library_choice.hpp"
#include "infermeter/worker/plugin.hpp"
#include "infermeter/worker/worker_answer.hpp"

namespace infermeter {
namespace {

constexpr double probe_timeout_s = 30;

Result<BackendInfo> ask(const Launcher& launcher, const std::string& name, const std::string& library,
                        const std::string& plugin, const ProbeOptions& options) {
  const Sandbox sandbox = options.sandbox == Sandbox::strict ? Sandbox::strict : Sandbox::automatic;
  WorkerJob job{.probe = true, .plugin = plugin, .trial = {}, .sandbox = sandbox, .readable = {}, .cpus = {}};
  job.trial.subject.backend = name;
  job.trial.subject.backend_library = library;
  for (const auto& folder : launcher.python_folders) job.trial.python_folders.push_back(folder.string());
  return ask_worker(launcher, job, {.timeout_s = probe_timeout_s, .interrupt = options.interrupt});
}

std::string absolute(const std::string& path) {
  std::error_code error;
  const auto full = std::filesystem::absolute(path, error);
  return path.empty() || error ? path : full.string();
}

}  // namespace

BackendInfo probe_backend(const Launcher& launcher, const std::string& name, const std::string& library,
                          const ProbeOptions& options) {
  BackendInfo info;
  const auto plugin = find_plugin(launcher.plugin_folders, name);
  if (!plugin.ok()) {
    info.error = plugin.error().message;
  } else {
    const std::string file = absolute(plugin.value().string());
    auto answer = ask(launcher, name, absolute(chosen_library(name, library)), file, options);
    if (answer.ok())
      info = std::move(answer).value();
    else
      info.error = answer.error().message;
    info.plugin = file;
  }
  info.name = name;
  return info;
}

std::vector<BackendInfo> probe_backends(const Launcher& launcher, const ProbeOptions& options) {
  return probe_backends(launcher, backend_names(launcher), options);
}

std::vector<BackendInfo> probe_backends(const Launcher& launcher, const std::vector<std::string>& names,
                                        const ProbeOptions& options) {
  std::vector<std::future<BackendInfo>> answers;
  for (const std::string& name : names)
    answers.push_back(std::async(std::launch::async, [&, name] { return probe_backend(launcher, name, "", options); }));
  std::vector<BackendInfo> infos;
  for (auto& answer : answers) infos.push_back(answer.get());
  return infos;
}

std::vector<std::string> backend_names(const Launcher& launcher) { return plugin_names(launcher.plugin_folders); }

}  // namespace infermeter
