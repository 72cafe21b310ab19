#include "infermeter/verdict/summary_options.hpp"

namespace infermeter {

SummaryOptions summary_options(const OutlierRule& rule) {
  SummaryOptions options;
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
