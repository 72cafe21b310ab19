#include "infermeter/stats/load/requests_needed.hpp"

#include <boost/math/special_functions/beta.hpp>

#include "infermeter/diagnostics/check.hpp"

namespace infermeter {

std::int64_t requests_needed(double percentile, std::int64_t over, double confidence) {
  INFERMETER_CHECK(percentile > 0 && percentile < 1 && over >= 0 && confidence > 0 && confidence < 1);
  // The distribution function of the binomial is an incomplete beta function: Abramowitz & Stegun 26.5.24.
  const auto is_enough = [&](std::int64_t requests) {
    return requests > over && boost::math::ibeta(static_cast<double>(requests - over), static_cast<double>(over + 1),
                                                 percentile) <= 1 - confidence;
  };
  std::int64_t too_few = over, enough = over + 1;
  while (!is_enough(enough)) {
    too_few = enough;
    enough *= 2;
  }
  while (enough - too_few > 1) {
    const std::int64_t middle = too_few + (enough - too_few) / 2;
    (is_enough(middle) ? enough : too_few) = middle;
  }
  return enough;
}

}  // namespace infermeter
