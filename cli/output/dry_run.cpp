#include "cli/output/dry_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <numeric>

#include "cli/output/columns.hpp"
#include "cli/output/report_output.hpp"
#include "infermeter/plan/quantity.hpp"
#include "infermeter/plan/subject.hpp"
#include "infermeter/report/report.hpp"
#include "infermeter/stats/comparison/rounds.hpp"
#include "infermeter/store/store.hpp"
#include "infermeter/text/counts.hpp"
#include "infermeter/text/quoted.hpp"

namespace infermeter {
namespace {

constexpr std::size_t kRunsLookedAt = 10;
constexpr std::size_t kTrialsShown = 200;

bool same_work(const Subject& a, const Subject& b) { return short_form(a) == short_form(b); }

// What does not repeat (start, load, first inference, end) as it was, and what does as often as it would be.
double scaled_s(const Samples& trial, const Stopping& stopping) {
  const std::vector<double> latencies = latencies_s(trial);
  const double timed_s = std::accumulate(latencies.begin(), latencies.end(), 0.0);
  const double each_s = timed_s / static_cast<double>(latencies.size());
  const auto warmups = static_cast<double>(trial.warmups());
  const double once_s = std::max(trial.wall_s - timed_s - warmups * each_s, 0.0);
  const double wanted_s = stopping.duration_s ? std::max(*stopping.duration_s, each_s)
                                              : static_cast<double>(stopping.iterations.value_or(1)) * each_s;
  return once_s + static_cast<double>(stopping.warmup) * each_s + wanted_s;
}

std::string stopping_text(const Stopping& stopping) {
  const std::string end = stopping.duration_s ? format_duration(*stopping.duration_s) + " of timed inferences"
                                              : counted(stopping.iterations.value_or(0), "timed iteration");
  if (stopping.count_first) return fmt::format("{}, the first counted", end);
  return fmt::format("{} warm-up iterations, then {}", stopping.warmup, end);
}

// What is not decided before pilots have run.
std::string length_text(const Plan& plan) {
  if (!plan.automatic.warmup && !plan.automatic.iterations) return stopping_text(plan.stopping);
  const std::string what = !plan.automatic.iterations ? "warm-up"
                           : !plan.automatic.warmup   ? "iterations"
                                                      : "warm-up and iterations";
  return fmt::format("{} from {} before the trials; {} where they fail", what,
                     counted(pilot_processes(plan), "pilot process per subject", "pilot processes per subject"),
                     stopping_text(plan.stopping));
}

std::string tuning_text(const Tuning& tuning) {
  std::string text = fmt::format("asked: which is best by {}", tuning.objective);
  for (const std::string& constraint : tuning.constraints) text += ", " + printable(constraint, 120);
  text += fmt::format("? Within {:g} % is as good; alpha {:g}; within {}\n", tuning.indifference * 100, tuning.alpha,
                      format_duration(tuning.budget_s));
  for (const auto& [setting, reason] : tuning.left_out) {
    text += fmt::format("left out: {}: {}\n", printable(setting, 120), printable(reason, 400));
  }
  return text;
}

std::string question_text(const Plan& plan) {
  if (plan.tuning) return tuning_text(*plan.tuning);
  if (!plan.question) return "";
  const Question& q = *plan.question;
  const std::string pairs = q.all_pairs ? fmt::format("{} pairs, looked at once", plan.processes)
                                        : fmt::format("Pairs until it is known{}, {} at most",
                                                      q.until_resolved ? " (a test after each)" : "", plan.processes);
  return fmt::format("asked: is {} different by more than {:g} %? {}{}; alpha {:g}\n", q.metric, q.margin * 100, pairs,
                     q.budget_s ? fmt::format(", begun within {}", format_duration(*q.budget_s)) : "", q.alpha);
}

// Disturbed rounds may be repeated: that is not planned.
std::size_t trials_without_repeats(const Plan& plan) {
  return std::min(plan.order.size(), static_cast<std::size_t>(plan.processes) * plan.subjects.size());
}

std::string processes_text(const Plan& plan) {
  if (const auto& tuning = plan.tuning) {
    const std::string halving =
        tuning->halving_blocks == 0 ? "" : fmt::format("{} blocks that halve them, ", tuning->halving_blocks);
    return fmt::format(
        "{}at most {} blocks of one process of each that still races, {} of the best ones that confirm it", halving,
        tuning->race_blocks, tuning->confirmation_pairs);
  }
  if (plan.automatic.processes) {
    return fmt::format("{} to {} processes each: until answers are decided or known within {:g} %, or {} are over",
                       kLeastRounds, plan.processes, plan.precision * 100, format_duration(*plan.budget_s));
  }
  return fmt::format("{} each: {}", counted(plan.processes, "process", "processes"),
                     counted(trials_without_repeats(plan), "trial"));
}

std::string limits_text(const Limits& limits) {
  const std::string memory =
      limits.memory_limit_bytes == 0 ? "80 % of the available memory" : size_to_string(limits.memory_limit_bytes);
  return fmt::format("load {}, run {}, memory {}", format_duration(limits.load_timeout_s),
                     format_duration(limits.run_timeout_s), memory);
}

// Of one trial: as an earlier one went, or as long as its timed inferences are asked to last, to which loading adds.
struct TrialTime {
  double seconds = 0;
  bool is_least = false;
};

std::string text_of(const std::optional<TrialTime>& time) {
  if (!time) return "unknown";
  return (time->is_least ? "at least " : "") + format_duration(time->seconds);
}

// `all_s`: of all rounds that there may be.
std::string automatic_time_text(const Plan& plan, double all_s) {
  const double least_s = all_s / plan.processes * std::min(kLeastRounds, plan.processes);
  if (least_s >= *plan.budget_s) return "at least " + format_duration(least_s);
  return fmt::format("{} to {}", format_duration(least_s), format_duration(std::min(all_s, *plan.budget_s)));
}

std::string time_text(const Plan& plan, std::span<const std::optional<TrialTime>> per_subject) {
  TrialTime sum;
  std::size_t unknown = 0;
  for (const PlannedTrial& trial : std::span(plan.order).first(trials_without_repeats(plan))) {
    const auto& time = per_subject[trial.subject];
    if (time) {
      sum.seconds += time->seconds;
      sum.is_least |= time->is_least;
    } else {
      ++unknown;
    }
  }
  if (unknown == trials_without_repeats(plan)) return "unknown until measured";
  if (plan.automatic.processes) return automatic_time_text(plan, sum.seconds);
  const std::string known = (sum.is_least ? "at least " : "about ") + format_duration(sum.seconds);
  return unknown == 0 ? known : fmt::format("{} and {} unknown until measured", known, counted(unknown, "trial"));
}

// From the newest earlier trial of the same model, back end and settings.
std::optional<TrialTime> estimated(const Plan& plan, const Subject& subject, std::span<const RunRecord> earlier) {
  for (const RunRecord& run : earlier) {
    for (auto trial = run.trials.rbegin(); trial != run.trials.rend(); ++trial) {
      const auto index = static_cast<std::size_t>(trial->subject);
      const bool usable = trial->end == TrialEnd::ok && trial->iterations() > 0 && index < run.plan.subjects.size();
      if (usable && same_work(run.plan.subjects[index], subject)) return TrialTime{scaled_s(*trial, plan.stopping)};
    }
  }
  if (!plan.stopping.duration_s) return std::nullopt;
  return TrialTime{*plan.stopping.duration_s, true};
}

std::string race_rows(const Plan& plan, std::span<const std::optional<TrialTime>> estimates) {
  std::vector<std::vector<std::string>> rows{{"setting", "subject", "estimated process"}};
  for (std::size_t i = 0; i < plan.subjects.size(); ++i) {
    rows.push_back({std::to_string(i + 1), plan.subjects[i].label, text_of(estimates[i])});
  }
  return columns(rows);
}

}  // namespace

std::string describe_settings(const Plan& plan) {
  std::string text = fmt::format("{}, {}\n", counted(plan.subjects.size(), "subject"), processes_text(plan));
  text += question_text(plan);
  text += fmt::format("each: {}\n", length_text(plan));
  text += fmt::format("limits: {}\n", limits_text(plan.limits));
  text += fmt::format(
      "{}, data {}, results in {}\n",
      plan.seed ? fmt::format("seed {}", *plan.seed) : "the order within a block is drawn when the run begins (--seed)",
      printable(plan.data.source), printable(plan.output_dir));
  return text;
}

std::string describe_plan(const Plan& plan, std::span<const RunRecord> earlier) {
  std::vector<std::optional<TrialTime>> estimates;
  for (const Subject& subject : plan.subjects) estimates.push_back(estimated(plan, subject, earlier));
  std::string text = describe_settings(plan);
  if (plan.tuning) return text + "\n" + race_rows(plan, estimates);
  text += fmt::format("estimated time: {}\n\n", time_text(plan, estimates));
  std::vector<std::vector<std::string>> rows{{"trial", "process", "subject", "estimated"}};
  const std::size_t all = trials_without_repeats(plan);
  std::size_t least = all;
  if (plan.automatic.processes) least = std::min(least, kLeastRounds * plan.subjects.size());
  for (std::size_t i = 0; i < std::min(least, kTrialsShown); ++i) {
    const PlannedTrial& trial = plan.order[i];
    rows.push_back({std::to_string(i + 1), std::to_string(trial.process + 1), plan.subjects[trial.subject].label,
                    text_of(estimates[trial.subject])});
  }
  text += columns(rows);
  if (least > kTrialsShown) text += fmt::format("… and {} more\n", least - kTrialsShown);
  if (all > least) text += fmt::format("… and up to {} more, as answers need\n", all - least);
  return text;
}

// A dry run shows what it can: a store that cannot be read only means that the time is unknown.
std::vector<RunRecord> earlier_runs(const Surroundings& world, const Plan& place) {
  const auto found_place = store_place(place);
  if (!found_place.ok() || !found_place->may_exist()) return {};
  auto store = Store::open(*found_place, Store::Mode::read, world.interrupt);
  if (!store) return {};
  auto listings = store->list_runs();
  if (!listings) return {};
  std::ranges::sort(*listings, std::ranges::greater{}, &RunListing::created_at);
  std::vector<RunRecord> runs;
  for (const RunListing& listing : *listings) {
    if (runs.size() == kRunsLookedAt) break;
    auto run = store->load_run(listing.id);
    if (run) runs.push_back(std::move(*run));
  }
  return runs;
}

}  // namespace infermeter
