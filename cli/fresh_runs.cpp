#include "cli/fresh_runs.hpp"

#include <utility>

#include "cli/measure_plan.hpp"
#include "infermeter/verdict/comparison.hpp"
#include "infermeter/verdict/judge.hpp"

namespace infermeter {

Result<Plan> asked_plan(const PlanDraft& draft) {
  INFERMETER_TRY(Plan plan, make_plan(draft));
  if (!plan.question) return plan;
  auto metric = metric_from_string(plan.question->metric);
  if (!metric) return usage_error("metric: " + metric.error().message);
  plan.question->metric = std::move(*metric);
  return plan;
}

Result<std::vector<RunRecord>> fresh_runs(Surroundings& world, const Plan& plan, const Launcher& launcher, int wanted,
                                          Verbosity verbosity) {
  std::vector<RunRecord> runs;
  while (static_cast<int>(runs.size()) < wanted && (runs.empty() || runs.front().finished)) {
    INFERMETER_TRY(RunRecord record, measure_plan(world, plan, launcher, verbosity));
    INFERMETER_TRY(const auto csv, write_csv(record, judge(record), false));
    say_where(world, record, csv, verbosity);
    runs.insert(runs.begin(), std::move(record));
  }
  return runs;
}

}  // namespace infermeter
