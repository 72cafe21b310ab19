// How well two subjects predict the same texts.
#pragma once

#include <optional>
#include <span>

#include "infermeter/stats/summary/summary.hpp"

namespace infermeter {

// The perplexity of one is e to the mean over texts of the mean log loss of their tokens
// (Jelinek et al. 1977).
struct PerplexityChange {
  double baseline = 1, candidate = 1;
  double increase = 0;                 // candidate / baseline - 1
  std::optional<Interval> interval{};  // of it: Student's t over texts, on logarithms; nullopt: fewer than two texts
  std::optional<double> allowed{};     // how much it may increase; nullopt: not judged
};

// From the mean log loss of each text, in nats, of both; of the same texts. nullopt: of none.
[[nodiscard]] std::optional<PerplexityChange> compare_perplexity(std::span<const double> baseline_losses,
                                                                 std::span<const double> candidate_losses,
                                                                 double confidence = 0.95);

// From the same: of one. nullopt: of none, or a token has a share of 0.
[[nodiscard]] std::optional<double> perplexity_of(std::span<const double> losses);

}  // namespace infermeter
