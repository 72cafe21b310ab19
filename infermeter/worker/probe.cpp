#include <fmt/format.h>

#include <future>
#include <system_error>

#include "infermeter/worker/launcher.hpp"
#include "infermeter/worker/library_choice.hpp"
#include "infermeter/worker/plugin.hpp"
#include "infermeter/worker/watchdog.hpp"
#include "infermeter/worker/wire.hpp"

namespace infermeter {
namespace {

constexpr double probe_timeout_s = 30;

Result<BackendInfo> ask(const Launcher& launcher, const std::string& name, const std::string& library,
                        const std::string& plugin) {
  WorkerJob job{
      .probe = true, .plugin = plugin, .trial = {}, .sandbox = Sandbox::automatic, .readable = {}, .cpus = {}};
  job.trial.subject.backend = name;
  job.trial.subject.backend_library = library;
  for (const auto& folder : launcher.python_folders) job.trial.python_folders.push_back(folder.string());
  INFERMETER_TRY(WorkerProgram program, program_for(launcher, plugin));
  INFERMETER_TRY(WorkerProcess worker,
                 WorkerProcess::start({.program = std::move(program), .cpus = {}, .seed = 0, .block = -1}));
  INFERMETER_TRY_DONE(send_frame(worker.socket(), FrameType::job, job_to_json(job)));
  Result<BackendInfo> info = BackendInfo{};
  WatchRules rules;
  rules.load_timeout_s = probe_timeout_s;
  rules.on_frame = [&](Frame& frame) -> Result<Done> {
    info = backend_info_from_json(frame.payload);
    if (!info.ok()) return info.error();
    return Done{};
  };
  const WatchEnd end = watch(worker, rules);
  if (end.refused) return *end.refused;
  if (end.reason != KillReason::none)
    return worker_error(fmt::format("it did not answer within {} s", probe_timeout_s));
  if (auto unfit = end.worker.signal == 0 ? why_unfit(end.worker.exit_code, worker.tail().text()) : std::nullopt)
    return *unfit;
  if (!end.finished)
    return worker_error(end.worker.signal != 0 ? fmt::format("it crashed with signal {}", end.worker.signal)
                                               : fmt::format("it ended with status {}", end.worker.exit_code));
  return info;
}

std::string absolute(const std::string& path) {
  std::error_code error;
  const auto full = std::filesystem::absolute(path, error);
  return path.empty() || error ? path : full.string();
}

}  // namespace

BackendInfo probe_backend(const Launcher& launcher, const std::string& name, const std::string& library) {
  BackendInfo info;
  const auto plugin = find_plugin(launcher.plugin_folders, name);
  if (!plugin.ok()) {
    info.error = plugin.error().message;
  } else {
    const std::string file = absolute(plugin.value().string());
    auto answer = ask(launcher, name, absolute(chosen_library(name, library)), file);
    if (answer.ok())
      info = std::move(answer).value();
    else
      info.error = answer.error().message;
    info.plugin = file;
  }
  info.name = name;
  return info;
}

std::vector<BackendInfo> probe_backends(const Launcher& launcher) {
  std::vector<std::future<BackendInfo>> answers;
  for (const std::string& name : backend_names(launcher))
    answers.push_back(std::async(std::launch::async, [&launcher, name] { return probe_backend(launcher, name, ""); }));
  std::vector<BackendInfo> infos;
  for (auto& answer : answers) infos.push_back(answer.get());
  return infos;
}

std::vector<std::string> backend_names(const Launcher& launcher) { return plugin_names(launcher.plugin_folders); }

}  // namespace infermeter
