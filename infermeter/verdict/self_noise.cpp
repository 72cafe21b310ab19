#include "infermeter/verdict/self_noise.hpp"

#include "infermeter/plan/subject.hpp"
#include "infermeter/verdict/comparison.hpp"

namespace infermeter {
namespace {

bool compares_with_itself(const Plan& plan) {
  if (!plan.question || !plan.question->all_pairs || plan.question->margin != 0) return false;
  if (plan.subjects.size() != 2) return false;
  return short_form(plan.subjects[0]) == short_form(plan.subjects[1]);
}

}  // namespace

std::optional<MachineNoise> self_noise(const RunRecord& record) {
  if (!compares_with_itself(record.plan)) return std::nullopt;
  const auto comparison = judge_comparison(record, true);
  if (!comparison || comparison->primary.front().differences.size() < 2) return std::nullopt;
  const PairedComparison& found = comparison->primary.front();
  return MachineNoise{.measured_at = record.created_at,
                      .subject = short_form(record.plan.subjects.front()),
                      .metric = found.metric,
                      .pairs = static_cast<int>(found.differences.size()),
                      .standard_deviation = found.spread};
}

}  // namespace infermeter
