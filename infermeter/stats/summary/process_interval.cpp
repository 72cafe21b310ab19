#include "infermeter/stats/summary/process_interval.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <boost/math/distributions/students_t.hpp>

#include "infermeter/diagnostics/check.hpp"
#include "infermeter/stats/distributions/student_t.hpp"
#include "infermeter/stats/summary/moments.hpp"
#include "infermeter/stats/summary/remembered.hpp"

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
  const auto searched = [&] { return boost::math::quantile(boost::math::students_t(degrees), 0.5 + confidence / 2); };
  if (degrees != std::floor(degrees)) return searched();  // Welch's come once
  thread_local Remembered<std::pair<double, double>, double> known;
  return known.get({degrees, confidence}, searched);
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

// Half the width of the interval around the mean.
double half_width_of(const Moments& moments, double confidence) {
  return t_quantile(static_cast<double>(moments.count - 1), confidence) * std::sqrt(squared_error(moments));
}

bool all_equal(std::span<const double> values) {
  return std::ranges::all_of(values, [&](double value) { return value == values.front(); });
}

// exp(log(x)) is not x to the last bit; a single value, or one that all processes share, is shown as it is.
Centre centre_of_equal(std::span<const double> values, double confidence, bool geometric) {
  const double value = values.front();
  Centre centre{value, std::nullopt, geometric};
  if (values.size() > 1) centre.interval = Interval{value, value, confidence};
  return centre;
}

Centre geometric_centre_of(std::span<const double> values, double confidence) {
  if (all_equal(values)) return centre_of_equal(values, confidence, true);
  const Moments moments = moments_of(logarithms(values));
  return {std::exp(moments.mean), back_transformed(moments.mean, half_width_of(moments, confidence), confidence), true};
}

}  // namespace

Centre centre_of(std::span<const double> values, double confidence) {
  INFERMETER_CHECK(!values.empty());
  return all_positive(values) ? geometric_centre_of(values, confidence) : arithmetic_centre_of(values, confidence);
}

Centre arithmetic_centre_of(std::span<const double> values, double confidence) {
  INFERMETER_CHECK(!values.empty());
  if (all_equal(values)) return centre_of_equal(values, confidence, false);
  const Moments moments = moments_of(values);
  Centre centre{moments.mean, std::nullopt, false};
  const double half_width = half_width_of(moments, confidence);
  if (std::isfinite(half_width)) {
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

std::optional<double> welch_p(std::span<const double> first, std::span<const double> second) {
  if (first.size() < 2 || second.size() < 2 || !all_positive(first) || !all_positive(second)) return std::nullopt;
  const Moments one = moments_of(logarithms(first)), other = moments_of(logarithms(second));
  const double apart = std::abs(one.mean - other.mean), error = std::sqrt(squared_error(one) + squared_error(other));
  if (error == 0) return apart == 0 ? 1.0 : 0.0;
  return 2 * student_t_tail(apart / error, welch_degrees(one, other));
}

std::string widening_note(const Coverage& coverage) {
  return coverage.widened_for.empty() ? "" : fmt::format(", widened for {}", coverage.widened_for);
}

Centre covering(Centre centre, const Coverage& coverage) {
  if (centre.interval) centre.interval->confidence = coverage.confidence;
  return centre;
}

std::optional<Centre> paired_ratio_of(std::span<const double> numerator, std::span<const double> denominator,
                                      double confidence) {
  INFERMETER_CHECK(!numerator.empty() && numerator.size() == denominator.size());
  if (!all_positive(numerator) || !all_positive(denominator)) return std::nullopt;
  std::vector<double> quotients(numerator.size());
  std::ranges::transform(numerator, denominator, quotients.begin(), std::divides());
  return geometric_centre_of(quotients, confidence);
}

}  // namespace infermeter
