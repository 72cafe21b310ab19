#include <algorithm>
#include <cmath>

#include <boost/math/distributions/students_t.hpp>

#include "infermeter/diagnostics/check.hpp"
#include "infermeter/stats/sequential.hpp"

namespace infermeter {

double minimum_detectable_effect(double standard_deviation, int pairs) {
  INFERMETER_CHECK(standard_deviation >= 0 && pairs >= 2);
  const boost::math::students_t t(pairs - 1);
  return (boost::math::quantile(t, 0.975) + boost::math::quantile(t, 0.80)) * standard_deviation / std::sqrt(pairs);
}

std::optional<int> pairs_needed(double standard_deviation, double effect) {
  const double wanted = std::abs(effect);
  int enough = 1'000'000;
  if (wanted == 0 || minimum_detectable_effect(standard_deviation, enough) > wanted) return std::nullopt;
  // The least p of five pairs is 2 / 32.
  int too_few = 5;
  while (enough - too_few > 1) {
    const int middle = too_few + (enough - too_few) / 2;
    (minimum_detectable_effect(standard_deviation, middle) <= wanted ? enough : too_few) = middle;
  }
  return enough;
}

}  // namespace infermeter
