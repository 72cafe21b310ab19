#include "infermeter/stats/summary/deviations.hpp"

#include <algorithm>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <cstddef>

#include "infermeter/diagnostics/check.hpp"
#include "infermeter/stats/summary/moments.hpp"

namespace infermeter {
namespace {

Moments log_moments(const std::vector<double>& values) {
  INFERMETER_CHECK(!values.empty());
  std::vector<double> logs(values.size());
  std::ranges::transform(values, logs.begin(), [](double value) { return std::log(value); });
  return moments_of(logs);
}

// Of a contrast: its variance and the degrees of freedom of that variance.
struct Uncertainty {
  double variance = 0, degrees = 1;
};

Uncertainty uncertainty_of(std::span<const Moments> runs, std::size_t of) {
  const double share = 1 / static_cast<double>(runs.size());
  double variance = 0, squares = 0;
  for (std::size_t r = 0; r < runs.size(); ++r) {
    const double coefficient = r == of ? 1 - share : -share;
    const double part = coefficient * coefficient * runs[r].variance / static_cast<double>(runs[r].count);
    variance += part;
    squares += part * part / static_cast<double>(runs[r].count - 1);
  }
  // Without any variation every number of degrees gives the same interval, of no width.
  return {variance, squares > 0 ? variance * variance / squares : 1};
}

// Two runs deviate by the same amount in opposite directions: that is one contrast.
double each_confidence(double together, std::size_t runs) {
  return 1 - (1 - together) / static_cast<double>(runs == 2 ? 1 : runs);
}

}  // namespace

std::vector<Deviation> deviations_from_centre(std::span<const std::vector<double>> runs, double confidence) {
  INFERMETER_CHECK(runs.size() >= 2 && confidence > 0 && confidence < 1);
  std::vector<Moments> moments;
  double centre = 0;
  for (const auto& run : runs) {
    moments.push_back(log_moments(run));
    centre += moments.back().mean / static_cast<double>(runs.size());
  }
  const bool shows_spread = std::ranges::all_of(moments, [](const Moments& run) { return run.count >= 2; });
  const double tail = (1 - each_confidence(confidence, runs.size())) / 2;
  std::vector<Deviation> deviations;
  for (std::size_t r = 0; r < runs.size(); ++r) {
    const double difference = moments[r].mean - centre;
    Deviation deviation{std::expm1(difference), std::nullopt};
    if (shows_spread) {
      const auto [variance, degrees] = uncertainty_of(moments, r);
      const double t = boost::math::quantile(boost::math::complement(boost::math::students_t(degrees), tail));
      const double half_width = t * std::sqrt(variance);
      const Interval interval{std::expm1(difference - half_width), std::expm1(difference + half_width), confidence};
      if (std::isfinite(interval.high)) deviation.interval = interval;
    }
    deviations.push_back(deviation);
  }
  return deviations;
}

}  // namespace infermeter
