// The whole of infermeter on one page: plan -> trials -> samples -> store, with outputs compared on the way.
// Statistics, verdict and report are pure functions of the record that this returns: judge(record), render(record, …).
#include "infermeter/run/run.hpp"

#include "infermeter/run/begin.hpp"
#include "infermeter/run/lost_store.hpp"
#include "infermeter/run/texts/parting_texts.hpp"
#include "infermeter/run/trials.hpp"

namespace infermeter {
namespace {

// From the pilots to the end. The record grows by each trial.
Result<Done> measure_all(Store& store, RunRecord& record, const RunContext& context) {
  // What the plan leaves open: warm-up and iterations, from pilot processes.
  RunTrials trials(store, record, context);
  INFERMETER_TRY_DONE(trials.pilots());
  INFERMETER_TRY_DONE(check_comparable(record));

  // The trials, each in a process of its own, in seeded random order; every one is on disk before the next begins. All
  // of them, or as many as it takes to answer the plan's question.
  INFERMETER_TRY_DONE(trials.timed());

  // Does memory grow? In processes of their own, since looking disturbs times.
  INFERMETER_TRY_DONE(trials.leaks());

  // Which operator takes how long? Likewise.
  INFERMETER_TRY_DONE(trials.profiles());

  // Where answers part, as text.
  INFERMETER_TRY_DONE(add_parting_texts(store, record, context));

  // A part of a run, which whoever made the parts puts together.
  if (context.shard) return Done{};

  // The end: finished, or to be resumed.
  record.finished = !trials.interrupted();
  if (context.before_finish) INFERMETER_TRY_DONE(context.before_finish(record));
  if (record.finished) INFERMETER_TRY_DONE(store.finish_run(record));
  return Done{};
}

}  // namespace

Result<RunRecord> run(Plan plan, const RunContext& context, std::optional<std::string> resume) {
  // Where results are kept; first of all, so that nothing is measured that could not be kept.
  INFERMETER_TRY(auto store, Store::open(plan, Store::Mode::write, context.interrupt));

  // What is to be measured: models checked, machine described, trials put in order.
  auto begun = resume ? resumed_run(store, *resume, plan, context) : new_run(store, std::move(plan), context);
  if (!begun.ok()) return begun.error();
  RunRecord record = std::move(begun->record);

  const auto measured = measure_all(store, record, context);
  if (measured.ok()) return record;
  return store.is_lost() ? kept_elsewhere(record, measured.error(), context) : measured.error();
}

}  // namespace infermeter
