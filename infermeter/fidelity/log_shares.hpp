// A row of scores as a distribution over classes, in logarithms; and how well it predicts what is right.
#pragma once

#include <optional>
#include <span>

#include "infermeter/data/tensor.hpp"
#include "infermeter/diagnostics/result.hpp"

namespace infermeter {

// In place. A row that is not negative and sums to 1 (within 1e-3) is a distribution; any other is logits, whose
// softmax is taken (in nats). -infinity: a share of 0. NaN: the row has no distribution.
void to_log_shares(std::span<double> row);
// The same of two rows of one thing: both are distributions where neither is negative nor above 1, neither sums to much
// more than 1, and one of them to 1, as far as low precisions do (within 5 %). Each is divided by its sum.
void to_log_shares(std::span<double> one, std::span<double> other);

// The mean over rows of -ln(share of the row's label), in nats: the cross-entropy, whose exponential is the perplexity
// (Jelinek et al. 1977). Scores are [rows, classes] with a label per row, whose errors are those of
// check_labelled; rows with ignored_label are left out. nullopt: no row is left, or the mean is no finite number.
[[nodiscard]] Result<std::optional<double>> mean_log_loss(const Tensor& scores, std::span<const int> labels);

}  // namespace infermeter
