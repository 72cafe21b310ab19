#include "infermeter/verdict/summary_options.hpp"

#include <algorithm>

#include "infermeter/verdict/rounds.hpp"

namespace infermeter {

SummaryOptions summary_options(const RunRecord& record) {
  const OutlierRule& rule = record.plan.outliers;
  SummaryOptions options;
  for (const JoinedRun& run : record.joined) {
    options.coverage.of_processes = std::max(options.coverage.of_processes, 1 - run.level);
  }
  if (record.plan.automatic.processes) options.coverage.of_processes = 1 - level_of_rounds(record);
  options.outlier_factor = rule.factor;
  switch (rule.kind) {
    case OutlierRule::Kind::none: options.outlier_rule = "none"; break;
    case OutlierRule::Kind::sigma: options.outlier_rule = "sigma"; break;
    case OutlierRule::Kind::iqr: options.outlier_rule = "iqr"; break;
    case OutlierRule::Kind::mad: options.outlier_rule = "mad"; break;
  }
  return options;
}

}  // namespace infermeter
