#include "infermeter/worker/worker_answer.hpp"

#include <fmt/format.h>

#include "infermeter/worker/watchdog.hpp"

namespace infermeter {

Result<BackendInfo> ask_worker(const Launcher& launcher, const WorkerJob& job, double timeout_s) {
  INFERMETER_TRY(WorkerProgram program, program_for(launcher, job.plugin));
  INFERMETER_TRY(WorkerProcess worker,
                 WorkerProcess::start({.program = std::move(program), .cpus = {}, .seed = 0, .block = -1}));
  INFERMETER_TRY_DONE(send_frame(worker.socket(), FrameType::job, job_to_json(job)));
  Result<BackendInfo> info = BackendInfo{};
  WatchRules rules;
  rules.load_timeout_s = timeout_s;
  rules.on_frame = [&](Frame& frame) -> Result<Done> {
    info = backend_info_from_json(frame.payload);
    if (!info.ok()) return info.error();
    return Done{};
  };
  const WatchEnd end = watch(worker, rules);
  if (end.refused) return *end.refused;
  if (end.reason != KillReason::none) return worker_error(fmt::format("it did not answer within {} s", timeout_s));
  if (auto unfit = why_unfit(end.worker, worker.tail().text())) return *unfit;
  if (!end.finished)
    return worker_error(end.worker.signal != 0 ? fmt::format("it crashed with signal {}", end.worker.signal)
                                               : fmt::format("it ended with status {}", end.worker.exit_code));
  return info;
}

}  // namespace infermeter
