// RateSearch: the highest rate at which an objective is met, from trials that may be wrong.
//
// Probabilistic bisection (Horstein 1963, "Sequential transmission using noiseless feedback"; Waeber, Frazier and
// Henderson 2013): a distribution of where the highest rate lies, even at first; each trial at its median
// moves probability to the side that the trial points to, by how far a trial is to be believed. Unlike plain
// bisection, a wrong outcome is mended by the next ones.
#pragma once

#include <cstddef>
#include <vector>

namespace infermeter {

class RateSearch {
 public:
  // The rate lies in [0, high], requests per second.
  explicit RateSearch(double high);

  // The rate to be tried next: the distribution's median.
  [[nodiscard]] double next() const { return quantile(0.5); }
  void observe(double rate, bool met);
  // Where the highest rate lies below with probability `share`.
  [[nodiscard]] double quantile(double share) const;
  // Of the middle 90 % of the distribution, as a share of the median.
  [[nodiscard]] double width() const { return (quantile(0.95) - quantile(0.05)) / quantile(0.5); }

 private:
  static constexpr std::size_t kPlaces = 2000;
  // How often the outcome of a trial is right.
  static constexpr double kBelieved = 0.85;

  double place_;                     // requests per second
  std::vector<double> probability_;  // of each place; their sum is 1
};

}  // namespace infermeter
