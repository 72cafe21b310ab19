// The trials of a run, one after the other: each measured in a worker, kept in the store, told to whoever shows it.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "infermeter/run/inputs.hpp"
#include "infermeter/run/profile.hpp"
#include "infermeter/run/run_context.hpp"
#include "infermeter/run/stacks.hpp"
#include "infermeter/store/store.hpp"
#include "infermeter/verdict/pilot.hpp"

namespace infermeter {

class RunTrials {
 public:
  // All of them outlive it. `record` grows by each trial.
  RunTrials(Store& store, RunRecord& record, const RunContext& context)
      : store_(store),
        record_(record),
        context_(context),
        inputs_(record.plan, context.launcher, context.interrupt),
        profile_of_(record),
        is_new_(record.trials.empty() && record.side_trials.empty()) {}

  // Until every subject has the pilots that it needs; then shows what they showed.
  [[nodiscard]] Result<Done> pilots();
  // All trials of the plan's order that have not been measured yet, or until its question is answered.
  [[nodiscard]] Result<Done> timed();
  // One long trial per subject, if the plan wants them.
  [[nodiscard]] Result<Done> leaks();
  // Trials whose operators are profiled, if the plan wants them.
  [[nodiscard]] Result<Done> profiles();

  [[nodiscard]] bool interrupted() const;

 private:
  // Which trial: of what, what for, and where in its list.
  struct Place {
    std::size_t subject = 0, position = 0;
    int process = 0;
    Purpose purpose = Purpose::timed;
  };
  [[nodiscard]] Result<Done> measure(const Place& place, const Stopping& stopping);
  // Blocks of whoever still takes part, until the race and its confirmation have ended.
  [[nodiscard]] Result<Done> race(std::span<const Stopping> stopping);
  [[nodiscard]] Result<Done> side_trial(std::size_t subject, Purpose purpose, const Stopping& stopping);
  [[nodiscard]] Result<Done> check_model(const Place& place, std::string_view so);
  void note_files(const Place& place, Samples& trial);
  // An error if it was executed by, or on, something else than the trials of its subject before it, or on other inputs.
  [[nodiscard]] Result<Done> check_executed(const Place& place, const Samples& trial) const;
  // Behind the first trial of each subject: an error where back ends refuse what was asked for.
  [[nodiscard]] Result<Done> check_refusals(std::span<const Samples> first_trials);
  [[nodiscard]] Result<Done> keep(const Place& place, TrialResult& result, bool takes_outputs);
  [[nodiscard]] Result<Done> peaks();
  [[nodiscard]] TrialJob job_for(const Place& place, const Stopping& stopping) const;
  [[nodiscard]] TrialHooks hooks_for(const Place& place);
  [[nodiscard]] std::size_t planned_trials() const;
  [[nodiscard]] Progress progress_at(const Place& place) const;
  [[nodiscard]] std::optional<double> time_left(const Place& place, std::size_t further) const;
  // Of a run that is measured in shards: what only the first of them does, and what another one does.
  void note_end_of_task(Samples& trial) const;
  [[nodiscard]] bool is_later_shard() const;
  [[nodiscard]] bool is_elsewhere(const PlannedTrial& planned) const;
  // Before a pair: is the question answered, or is there no time for another pair?
  [[nodiscard]] bool is_enough(const std::optional<ComparisonVerdict>& answer) const;
  void report_pair(const Place& place, const ComparisonVerdict& answer) const;
  void tell(std::string note) const;
  void report_race(const TuningVerdict& tuning) const;
  void report_pilots(std::span<const PilotFinding> findings, std::span<const Stopping> stopping) const;

  Store& store_;
  RunRecord& record_;
  const RunContext& context_;
  RunInputs inputs_;
  ProfileReader profile_of_;
  StackReader read_stacks_{};
  bool is_new_;                                      // nothing of the run was measured before
  std::vector<std::optional<double>> expected_s_{};  // of a trial of each subject, as the pilots went
  std::size_t race_trial_ = 0, race_trials_ = 0;     // of a race: the one that runs, and until its block ends
  std::map<std::string, std::string> digests_{};     // SHA-256 by file, as this process has read them
  DataSet data_{};                                   // of the trial that runs, or ran last
};

}  // namespace infermeter
