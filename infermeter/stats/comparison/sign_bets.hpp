// The always-valid test of pairs whose order a fair coin chose: a bet on each sign, and what has been won so far.
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "infermeter/stats/comparison/coin_pairs.hpp"

namespace infermeter {

// What the second process of a pair takes more than the first, of the pairs so far whose order is known: the slope of
// the line through differences by order (least squares), shrunk.
class OrderEffect {
 public:
  void add(double difference, int order);
  [[nodiscard]] double value() const;

 private:
  double count_ = 0, mean_ = 0, mean_order_ = 0;
  double squares_ = 0, order_squares_ = 0, products_ = 0;  // of distances from the means, added up
};

// Bets that the differences less `centre` lean to one side. If `centre` is the true difference, the coins make each
// sign fair whatever the size of the difference, the noise and the past, so that exp(λ d) / cosh(λ d) is a fair bet for
// every λ chosen beforehand (de la Peña, "A general class of exponential inequalities for martingales and ratios", Ann.
// Probab. 27 (1999) 537–564); d is freed of the order effect that the pairs before it show, whatever `centre` is: a
// centre far out, from which all differences lean to one side, is not excused by coins that fell alike. The capital E,
// a mixture over λ of both signs, has the mean 1 and reaches 1/α at any time with probability at most α (Ville). λ is a
// multiple of one over the median size of the differences up to this one.
class SignBets {
 public:
  explicit SignBets(double centre) : centre_(centre) {}

  // `order` as in CoinPairs; 0: unknown.
  void add(double difference, int order);
  [[nodiscard]] double log_e() const;

 private:
  static constexpr std::array multiples = {0.15, 0.5, 1.5, 5.0};
  double centre_;
  std::vector<double> sizes_{};                         // of what was bet on, ascending
  std::array<double, multiples.size()> up_{}, down_{};  // logarithms of the capitals
  OrderEffect order_effect_;
};

[[nodiscard]] double log_e_value(const CoinPairs& pairs, double centre = 0);
// The differences that the capital does not reject at alpha, around `estimate`. nullopt: it rejects none so far out
// that an interval could be given.
[[nodiscard]] std::optional<Interval> e_interval(const CoinPairs& pairs, double estimate, double alpha);

}  // namespace infermeter
