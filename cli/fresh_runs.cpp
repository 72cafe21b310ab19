#include "cli/fresh_runs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "cli/flags/date.hpp"
#include "cli/measure_plan.hpp"
#include "cli/output/report_output.hpp"
#include "infermeter/fleet/job_folder.hpp"
#include "infermeter/models/resolve.hpp"
#include "infermeter/verdict/comparison.hpp"
#include "infermeter/verdict/judge.hpp"

namespace infermeter {

Result<Plan> asked_plan(PlanDraft draft) {
  if (!draft.is_comparison) INFERMETER_TRY_DONE(use_fixed_processes(draft));
  INFERMETER_TRY(Plan plan, make_plan(draft));
  if (!plan.question) return plan;
  auto metric = metric_of_question(plan);
  if (!metric) return usage_error("metric: " + metric.error().message);
  plan.question->metric = std::move(*metric);
  return plan;
}

Result<RunSeries> RunSeries::resumed(const Surroundings& world, std::span<const Plan> plans) {
  INFERMETER_TRY(const StorePlace place, store_place(plans.front()));
  INFERMETER_TRY(auto store, Store::open(place, Store::Mode::read, world.interrupt));
  INFERMETER_TRY(const auto listings, store.list_runs());
  RunSeries series;
  for (auto run = listings.rbegin(); run != listings.rend() && series.first_.empty(); ++run) {
    if (run->part_of.empty()) continue;
    INFERMETER_TRY(const auto record, series.left_out_.load(world, store, *run));
    const auto is_of = [&](const Plan& plan) { return is_run_of(*record, plan); };
    if (record && std::ranges::any_of(plans, is_of)) series.first_ = run->part_of;
  }
  if (series.first_.empty()) {
    return usage_error(fmt::format(
        "there is nothing in {} to continue with: leave --resume out, and everything is measured", place.shown()));
  }
  for (const RunListing& run : listings) {
    if (run.part_of != series.first_) continue;
    INFERMETER_TRY(auto record, series.left_out_.load(world, store, run));
    if (record) series.earlier_.push_back(std::move(*record));
  }
  return series;
}

bool RunSeries::has_finished(std::span<const Plan> plans) const {
  std::vector<const RunRecord*> left;
  for (const RunRecord& record : earlier_) left.push_back(&record);
  return std::ranges::all_of(plans, [&](const Plan& plan) {
    const auto found = std::ranges::find_if(left, [&](const RunRecord* record) { return is_run_of(*record, plan); });
    if (found == left.end() || !(*found)->finished) return false;
    left.erase(found);
    return true;
  });
}

std::optional<RunRecord> RunSeries::take(const Plan& plan) {
  const auto found = std::ranges::find_if(earlier_, [&](const RunRecord& record) { return is_run_of(record, plan); });
  if (found == earlier_.end()) return std::nullopt;
  RunRecord record = std::move(*found);
  earlier_.erase(found);
  return record;
}

Result<std::vector<RunRecord>> RunSeries::runs(Surroundings& world, const Plan& plan, const Launcher& launcher,
                                               int wanted, Verbosity verbosity) {
  std::vector<RunRecord> runs;
  while (static_cast<int>(runs.size()) < wanted && (runs.empty() || runs.front().finished)) {
    auto record = take(plan);
    if (record && !record->finished) {
      INFERMETER_TRY(const auto job, find_job(plan.output_dir, record->id));
      if (job)
        return usage_error(fmt::format("run {} was begun on a cluster: give --on slurm or --wait as well", record->id));
    }
    if (record && record->finished) {
      INFERMETER_TRY_DONE(
          check_unchanged(*record, {.launcher = launcher, .cache = default_cache(), .interrupt = world.interrupt}));
      if (verbosity != Verbosity::quiet)
        world.err << fmt::format("run {} of {} is used again\n", record->id, utc_text(record->created_at));
    } else {
      MeasureOptions options{
          .resume = record ? std::optional(record->id) : std::nullopt, .models = {}, .part_of = first_};
      INFERMETER_TRY(MeasuredPlan measured, measure_plan(world, plan, launcher, verbosity, std::move(options)));
      unwritten_.add_all(measured.unwritten);
      say_where(world, measured, verbosity);
      record = std::move(measured.record);
    }
    if (first_.empty()) first_ = record->id;
    runs.insert(runs.begin(), std::move(*record));
  }
  return runs;
}

}  // namespace infermeter
