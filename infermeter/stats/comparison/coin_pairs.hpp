// Pairs of which a fair coin chose who ran first: the exact test, the estimate and the interval of their difference.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "infermeter/stats/summary/summary.hpp"

namespace infermeter {

struct CoinPairs {
  std::span<const double> differences;  // candidate less baseline, one per pair
  std::span<const int>
      order{};  // of each pair: 1 where the candidate ran second, -1 where it ran first; empty: unknown

  [[nodiscard]] std::size_t size() const { return differences.size(); }
  [[nodiscard]] CoinPairs first(std::size_t count) const {
    return {differences.first(count), order.empty() ? order : order.first(count)};
  }
};

// An order effect that is so many standard errors, squared, shrunk towards 0 (James & Stein 1961, positive part): 0
// where it is less than √6 of them.
[[nodiscard]] double shrunk_order_effect(double effect, double squared_t);

// What the second process of a pair takes more than the first, if the true difference were `centre`: the mean of the
// second's less the first's, shrunk. 0 where the order is unknown.
[[nodiscard]] double order_effect(const CoinPairs& pairs, double centre);

// Differences less `centre` and less the order effect. Where `centre` is the true difference, what the second process
// took more than the first is the same whichever way the coins fell, hence so is every function of it: the coins flip
// the signs of these values independently, whatever the noise (Fisher's randomisation; Rosenbaum, "Covariance
// adjustment in randomized experiments and observational studies", Statist. Sci. 17 (2002) 286–327).
[[nodiscard]] std::vector<double> centred(const CoinPairs& pairs, double centre);

// signed_rank_p of the differences without the order effect: exact under the coins.
[[nodiscard]] double coin_p(const CoinPairs& pairs);
// Hodges–Lehmann of them. At least one pair.
[[nodiscard]] double coin_estimate(const CoinPairs& pairs);
// The centres that the test does not reject: hodges_lehmann_interval where the order has no effect. It holds 0 if
// coin_p > 1 - confidence. nullopt: so few pairs, or coins that fell so alike, cannot give such a confidence.
[[nodiscard]] std::optional<Interval> coin_interval(const CoinPairs& pairs, double confidence);

}  // namespace infermeter
