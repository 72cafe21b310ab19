#include "infermeter/stats/process_interval.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include <boost/math/distributions/students_t.hpp>

#include "infermeter/diagnostics/check.hpp"
#include "infermeter/stats/moments.hpp"

namespace infermeter {
namespace {

bool all_positive(std::span<const double> values) {
  return std::ranges::all_of(values, [](double value) { return value > 0; });
}

std::vector<double> logarithms(std::span<const double> values) {
  std::vector<double> result(values.size());
  std::ranges::transform(values, result.begin(), [](double value) { return std::log(value); });
  return result;
}

double t_quantile(double degrees, double confidence) {
  return boost::math::quantile(boost::math::students_t(degrees), 0.5 + confidence / 2);
}

// Squared standard error of the mean and what Welch's formula makes of it.
double squared_error(const Moments& moments) { return moments.variance / static_cast<double>(moments.count); }

// nullopt where the back-transformed bounds leave the range of doubles.
std::optional<Interval> back_transformed(double mean, double half_width, double confidence) {
  const Interval interval{std::exp(mean - half_width), std::exp(mean + half_width), confidence};
  if (!std::isfinite(interval.high)) return std::nullopt;
  return interval;
}

// ν = (a + b)² / (a²/(m-1) + b²/(n-1)) with the squared errors a and b.
double welch_degrees(const Moments& first, const Moments& second) {
  const double a = squared_error(first);
  const double b = squared_error(second);
  const double denominator =
      a * a / static_cast<double>(first.count - 1) + b * b / static_cast<double>(second.count - 1);
  // Without any variation every number of degrees gives the same interval, of no width.
  return denominator > 0 ? (a + b) * (a + b) / denominator : 1;
}

// exp(log(x)) is not x to the last bit; a single value, or one that all processes share, is shown as it is.
Centre centre_of_equal(std::span<const double> values, double confidence) {
  const double value = values.front();
  Centre centre{value, std::nullopt, value > 0};
  if (values.size() > 1) centre.interval = Interval{value, value, confidence};
  return centre;
}

}  // namespace

Centre centre_of(std::span<const double> values, double confidence) {
  INFERMETER_CHECK(!values.empty());
  if (std::ranges::all_of(values, [&](double value) { return value == values.front(); })) {
    return centre_of_equal(values, confidence);
  }
  const bool geometric = all_positive(values);
  const Moments moments =
      moments_of(geometric ? logarithms(values) : std::vector<double>(values.begin(), values.end()));
  Centre centre{geometric ? std::exp(moments.mean) : moments.mean, std::nullopt, geometric};
  const double half_width =
      t_quantile(static_cast<double>(moments.count - 1), confidence) * std::sqrt(squared_error(moments));
  if (geometric) {
    centre.interval = back_transformed(moments.mean, half_width, confidence);
  } else if (std::isfinite(half_width)) {
    centre.interval = Interval{moments.mean - half_width, moments.mean + half_width, confidence};
  }
  return centre;
}

std::optional<Centre> ratio_of(std::span<const double> numerator, std::span<const double> denominator,
                               double confidence) {
  INFERMETER_CHECK(!numerator.empty() && !denominator.empty());
  if (!all_positive(numerator) || !all_positive(denominator)) return std::nullopt;
  const Moments above = moments_of(logarithms(numerator));
  const Moments below = moments_of(logarithms(denominator));
  const double difference = above.mean - below.mean;
  Centre centre{std::exp(difference), std::nullopt, true};
  if (above.count < 2 || below.count < 2) return centre;
  const double half_width =
      t_quantile(welch_degrees(above, below), confidence) * std::sqrt(squared_error(above) + squared_error(below));
  centre.interval = back_transformed(difference, half_width, confidence);
  return centre;
}

}  // namespace infermeter
