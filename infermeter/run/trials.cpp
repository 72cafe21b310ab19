#include "infermeter/run/trials.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>
#include <csignal>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

#include "infermeter/diagnostics/interrupt.hpp"
#include "infermeter/diagnostics/problems.hpp"
#include "infermeter/models/resolve.hpp"
#include "infermeter/models/sha256.hpp"
#include "infermeter/plan/load/load_shape.hpp"
#include "infermeter/plan/prompt_file.hpp"
#include "infermeter/plan/split_mix64.hpp"
#include "infermeter/run/begin.hpp"
#include "infermeter/run/outputs.hpp"
#include "infermeter/run/time_left.hpp"
#include "infermeter/run/trial_job.hpp"
#include "infermeter/run/truth.hpp"
#include "infermeter/run/workload.hpp"
#include "infermeter/text/quoted.hpp"
#include "infermeter/trial/machine/clock.hpp"
#include "infermeter/trial/machine/peaks.hpp"
#include "infermeter/verdict/judge.hpp"
#include "infermeter/verdict/rounds/blocks.hpp"
#include "infermeter/verdict/rounds/enough_rounds.hpp"
#include "infermeter/verdict/rounds/rounds.hpp"

namespace infermeter {
namespace {

// Seeds of side trials begin where no order reaches.
constexpr std::uint64_t side_seeds = std::uint64_t{1} << 32U;

std::string settled_note(const std::string& label, const PilotFinding& finding, const Stopping& stopping) {
  const std::string length = stopping.iterations ? fmt::format("{} iterations", *stopping.iterations)
                                                 : fmt::format("{} s of iterations", stopping.duration_s.value_or(0));
  return fmt::format("{}: {}; {} after {} of warm-up", label,
                     finding.iteration_s ? to_string(finding.steady.kind) : "its pilots failed", length,
                     stopping.warmup);
}

bool has_all_blocks(const RunRecord& record) { return blocks_worth_keeping(record) >= record.plan.processes; }

// It says nothing of the subject: the trial stays to be done.
Error no_trial(const Error& error, const std::string& run) {
  return {ErrorKind::internal,
          fmt::format("a trial could not be made: {}; `infermeter run --resume {}` continues", error.message, run)};
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

// What a trial of each subject takes, as its pilots went.
std::vector<std::optional<double>> expected_trial_s(std::span<const PilotFinding> findings,
                                                    std::span<const Stopping> stopping) {
  std::vector<std::optional<double>> seconds(findings.size());
  for (std::size_t i = 0; i < findings.size(); ++i) {
    if (!findings[i].iteration_s) continue;
    const double timed_s = stopping[i].duration_s.value_or(static_cast<double>(stopping[i].iterations.value_or(0)) *
                                                           *findings[i].iteration_s);
    seconds[i] = findings[i].process_s + static_cast<double>(stopping[i].warmup) * *findings[i].iteration_s + timed_s;
  }
  return seconds;
}

// Blocks of all subjects in random order, as the timed trials have them, with orders of their own.
std::vector<PlannedTrial> profile_order(const Plan& plan) {
  Plan profiled = plan;
  profiled.processes = plan.profiling.processes;
  profiled.repeat_disturbed = 0;
  profiled.seed = plan.seed.value_or(0) + side_seeds;
  order_trials(profiled);
  return profiled.order;
}

}  // namespace

bool RunTrials::interrupted() const { return look_at_interrupts(context_.interrupt) != 0; }

TrialJob RunTrials::job_for(const Place& place, const Stopping& stopping) const {
  const Plan& plan = record_.plan;
  TrialJob job = trial_job(plan, plan.subjects[place.subject], record_.models[place.subject]);
  job.cache_folder = workload_cache(plan.subjects[place.subject], record_.models[place.subject], context_.cache);
  job.stopping = stopping;
  if (place.purpose == Purpose::timed) {
    job.arrivals_seed = SplitMix64(plan.seed.value_or(0) + static_cast<std::uint64_t>(place.process)).next();
  } else {
    job.subject.load.clear();  // what they look for shows one inference after the other
  }
  job.seed += place.position + (place.purpose == Purpose::timed ? 0 : side_seeds);
  job.keep_outputs =
      has_outputs(place.purpose) && (wants_outputs(record_, place.subject) || may_have_truth(record_, place.subject));
  job.watch_memory = place.purpose == Purpose::leak;
  if (place.purpose == Purpose::profile) {
    job.profile = true;
    job.stacks = plan.profiling.stacks;
    job.python = plan.profiling.python;
  }
  return job;
}

// Of the timed ones: as many as there will be at most or, of automatic length, until it may next end.
std::size_t RunTrials::planned_trials() const {
  if (record_.plan.tuning) return race_trials_;
  const std::size_t blocks = static_cast<std::size_t>(next_end(record_)) + blocks_set_aside(record_).size();
  return std::min(blocks * record_.plan.subjects.size(), record_.plan.order.size());
}

Progress RunTrials::progress_at(const Place& place) const {
  Progress progress;
  const bool races = record_.plan.tuning && place.purpose == Purpose::timed;
  progress.trial = races ? race_trial_ : place.position;
  progress.trials = place.purpose == Purpose::pilot
                        ? static_cast<std::size_t>(pilot_processes(record_.plan)) * record_.plan.subjects.size()
                        : planned_trials();
  progress.purpose = place.purpose;
  progress.subject = &record_.plan.subjects[place.subject];
  return progress;
}

// From the trial at `place` on, or from the one behind it: of the trials, or of the pilots.
std::optional<double> RunTrials::time_left(const Place& place, std::size_t further) const {
  const Plan& plan = record_.plan;
  if (record_.plan.tuning && place.purpose == Purpose::timed) return std::nullopt;  // nobody knows who goes on
  if (place.purpose == Purpose::timed) {
    return time_left_s(plan, record_.trials, place.position + further, expected_s_, planned_trials());
  }
  if (place.purpose != Purpose::pilot || record_.side_trials.empty()) return std::nullopt;
  const auto ended = static_cast<double>(record_.side_trials.size());
  const std::size_t done = place.position + further, all = progress_at(place).trials;
  return wall_s(record_.side_trials) / ended * static_cast<double>(all > done ? all - done : 0);
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
  const Progress base = progress_at(place);
  const std::optional<double> now_s = time_left(place, 0), then_s = time_left(place, 1);
  hooks.on_progress = [this, base, now_s, then_s, begin_s = monotonic_s()](const TrialProgress& now) {
    Progress progress = base;
    progress.phase = now.phase;
    progress.iterations_done = now.iterations_done;
    progress.load = now.load;
    if (now_s) progress.seconds_left = std::max(*now_s - (monotonic_s() - begin_s), then_s.value_or(0));
    context_.on_progress(progress);
  };
  return hooks;
}

// Measured in a worker (or as the embedding program does it), its outputs compared, and kept in the store.
Result<Done> RunTrials::measure(const Place& place, const Stopping& stopping) {
  const auto& trial = context_.trial ? context_.trial : run_trial;
  data_ = {};
  const bool takes_outputs = has_outputs(place.purpose) && wants_outputs(record_, place.subject);
  INFERMETER_TRY_DONE(check_model(place, "the run ends here"));
  TrialResult result = trial(context_.launcher, job_for(place, stopping), hooks_for(place));
  if (context_.interrupt != nullptr) store_.have_heard(context_.interrupt->load());
  INFERMETER_TRY_DONE(check_model(place, "the trial that has just ended is not kept, and the run ends here"));
  if (result.launcher_error) return no_trial(*result.launcher_error, record_.id);
  note_files(place, result.samples);
  INFERMETER_TRY_DONE(check_executed(place, result.samples));
  if (context_.shard) {
    note_node(record_, *context_.shard, result.samples);
    note_end_of_task(result.samples);
  }
  note_quality(result);
  result.samples.subject = static_cast<int>(place.subject);
  result.samples.process = place.process;
  result.samples.position = static_cast<int>(place.position);
  result.samples.purpose = place.purpose;
  INFERMETER_TRY_DONE(keep(place, result, takes_outputs));
  const auto& trials = place.purpose == Purpose::timed ? record_.trials : record_.side_trials;
  if (context_.on_progress) {
    Progress progress = progress_at(place);
    progress.phase = Phase::done;
    progress.iterations_done = static_cast<std::int64_t>(trials.back().iterations());
    progress.seconds_left = time_left(place, 1);
    progress.finished = &trials.back();
    context_.on_progress(progress);
  }
  return Done{};
}

// A trial of a file that is another one by now is not kept; those before it are, under the digest of what they ran.
Result<Done> RunTrials::check_model(const Place& place, std::string_view so) {
  const auto unchanged = check_unchanged(record_.models[place.subject]);
  if (unchanged.ok()) return Done{};
  return io_error(fmt::format("{}: {}; `infermeter report {}` shows the trials before it", unchanged.error().message,
                              so, record_.id));
}

// Files that no back end is given belong to what was measured as well.
void RunTrials::note_files(const Place& place, Samples& trial) {
  if (trial.executed.empty()) return;
  const auto tell = [&](std::string_view key, const std::string& file) {
    if (file.empty()) return;
    const auto [known, is_new] = digests_.try_emplace(file);
    if (is_new) {
      const auto digest = sha256_of_file(file, context_.interrupt);
      if (digest.ok()) known->second = *digest;
    }
    if (!known->second.empty()) trial.executed.emplace_back(key, known->second);
  };
  if (data_.digest != 0) trial.executed.emplace_back("data_digest", fmt::format("{:016x}", data_.digest));
  if (record_.plan.data.labels != next_labels) tell("labels_sha256", record_.plan.data.labels);
  const Subject& subject = record_.plan.subjects[place.subject];
  tell("prompts_sha256", std::string(prompt_file_of(subject)));
  const auto load = load_shape_from_pairs(subject.load);
  if (load.ok() && load->arrivals.kind == Arrivals::Kind::trace) tell("arrivals_sha256", load->arrivals.file);
}

// A file of a runtime, the data, or a server's model may be replaced as well: what is reported about them has to stay
// as it was.
Result<Done> RunTrials::check_executed(const Place& place, const Samples& trial) const {
  const auto changed = [&](std::string_view what, std::string_view then, std::string_view now) {
    return io_error(fmt::format(
        "{}: what is measured changed during the run ({} '{}' before, '{}' now): the trial that has just ended is not "
        "kept, and the run ends here; `infermeter report {}` shows the trials before it",
        record_.plan.subjects[place.subject].label, what, printable(then, 80), printable(now, 80), record_.id));
  };
  for (const auto* trials : {&record_.trials, &record_.side_trials}) {
    for (const Samples& before : *trials) {
      if (before.subject != static_cast<int>(place.subject)) continue;
      for (const std::string_view key : {"runtime", "runtime_version", "platform", "model_version", "data_digest",
                                         "labels_sha256", "arrivals_sha256", "prompts_sha256"}) {
        const std::string then = before.executed_value(key), now = trial.executed_value(key);
        if (!then.empty() && !now.empty() && then != now) return changed(key, then, now);
      }
      if (before.input_digest != 0 && trial.input_digest != 0 && before.input_digest != trial.input_digest)
        return changed("inputs", fmt::format("{:016x}", before.input_digest),
                       fmt::format("{:016x}", trial.input_digest));
    }
  }
  return Done{};
}

Result<Done> RunTrials::check_refusals(std::span<const Samples> first_trials) {
  if (!is_new_ || first_trials.empty() || context_.keeps_refusals) return Done{};
  is_new_ = false;
  Problems problems;
  for (const Samples& trial : first_trials) {
    if (!trial.usage) continue;
    const Subject& subject = record_.plan.subjects[static_cast<std::size_t>(trial.subject)];
    problems.add(usage_error(fmt::format("{}: {}", subject.label, trial.message)));
  }
  if (problems.none()) return Done{};
  INFERMETER_TRY_DONE(store_.remove_run(record_.id));
  return problems.result();
}

// The trial with all that belongs to it, in one transaction: its operators and stacks, its outputs, what they say.
Result<Done> RunTrials::keep(const Place& place, TrialResult& result, bool takes_outputs) {
  std::optional<OperatorProfile> profile;
  if (place.purpose == Purpose::profile) {
    profile = profile_of_(place.subject, result);
    read_stacks_(result, profile ? &*profile : nullptr);
  }
  if (profile) profile->position = static_cast<int>(place.position);
  for (TrialStacks& stacks : result.stacks) stacks.position = static_cast<int>(place.position);
  auto& trials = place.purpose == Purpose::timed ? record_.trials : record_.side_trials;
  trials.push_back(std::move(result.samples));
  if (place.purpose == Purpose::timed) take_reported_size(record_.models[place.subject], trials.back());
  TakenOutputs taken;
  if (takes_outputs) {
    INFERMETER_TRY(taken, take_outputs(store_, record_, place.subject, trials.back(), result, data_));
  }
  const auto keep_all = [&]() -> Result<Done> {
    INFERMETER_TRY_DONE(store_.add_trial(record_.id, trials.back()));
    for (const TrialStacks& stacks : result.stacks) INFERMETER_TRY_DONE(store_.add_stacks(record_.id, stacks));
    if (profile) INFERMETER_TRY_DONE(store_.add_profile(record_.id, *profile));
    INFERMETER_TRY_DONE(keep_outputs(store_, record_, taken));
    return takes_outputs ? store_.set_diagnostics(record_.id, record_.diagnostics) : Result<Done>(Done{});
  };
  auto kept = store_.together(keep_all);
  // Also where it is not kept: another store may take what this one lost.
  std::ranges::move(result.stacks, std::back_inserter(record_.stacks));
  if (profile) record_.profiles.push_back(std::move(*profile));
  return kept;
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
    INFERMETER_TRY_DONE(check_refusals(record_.side_trials));
  }
  return Done{};
}

bool RunTrials::is_enough(const std::optional<ComparisonVerdict>& answer) const {
  if (!answer) return false;
  if (answer->resolved || answer->hopeless) return true;
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
  if (pilot_processes(plan) > 0 && !plan.tuning && !interrupted()) report_pilots(findings, stopping);
  expected_s_ = expected_trial_s(findings, stopping);
  if (plan.tuning) return race(stopping);
  auto answer = judge_comparison(record_, false);  // so far; nothing without a question
  for (std::size_t position = 0; position < plan.order.size() && !interrupted(); ++position) {
    const PlannedTrial& planned = plan.order[position];
    const bool begins_pair = position % plan.subjects.size() == 0;
    if (is_elsewhere(planned) || already_done(record_, planned)) continue;
    if (begins_pair && (has_all_blocks(record_) || is_enough(answer) || has_enough_rounds(record_))) break;
    const Place place{.subject = planned.subject, .position = position, .process = planned.process};
    INFERMETER_TRY_DONE(measure(place, stopping[planned.subject]));
    if (position + 1 == plan.subjects.size()) INFERMETER_TRY_DONE(check_refusals(record_.trials));
    if (!answer || (position + 1) % plan.subjects.size() != 0) continue;
    answer = judge_comparison(record_, false);
    report_pair(place, *answer);
  }
  return Done{};
}

Result<Done> RunTrials::race(std::span<const Stopping> stopping) {
  const Plan& plan = record_.plan;
  RaceValues values;
  while (!interrupted()) {
    const TuningVerdict course = judge_race(record_, values);
    report_race(course);
    if (!course.next) break;
    const NextBlock& next = *course.next;
    const auto begin = static_cast<std::size_t>(next.process) * plan.subjects.size();
    std::vector<std::size_t> places;
    for (std::size_t place = begin; place < begin + plan.subjects.size(); ++place) {
      const bool races =
          std::ranges::find(next.subjects, static_cast<int>(plan.order[place].subject)) != next.subjects.end();
      if (races && !already_done(record_, plan.order[place])) places.push_back(place);
    }
    race_trials_ = record_.trials.size() + places.size();
    for (const std::size_t position : places) {
      if (interrupted()) break;
      const PlannedTrial& planned = plan.order[position];
      const Place place{.subject = planned.subject, .position = position, .process = planned.process};
      race_trial_ = record_.trials.size();
      INFERMETER_TRY_DONE(measure(place, stopping[planned.subject]));
    }
  }
  return Done{};
}

Result<Done> RunTrials::leaks() {
  if (record_.plan.leak_iterations == 0 || is_later_shard()) return Done{};
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
  MachinePeaks peaks = measure_peaks(processors, threads, record_.environment, context_.interrupt);
  if (interrupted()) return Done{};
  record_.peaks = std::move(peaks);
  return store_.set_peaks(record_.id, *record_.peaks);
}

Result<Done> RunTrials::profiles() {
  if (record_.plan.profiling.processes == 0 || is_later_shard()) return Done{};
  INFERMETER_TRY_DONE(peaks());
  const auto findings = find_in_pilots(record_);
  for (const PlannedTrial& planned : profile_order(record_.plan)) {
    if (interrupted()) break;
    if (planned.process < side_trials_of(record_, planned.subject, Purpose::profile))
      continue;  // of a run that is resumed
    Stopping stopping = settle(record_.plan, findings, planned.subject);
    if (record_.plan.automatic.warmup) {
      stopping.warmup = std::min(stopping.warmup, profile_of_.most_warmup(planned.subject));
    }
    stopping.iterations = record_.plan.profiling.iterations;
    stopping.duration_s.reset();
    INFERMETER_TRY_DONE(side_trial(planned.subject, Purpose::profile, stopping));
  }
  return Done{};
}

// A scheduler ends all processes of a task, in any order: a worker that it ended before us has not crashed.
void RunTrials::note_end_of_task(Samples& trial) const {
  using namespace std::chrono_literals;
  constexpr int most_looks = 200;
  if (trial.end != TrialEnd::crashed || (trial.signal != SIGTERM && trial.signal != SIGKILL)) return;
  for (int i = 0; i < most_looks && !interrupted(); ++i) std::this_thread::sleep_for(10ms);
  if (!interrupted()) return;
  trial.end = TrialEnd::interrupted;
  trial.message = "the task was ended";
}

bool RunTrials::is_later_shard() const { return context_.shard && context_.shard->number > 1; }

bool RunTrials::is_elsewhere(const PlannedTrial& planned) const {
  const auto& shard = context_.shard;
  return shard && shard_of_block(record_.plan, planned.process, shard->count) != shard->number;
}

void RunTrials::report_pair(const Place& place, const ComparisonVerdict& answer) const {
  if (!context_.on_progress) return;
  Progress progress = progress_at(place);
  progress.phase = Phase::done;
  progress.comparison = &answer;
  progress.seconds_left = time_left_s(record_.plan, record_.trials, place.position + 1, {}, planned_trials());
  context_.on_progress(progress);
}

void RunTrials::tell(std::string note) const {
  if (!context_.on_progress) return;
  Progress progress;
  progress.note = std::move(note);
  context_.on_progress(progress);
}

// Once for each block.
void RunTrials::report_race(const TuningVerdict& tuning) const {
  if (tuning.stage == TuningStage::pilots || tuning.stage == TuningStage::ended) return;
  const auto out =
      std::ranges::count_if(tuning.settings, [](const TunedSetting& one) { return one.out_after.has_value(); });
  const auto all = std::ssize(tuning.settings);
  const std::string left = fmt::format("{} of {} settings are left", all - out, all);
  const std::string leads =
      tuning.best ? fmt::format(", '{}' leads", record_.plan.subjects[static_cast<std::size_t>(*tuning.best)].label)
                  : std::string();
  if (tuning.stage == TuningStage::confirmation) {
    return tell(
        fmt::format("the race has ended after {} blocks{}; pair {} of {} confirms it", tuning.blocks, leads,
                    tuning.next->process - record_.plan.tuning->halving_blocks - record_.plan.tuning->race_blocks + 1,
                    record_.plan.tuning->confirmation_pairs));
  }
  if (tuning.stage == TuningStage::halving) return tell(fmt::format("halving the field: {}", left));
  tell(fmt::format("race, block {}: {}{}", tuning.blocks + 1, left, leads));
}

void RunTrials::report_pilots(std::span<const PilotFinding> findings, std::span<const Stopping> stopping) const {
  for (std::size_t subject = 0; subject < stopping.size(); ++subject) {
    tell(settled_note(record_.plan.subjects[subject].label, findings[subject], stopping[subject]));
  }
  const auto expected = outlook(record_.plan, findings);
  if (!expected) return;
  tell(fmt::format(
      "a pair takes about {:.1f} s; {} pairs show a difference of {:.2g} % with 80 % power, as the pilots vary{}",
      expected->pair_s, expected->pairs, std::expm1(expected->smallest_effect) * 100,
      expected->smallest_effect > std::log1p(record_.plan.question->margin)
          ? ": the margin may not be resolved (--max-pairs, --until-resolved, --budget)"
          : ""));
}

}  // namespace infermeter
