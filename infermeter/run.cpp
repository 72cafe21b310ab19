// The whole of infermeter on one page: plan -> trials -> samples -> store, with outputs compared on the way.
// Statistics, verdict and report are pure functions of the record that this returns: judge(record), render(record, …).
#include "infermeter/run.hpp"

#include <filesystem>
#include <system_error>

#include "infermeter/run_begin.hpp"
#include "infermeter/run_inputs.hpp"
#include "infermeter/run_outputs.hpp"
#include "infermeter/time_left.hpp"

namespace infermeter {
namespace {

TrialJob make_job(const RunRecord& record, std::size_t position) {
  const Plan& plan = record.plan;
  const PlannedTrial& planned = plan.order[position];
  return {.subject = plan.subjects[planned.subject],
          .model_path = record.models[planned.subject].path,
          .stopping = plan.stopping,
          .limits = plan.limits,
          .sandbox = plan.sandbox,
          .cpus = plan.cpus,
          .seed = plan.seed + position,
          .keep_outputs = wants_outputs(record, planned.subject),
          .readable = {}};
}

TrialHooks make_hooks(const RunRecord& record, std::size_t position, RunInputs& inputs, const RunContext& context,
                      std::optional<double> left_s) {
  const Subject& subject = record.plan.subjects[record.plan.order[position].subject];
  TrialHooks hooks{.data = [&inputs, &subject](std::span<const Port> ports) { return inputs(subject, ports); },
                   .on_progress = {},
                   .interrupt = context.interrupt};
  if (context.on_progress) {
    hooks.on_progress = [&context, &subject, position, left_s,
                         count = record.plan.order.size()](const TrialProgress& progress) {
      context.on_progress({.trial = position,
                           .trials = count,
                           .subject = &subject,
                           .phase = progress.phase,
                           .iterations_done = progress.iterations_done,
                           .seconds_left = left_s});
    };
  }
  return hooks;
}

bool interrupted(const RunContext& context) { return context.interrupt != nullptr && context.interrupt->load() != 0; }

void tell_end(const RunContext& context, const RunRecord& record, std::size_t position) {
  if (!context.on_progress) return;
  context.on_progress({.trial = position,
                       .trials = record.plan.order.size(),
                       .subject = &record.plan.subjects[record.plan.order[position].subject],
                       .phase = Phase::done,
                       .iterations_done = static_cast<std::int64_t>(record.trials.back().iterations()),
                       .seconds_left = time_left_s(record.plan, record.trials, position + 1),
                       .finished = &record.trials.back()});
}

// One planned trial: measured in a worker, kept in the store, its outputs compared.
Result<Done> measure(Store& store, RunRecord& record, std::size_t position, RunInputs& inputs,
                     const RunContext& context) {
  const PlannedTrial planned = record.plan.order[position];
  const auto left_s = time_left_s(record.plan, record.trials, position);
  TrialResult result =
      run_trial(context.launcher, make_job(record, position), make_hooks(record, position, inputs, context, left_s));
  result.samples.subject = static_cast<int>(planned.subject);
  result.samples.process = planned.process;
  result.samples.position = static_cast<int>(position);
  INFERMETER_TRY_DONE(store.add_trial(record.id, result.samples));
  record.trials.push_back(std::move(result.samples));
  tell_end(context, record, position);
  return take_outputs(store, record, planned.subject, result);
}

}  // namespace

Result<RunRecord> run(Plan plan, const RunContext& context, std::optional<std::string> resume) {
  // Where results are kept; first of all, so that nothing is measured that could not be kept.
  INFERMETER_TRY(auto store, Store::open(std::filesystem::path(plan.output_dir) / "infermeter.db", Store::Mode::write));

  // What is to be measured: models checked, machine described, trials put in order.
  auto begun = resume ? resumed_record(store, *resume, plan, context) : new_record(std::move(plan), context);
  if (!begun.ok()) return begun.error();
  RunRecord record = std::move(begun).value();
  if (!resume) INFERMETER_TRY_DONE(store.begin_run(record));

  // The trials, each in a process of its own; every one is on disk before the next begins.
  RunInputs inputs(record.plan);
  for (std::size_t position = 0; position < record.plan.order.size() && !interrupted(context); ++position) {
    if (already_done(record, record.plan.order[position])) continue;
    INFERMETER_TRY_DONE(measure(store, record, position, inputs, context));
  }

  // The end: finished, or to be resumed.
  record.finished = !interrupted(context);
  if (record.finished) {
    INFERMETER_TRY_DONE(store.finish_run(record));
  }
  return record;
}

}  // namespace infermeter
