#include "infermeter/worker/worker_answer.hpp"

#include <fmt/format.h>

#include "infermeter/diagnostics/last_words.hpp"
#include "infermeter/worker/memory_limit.hpp"
#include "infermeter/worker/wall/watchdog.hpp"
#include "infermeter/worker/wire/output_tail.hpp"

namespace infermeter {
namespace {

std::string how_the_worker_ended(const WorkerEnd& end, const std::string& words) {
  const std::string how = end.signal != 0 ? fmt::format("it crashed with signal {}", end.signal)
                                          : fmt::format("it ended with status {}", end.exit_code);
  return words.empty() ? how : fmt::format("{}; last line on stderr: {}", how, words);
}

}  // namespace

Result<BackendInfo> ask_worker(const Launcher& launcher, const WorkerJob& job, const AnswerLimits& limits) {
  INFERMETER_TRY(WorkerProgram program, program_for(launcher, job.plugin));
  INFERMETER_TRY(WorkerProcess worker, WorkerProcess::start({.program = std::move(program),
                                                             .cpus = {},
                                                             .seed = 0,
                                                             .variables = job.trial.subject.environment,
                                                             .block = -1}));
  // One that is gone already shows below why.
  const auto sent = send_frame(worker.socket(), FrameType::job, job_to_json(job));
  if (!sent.ok() && sent.error().kind != ErrorKind::worker) return sent.error();
  Result<BackendInfo> info = BackendInfo{};
  WatchRules rules;
  rules.load_timeout_s = limits.timeout_s;
  rules.memory_limit_bytes = memory_limit_in_force(limits.memory_limit_bytes);
  rules.interrupt = limits.interrupt;
  rules.on_frame = [&](Frame& frame) -> Result<Done> {
    if (frame.type != FrameType::info) return worker_error("its answer is not one");
    info = backend_info_from_json(frame.payload);
    if (!info.ok()) return worker_error(info.error().message);
    return Done{};
  };
  const WatchEnd end = watch(worker, rules);
  if (end.refused) return *end.refused;
  if (end.finished) return info;  // however it ended after that
  if (end.reason == KillReason::interrupt) return worker_error("it was interrupted");
  if (end.reason == KillReason::memory) return worker_error(over_the_limit(rules.memory_limit_bytes, end.memory_bytes));
  if (end.reason != KillReason::none)
    return worker_error(fmt::format("it did not answer within {} s", limits.timeout_s));
  if (auto unfit = why_unfit(end.worker, worker.tail().text())) return *unfit;
  return worker_error(how_the_worker_ended(end.worker, std::string(last_words(worker.tail().text()))));
}

}  // namespace infermeter
