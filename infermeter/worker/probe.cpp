#include <fmt/format.h>

#include <future>
#include <system_error>

#include "infermeter/worker/kept_answer.hpp"
#include "infermeter/worker/launcher.hpp"
#include "infermeter/worker/library_choice.hpp"
#include "infermeter/worker/plugin.hpp"
#include "infermeter/worker/worker_answer.hpp"

namespace infermeter {
namespace {

constexpr double probe_timeout_s = 30;

Result<BackendInfo> ask(const Launcher& launcher, const ProbeQuestion& question, const ProbeOptions& options) {
  WorkerJob job{
      .probe = true, .plugin = question.plugin, .trial = {}, .sandbox = question.sandbox, .readable = {}, .cpus = {}};
  job.trial.subject.backend = question.name;
  job.trial.subject.backend_library = question.library;
  for (const auto& folder : launcher.python_folders) job.trial.python_folders.push_back(folder.string());
  return ask_worker(launcher, job, {.timeout_s = probe_timeout_s, .interrupt = options.interrupt});
}

std::string absolute(const std::string& path) {
  std::error_code error;
  const auto full = std::filesystem::absolute(path, error);
  return path.empty() || error ? path : full.string();
}

BackendInfo answer_to(const Launcher& launcher, const ProbeQuestion& question, const ProbeOptions& options) {
  const KeptAnswer kept(options.cache, launcher, question);
  if (auto known = kept.read()) return *std::move(known);
  auto answer = ask(launcher, question, options);
  if (!answer.ok()) {
    BackendInfo none;
    none.error = answer.error().message;
    return none;
  }
  kept.keep(*answer);
  return std::move(answer).value();
}

}  // namespace

BackendInfo probe_backend(const Launcher& launcher, const std::string& name, const std::string& library,
                          const ProbeOptions& options) {
  BackendInfo info;
  const auto plugin = find_plugin(launcher.plugin_folders, name);
  if (!plugin.ok()) {
    info.error = plugin.error().message;
  } else {
    const ProbeQuestion question{.name = name,
                                 .plugin = absolute(plugin.value().string()),
                                 .library = absolute(chosen_library(name, library)),
                                 .sandbox = options.sandbox == Sandbox::strict ? Sandbox::strict : Sandbox::automatic};
    info = answer_to(launcher, question, options);
    info.plugin = question.plugin;
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
