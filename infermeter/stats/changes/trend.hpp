// The slope of a straight line through autocorrelated values.
#pragma once

#include <optional>
#include <span>

#include "infermeter/stats/summary/summary.hpp"

namespace infermeter {

struct Trend {
  double slope = 0;
  std::optional<Interval> interval;  // 95 %; none for fewer than ten points
};

// Least squares of y on x (x ascending, not all equal). The interval is Newey & West's, "A simple, positive
// semi-definite, heteroskedasticity and autocorrelation consistent covariance matrix", Econometrica 55 (1987) 703–708,
// with a bandwidth of a fifth of the points and the critical value that belongs to that share (Kiefer & Vogelsang, "A
// new asymptotic theory for heteroskedasticity-autocorrelation robust tests", Econometric Theory 21 (2005) 1130–1164):
// with so wide a window the variance is itself uncertain, and 1.96 would miss the slope in 17 % of the cases. It is for
// noise that stays around the line: growth by a random amount each time is a random walk with drift, and the interval
// around that is too short.
[[nodiscard]] Trend trend_of(std::span<const double> x, std::span<const double> y);

}  // namespace infermeter
