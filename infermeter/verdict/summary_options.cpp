#include "infermeter/verdict/summary_options.hpp"

#include <algorithm>

#include "infermeter/diagnostics/check.hpp"
#include "infermeter/plan/imported.hpp"
#include "infermeter/verdict/rounds/rounds.hpp"

namespace infermeter {
namespace {

constexpr double rounding = 1e-9;

}  // namespace

SummaryOptions summary_options(const RunRecord& record) {
  const OutlierRule& rule = record.plan.outliers;
  SummaryOptions options;
  options.coverage = coverage_in_family(record, 1);
  options.outlier_factor = rule.factor;
  switch (rule.kind) {
    case OutlierRule::Kind::none: options.outlier_rule = "none"; break;
    case OutlierRule::Kind::sigma: options.outlier_rule = "sigma"; break;
    case OutlierRule::Kind::iqr: options.outlier_rule = "iqr"; break;
    case OutlierRule::Kind::mad: options.outlier_rule = "mad"; break;
  }
  return options;
}

Pairing pairing_of(const RunRecord& record) {
  return record.joined.empty() && !is_imported(record.plan) ? Pairing::blocks : Pairing::none;
}

Coverage coverage_in_family(const RunRecord& record, std::size_t open) {
  INFERMETER_CHECK(open > 0);
  Coverage coverage;
  double level = level_of_rounds(record);
  for (const JoinedRun& run : record.joined) level = std::min(level, run.level);
  const double of_one = record.joined.empty() ? level_of_rounds(record, open) : level / static_cast<double>(open);
  coverage.of_processes = std::max(coverage.confidence, 1 - of_one);
  const bool has_looks = 1 - level > coverage.confidence + rounding;
  if (open > 1) coverage.widened_for = has_looks ? "repeated looks and several comparisons" : "several comparisons";
  if (open <= 1 && has_looks) coverage.widened_for = "repeated looks";
  return coverage;
}

}  // namespace infermeter
