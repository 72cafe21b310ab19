// A simulated comparison: processes of two programs run in some order, in noise of some family.
#pragma once

#include <cstddef>
#include <vector>

#include "infermeter/stats/comparison/coin_pairs.hpp"
#include "simulation/noise.hpp"

namespace infermeter::study {

enum class Order {
  coin,         // as the product draws it: a fair coin for each pair
  alternating,  // A B A B …
  in_turn,      // all of A, then all of B
};

struct Comparison {
  int pairs = 40;
  Order order = Order::coin;
  double effect = 0;    // B takes so much longer; a share, as are the next two
  double drift = 0;     // the last process takes so much longer than the first
  double odd_even = 0;  // every second process takes so much longer, whichever program it is of
  int candidates = 1;   // B, C, …: all with the effect
};

// Who is measured when: subjects, 0 is A, in the order in which they run.
[[nodiscard]] std::vector<int> seats(const Comparison& comparison, SplitMix& random);

// [subject][pair]: logarithms of medians.
[[nodiscard]] std::vector<Times> draw_levels(const Family& family, const Comparison& comparison,
                                             const std::vector<int>& order, SplitMix& random);
// [subject][pair][iteration]: logarithms.
[[nodiscard]] std::vector<std::vector<Times>> draw_iterations(const Family& family, const Comparison& comparison,
                                                              const std::vector<int>& order, SplitMix& random);

[[nodiscard]] Times minus(const Times& candidate, const Times& baseline);

// A candidate less the baseline, and who of them ran first.
struct Pairs {
  Times differences;
  std::vector<int> order;

  operator CoinPairs() const { return {differences, order}; }  // NOLINT(google-explicit-constructor)
};
[[nodiscard]] std::vector<CoinPairs> views_of(const std::vector<Pairs>& all);

// Of processes in this order, as draw_levels has them.
[[nodiscard]] Pairs pairs_of(const std::vector<Times>& levels, std::size_t candidate, const std::vector<int>& order);
[[nodiscard]] std::vector<Pairs> draw_pairs_of_all(const Family& family, const Comparison& comparison,
                                                   SplitMix& random);
[[nodiscard]] Pairs draw_pairs(const Family& family, const Comparison& comparison, SplitMix& random);

}  // namespace infermeter::study
