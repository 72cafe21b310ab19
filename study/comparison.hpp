// A simulated comparison: processes of two programs run in some order, in noise of some family.
#pragma once

#include <vector>

#include "study/noise.hpp"

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
[[nodiscard]] std::vector<Times> draw_levels(const Family& family, const Comparison& comparison, SplitMix& random);
// [subject][pair][iteration]: logarithms.
[[nodiscard]] std::vector<std::vector<Times>> draw_iterations(const Family& family, const Comparison& comparison,
                                                              SplitMix& random);

[[nodiscard]] Times minus(const Times& candidate, const Times& baseline);
// draw_levels of two subjects, B less A.
[[nodiscard]] Times draw_differences(const Family& family, const Comparison& comparison, SplitMix& random);

}  // namespace infermeter::study
