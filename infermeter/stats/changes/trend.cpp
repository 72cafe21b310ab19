#include "infermeter/stats/changes/trend.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "infermeter/diagnostics/check.hpp"
#include "infermeter/stats/summary/moments.hpp"

namespace infermeter {
namespace {

constexpr std::size_t fewest_trend_points = 10;
constexpr double bandwidth_share = 0.2;

// 95 % quantile of |slope / error| for independent normal values at equal distances and this bandwidth. For a trend it
// is larger than the 2.57 of a stationary regressor (Bunzel & Vogelsang, J. Business & Economic Statistics 23 (2005)
// 381–394, who treat trends). Simulated, 20,000 series each: 3.03 at 200 points and at 1,000, 3.10 at 50 and at
// 20, 3.58 at 10, which the factor follows from above.
double critical_value(double points) { return 3.03 * std::sqrt(points / (points - 3)); }

// Σ over |lag| < width of (1 − |lag| / width) Σ_i scores_i scores_{i+lag}: Bartlett's kernel, written as the mean
// square of the sums in a window that slides over the scores, because that takes one pass.
double long_run_squares(std::span<const double> scores, std::size_t width) {
  double window = 0;
  double squares = 0;
  for (std::size_t i = 0; i < scores.size() + width - 1; ++i) {
    if (i < scores.size()) window += scores[i];
    if (i >= width) window -= scores[i - width];
    squares += window * window;
  }
  return squares / static_cast<double>(width);
}

}  // namespace

Trend trend_of(std::span<const double> x, std::span<const double> y) {
  INFERMETER_CHECK(x.size() == y.size());
  const double x_mean = moments_of(x).mean;
  const double y_mean = moments_of(y).mean;
  double x_squares = 0;
  double products = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    x_squares += (x[i] - x_mean) * (x[i] - x_mean);
    products += (x[i] - x_mean) * (y[i] - y_mean);
  }
  INFERMETER_CHECK(x_squares > 0);
  Trend trend{products / x_squares, std::nullopt};
  if (x.size() < fewest_trend_points) return trend;
  std::vector<double> scores;
  for (std::size_t i = 0; i < x.size(); ++i) {
    scores.push_back((x[i] - x_mean) * (y[i] - y_mean - trend.slope * (x[i] - x_mean)));
  }
  const auto points = static_cast<double>(x.size());
  const auto width = static_cast<std::size_t>(std::ceil(bandwidth_share * points));
  const double error = std::sqrt(long_run_squares(scores, width)) / x_squares;
  const double half_width = critical_value(points) * error;
  trend.interval = Interval{trend.slope - half_width, trend.slope + half_width, 0.95};
  return trend;
}

}  // namespace infermeter
