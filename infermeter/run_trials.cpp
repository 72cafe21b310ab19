#include "infermeter/run_trials.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string>
#include <vector>

#include "infermeter/run_begin.hpp"
#include "infermeter/run_outputs.hpp"
#include "infermeter/run_truth.hpp"
#include "infermeter/time_left.hpp"
#include "infermeter/trial/peaks.hpp"
#include "infermeter/trial_job.hpp"
#include "infermeter/workload.hpp"

namespace infermeter {
namespace {

// Seeds of side trials begin where no order reaches.
constexpr std::uint64_t side_seeds = std::uint64_t{1} << 32U;

double wall_s(std::span<const Samples> trials) {
  double sum = 0;
  for (const Samples& trial : trials) sum += trial.wall_s;
  return sum;
}

std::string settled_note(const std::string& label, const PilotFinding& finding, const Stopping& stopping) {
  const std::string length = stopping.iterations ? fmt::format("{} iterations", *stopping.iterations)
                                                 : fmt::format("{} s of iterations", stopping.duration_s.value_or(0));
  return fmt::format("{}: {}; {} after {} of warm-up", label,
                     finding.iteration_s ? to_string(finding.steady.kind) : "its pilots failed", length,
                     stopping.warmup);
}

// How many the subject has had.
int side_trials_of(const RunRecord& record, std::size_t subject, Purpose purpose) {
  return static_cast<int>(std::ranges::count_if(record.side_trials, [&](const Samples& trial) {
    return trial.purpose == purpose && trial.subject == static_cast<int>(subject);
  }));
}

// 0: no trial says.
int threads_of_first(const RunRecord& record) {
  for (const Samples& trial : record.trials) {
    const std::string said = trial.subject == 0 ? trial.executed_value("threads") : "";
    int threads = 0;
    const auto [end, error] = std::from_chars(said.data(), said.data() + said.size(), threads);
    if (error == std::errc() && threads > 0) return threads;
  }
  return 0;
}

// Blocks of all subjects in random order, as the timed trials have them, with orders of their own.
std::vector<PlannedTrial> profile_order(const Plan& plan) {
  Plan profiled = plan;
  profiled.processes = plan.profiling.processes;
  profiled.seed += side_seeds;
  order_trials(profiled);
  return profiled.order;
}

}  // namespace

bool RunTrials::interrupted() const { return context_.interrupt != nullptr && context_.interrupt->load() != 0; }

TrialJob RunTrials::job_for(const Place& place, const Stopping& stopping) const {
  const Plan& plan = record_.plan;
  TrialJob job = trial_job(plan, plan.subjects[place.subject], record_.models[place.subject]);
  job.cache_folder = workload_cache(plan.subjects[place.subject], record_.models[place.subject], context_.cache);
  job.stopping = stopping;
  job.seed += place.position + (place.purpose == Purpose::timed ? 0 : side_seeds);
  job.keep_outputs =
      tells_outputs(place.purpose) && (wants_outputs(record_, place.subject) || may_tell_truth(record_, place.subject));
  job.watch_memory = place.purpose == Purpose::leak;
  if (place.purpose == Purpose::profile) {
    job.profile = true;
    job.stacks = plan.profiling.stacks;
    job.python = plan.profiling.python;
  }
  return job;
}

Progress RunTrials::progress_at(const Place& place) const {
  Progress progress;
  progress.trial = place.position;
  progress.trials = record_.plan.order.size();
  progress.purpose = place.purpose;
  progress.subject = &record_.plan.subjects[place.subject];
  return progress;
}

TrialHooks RunTrials::hooks_for(const Place& place) {
  const Subject& subject = record_.plan.subjects[place.subject];
  const auto data = [this, &subject](std::span<const Port> ports) -> Result<DataSet> {
    auto given = context_.inputs ? context_.inputs(subject) : std::nullopt;
    auto made = given ? Result<DataSet>(std::move(*given)) : inputs_(subject, ports);
    data_ = made.ok() ? *made : DataSet{};
    return made;
  };
  TrialHooks hooks{.data = data, .on_progress = {}, .interrupt = context_.interrupt};
  if (!context_.on_progress) return hooks;
  Progress base = progress_at(place);
  if (place.purpose == Purpose::timed) base.seconds_left = time_left_s(record_.plan, record_.trials, place.position);
  hooks.on_progress = [this, base](const TrialProgress& now) {
    Progress progress = base;
    progress.phase = now.phase;
    progress.iterations_done = now.iterations_done;
    context_.on_progress(progress);
  };
  return hooks;
}

// Measured in a worker (or as the embedding program does it), kept in the store, its outputs compared.
Result<Done> RunTrials::measure(const Place& place, const Stopping& stopping) {
  const auto& trial = context_.trial ? context_.trial : run_trial;
  data_ = {};
  const bool takes_outputs = tells_outputs(place.purpose) && wants_outputs(record_, place.subject);
  TrialResult result = trial(context_.launcher, job_for(place, stopping), hooks_for(place));
  note_quality(result);
  result.samples.subject = static_cast<int>(place.subject);
  result.samples.process = place.process;
  result.samples.position = static_cast<int>(place.position);
  result.samples.purpose = place.purpose;
  INFERMETER_TRY_DONE(keep(place, result));
  const auto& trials = place.purpose == Purpose::timed ? record_.trials : record_.side_trials;
  if (context_.on_progress) {
    Progress progress = progress_at(place);
    progress.phase = Phase::done;
    progress.iterations_done = static_cast<std::int64_t>(trials.back().iterations());
    if (place.purpose == Purpose::timed) {
      progress.seconds_left = time_left_s(record_.plan, record_.trials, place.position + 1);
    }
    progress.finished = &trials.back();
    context_.on_progress(progress);
  }
  if (!takes_outputs) return Done{};
  return take_outputs(store_, record_, place.subject, trials.back(), result, data_);
}

// The trial, and what it told of its operators and stacks.
Result<Done> RunTrials::keep(const Place& place, TrialResult& result) {
  std::optional<OperatorProfile> profile;
  if (place.purpose == Purpose::profile) {
    profile = profile_of_(place.subject, result);
    read_stacks_(result, profile ? &*profile : nullptr);
  }
  INFERMETER_TRY_DONE(store_.add_trial(record_.id, result.samples));
  auto& trials = place.purpose == Purpose::timed ? record_.trials : record_.side_trials;
  trials.push_back(std::move(result.samples));
  for (TrialStacks& stacks : result.stacks) {
    stacks.position = static_cast<int>(place.position);
    INFERMETER_TRY_DONE(store_.add_stacks(record_.id, stacks));
    record_.stacks.push_back(std::move(stacks));
  }
  if (!profile) return Done{};
  profile->position = static_cast<int>(place.position);
  INFERMETER_TRY_DONE(store_.add_profile(record_.id, *profile));
  record_.profiles.push_back(std::move(*profile));
  return Done{};
}

Result<Done> RunTrials::side_trial(std::size_t subject, Purpose purpose, const Stopping& stopping) {
  const int process = side_trials_of(record_, subject, purpose);
  return measure({.subject = subject, .position = record_.side_trials.size(), .process = process, .purpose = purpose},
                 stopping);
}

// In rounds over the subjects, so that a disturbance does not fall on one of them alone.
Result<Done> RunTrials::pilots() {
  for (bool more = true; more && !interrupted();) {
    more = false;
    for (std::size_t subject = 0; subject < record_.plan.subjects.size() && !interrupted(); ++subject) {
      const auto wanted = next_pilot(record_, subject);
      if (!wanted) continue;
      INFERMETER_TRY_DONE(side_trial(subject, Purpose::pilot, *wanted));
      more = true;
    }
  }
  return Done{};
}

bool RunTrials::is_enough(const std::optional<ComparisonVerdict>& answer) const {
  if (!answer) return false;
  if (answer->resolved || !answer->steady || answer->hopeless) return true;
  const auto& budget = record_.plan.question->budget_s;
  if (!budget || record_.trials.empty()) return false;
  const double spent_s = wall_s(record_.trials);
  const double pair_s =
      spent_s / static_cast<double>(record_.trials.size()) * static_cast<double>(record_.plan.subjects.size());
  return spent_s + pair_s > *budget;
}

Result<Done> RunTrials::timed() {
  const Plan& plan = record_.plan;
  const auto findings = find_in_pilots(record_);
  std::vector<Stopping> stopping;
  for (std::size_t i = 0; i < plan.subjects.size(); ++i) stopping.push_back(settle(plan, findings, i));
  if (pilot_processes(plan) > 0 && !interrupted()) tell_pilots(findings, stopping);
  auto answer = judge_comparison(record_, false);  // so far; nothing without a question
  for (std::size_t position = 0; position < plan.order.size() && !interrupted(); ++position) {
    const PlannedTrial& planned = plan.order[position];
    const bool begins_pair = position % plan.subjects.size() == 0;
    if (already_done(record_, planned)) continue;
    if (begins_pair && is_enough(answer)) break;
    const Place place{.subject = planned.subject, .position = position, .process = planned.process};
    INFERMETER_TRY_DONE(measure(place, stopping[planned.subject]));
    if (!answer || (position + 1) % plan.subjects.size() != 0) continue;
    answer = judge_comparison(record_, false);
    tell_pair(place, *answer);
  }
  return Done{};
}

Result<Done> RunTrials::leaks() {
  if (record_.plan.leak_iterations == 0) return Done{};
  const Stopping stopping{.warmup = least_warmup, .iterations = record_.plan.leak_iterations, .duration_s = {}};
  for (std::size_t subject = 0; subject < record_.plan.subjects.size() && !interrupted(); ++subject) {
    if (side_trials_of(record_, subject, Purpose::leak) > 0) continue;
    INFERMETER_TRY_DONE(side_trial(subject, Purpose::leak, stopping));
  }
  return Done{};
}

// What the machine does at best with as many threads as the first subject has, in the same session.
Result<Done> RunTrials::peaks() {
  if (record_.peaks || interrupted()) return Done{};
  const int threads = threads_of_first(record_);
  if (threads == 0) return Done{};  // nothing ran
  const std::vector<int> processors = record_.plan.cpus.empty() ? processors_by_core() : record_.plan.cpus;
  tell(fmt::format("measuring what this machine does at best with {} thread{}", threads, threads == 1 ? "" : "s"));
  record_.peaks = measure_peaks(processors, threads, record_.environment);
  return store_.set_peaks(record_.id, *record_.peaks);
}

Result<Done> RunTrials::profiles() {
  if (record_.plan.profiling.processes == 0) return Done{};
  INFERMETER_TRY_DONE(peaks());
  const auto findings = find_in_pilots(record_);
  for (const PlannedTrial& planned : profile_order(record_.plan)) {
    if (interrupted()) break;
    if (planned.process < side_trials_of(record_, planned.subject, Purpose::profile))
      continue;  // of a run that is resumed
    Stopping stopping = settle(record_.plan, findings, planned.subject);
    stopping.iterations = record_.plan.profiling.iterations;
    stopping.duration_s.reset();
    INFERMETER_TRY_DONE(side_trial(planned.subject, Purpose::profile, stopping));
  }
  return Done{};
}

void RunTrials::tell_pair(const Place& place, const ComparisonVerdict& answer) const {
  if (!context_.on_progress) return;
  Progress progress = progress_at(place);
  progress.phase = Phase::done;
  progress.comparison = &answer;
  progress.seconds_left = time_left_s(record_.plan, record_.trials, place.position + 1);
  context_.on_progress(progress);
}

void RunTrials::tell(std::string note) const {
  if (!context_.on_progress) return;
  Progress progress;
  progress.note = std::move(note);
  context_.on_progress(progress);
}

void RunTrials::tell_pilots(std::span<const PilotFinding> findings, std::span<const Stopping> stopping) const {
  for (std::size_t subject = 0; subject < stopping.size(); ++subject) {
    tell(settled_note(record_.plan.subjects[subject].label, findings[subject], stopping[subject]));
  }
  const auto expected = outlook(record_.plan, findings);
  if (!expected) return;
  tell(fmt::format("a pair takes about {:.1f} s; {} pairs can show a difference of {:.2g} % as the pilots vary{}",
                   expected->pair_s, expected->pairs, std::expm1(expected->smallest_effect) * 100,
                   expected->smallest_effect > std::log1p(record_.plan.question->margin)
                       ? ": the margin may not be resolved (--max-pairs, --until-resolved, --budget)"
                       : ""));
}

}  // namespace infermeter
