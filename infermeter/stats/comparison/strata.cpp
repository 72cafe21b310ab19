#include "infermeter/stats/comparison/strata.hpp"

#include <boost/math/distributions/chi_squared.hpp>

#include "infermeter/stats/comparison/mid_ranks.hpp"

namespace infermeter {

std::optional<double> strata_differ_p(std::span<const std::vector<double>> strata) {
  std::vector<double> values;
  int places = 0;
  for (const auto& stratum : strata) {
    values.insert(values.end(), stratum.begin(), stratum.end());
    if (!stratum.empty()) ++places;
  }
  const auto n = static_cast<double>(values.size());
  if (places < 2 || n <= places) return std::nullopt;
  const MidRanks ranks = mid_ranks(values);
  const double left = 1 - ranks.ties / (n * n * n - n);
  if (!(left > 0)) return std::nullopt;
  double squares = 0;
  std::size_t at = 0;
  for (const auto& stratum : strata) {
    if (stratum.empty()) continue;
    double sum = 0;
    for (std::size_t i = 0; i < stratum.size(); ++i) sum += ranks.doubled[at++] / 2.0;
    squares += sum * sum / static_cast<double>(stratum.size());
  }
  const double h = (12 / (n * (n + 1)) * squares - 3 * (n + 1)) / left;
  if (!(h > 0)) return 1.0;
  return boost::math::cdf(boost::math::complement(boost::math::chi_squared(places - 1), h));
}

}  // namespace infermeter
