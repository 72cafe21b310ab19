// What a run takes beside its plan: where things are, who hears of it, what the embedding program has.
#pragma once

#include <atomic>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "infermeter/data/data_set.hpp"
#include "infermeter/diagnostics/interrupt.hpp"
#include "infermeter/diagnostics/result.hpp"
#include "infermeter/fidelity/accuracy.hpp"
#include "infermeter/plan/plan.hpp"
#include "infermeter/run/shard.hpp"
#include "infermeter/samples/load/load_now.hpp"
#include "infermeter/samples/model_facts.hpp"
#include "infermeter/verdict/comparison.hpp"
#include "infermeter/verdict/run_record.hpp"
#include "infermeter/worker/launcher.hpp"

namespace infermeter {

// What is going on, for whoever shows it. Called between trials and at most ten times a second while one runs.
struct Progress {
  std::size_t trial = 0, trials = 0;  // trial: 0-based position in the plan's order; of side trials: among themselves
  Purpose purpose = Purpose::timed;
  const Subject* subject = nullptr;
  Phase phase = Phase::start;
  std::int64_t iterations_done = 0;
  std::optional<LoadNow> load{};       // while a load runs, twice a second anew
  std::optional<double> seconds_left;  // of the whole run, or while pilots run of them, once it can be determined
  const Samples* finished = nullptr;   // set once, when this trial has ended
  // With a question: what the pairs so far say; set once, when a pair has ended.
  const ComparisonVerdict* comparison = nullptr;
  std::string note;  // a sentence that is worth a line of its own: what the pilots showed
};

struct RunContext {
  Launcher launcher;                                   // where the worker program and the plug-ins are
  std::filesystem::path cache;                         // zoo models
  std::function<void(const Progress&)> on_progress{};  // may be empty
  const std::atomic<int>* interrupt = nullptr;         // 0; 1: finish the current iteration and stop; 2: at once
  std::string command{};                               // recorded
  // Of a new run that is a part of a gate or study: RunRecord::part_of; "": it is the first of them.
  std::optional<std::string> part_of{};
  // Called when all trials are there, or it was interrupted, and before the run counts as finished: what it fails at is
  // done again when the run is resumed. May be empty.
  std::function<Result<Done>(const RunRecord&)> before_finish{};
  // What a subject is run on, where the embedding program has it; empty, or nothing: as plan.data says.
  std::function<std::optional<DataSet>(const Subject& subject)> inputs{};
  // How one trial is made; empty: run_trial, in a worker process. For programs that have subjects of their own in
  // memory: those they measure themselves, the others they hand on to run_trial.
  std::function<TrialResult(const Launcher&, const TrialJob&, const TrialHooks&)> trial{};
  // Models that such a program has in memory, by the names that subjects call them: no file is looked for.
  std::map<std::string, ModelFacts> models{};
  // The plan was checked by check_run in this context, whose models are above.
  bool is_checked = false;
  // A subject that its back end cannot run as asked is a result, with its reason; otherwise all such subjects are an
  // error of the run, which ends after the first trial of each and is not kept.
  bool keeps_refusals = false;
  // Of a resumed run: only the blocks of this shard are measured, the first shard's leak and profile trials as well,
  // and the run does not count as finished.
  std::optional<Shard> shard{};
  // How right such models are, as that program found itself; by the same names, and all of the same rows.
  std::map<std::string, AccuracyTally> accuracy{};
};

}  // namespace infermeter
