#include "infermeter/fidelity/log_shares.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "infermeter/fidelity/accuracy.hpp"
#include "infermeter/fidelity/element_reader.hpp"

namespace infermeter {
namespace {

constexpr double kSumTolerance = 1e-3;  // of float16 and of a thousand classes

bool is_distribution(std::span<const double> row) {
  double sum = 0;
  for (const double share : row) {
    if (!(share >= 0)) return false;
    sum += share;
  }
  return std::abs(sum - 1) <= kSumTolerance;
}

constexpr double kRoundedTolerance = 0.05;  // of the sum of thousands of shares in bfloat16

// Of shares in a low precision, of which small ones may be lost; nullopt: it has others.
std::optional<double> sum_of_shares(std::span<const double> row) {
  double sum = 0;
  for (const double share : row) {
    if (!(share >= 0 && share <= 1 + kRoundedTolerance)) return std::nullopt;
    sum += share;
  }
  return sum > 0 && sum <= 1 + kRoundedTolerance ? std::optional(sum) : std::nullopt;
}

void log_of_shares(std::span<double> row, double sum) {
  for (double& share : row) share = std::log(share / sum);
}

}  // namespace

void to_log_shares(std::span<double> one, std::span<double> other) {
  const auto sum = sum_of_shares(one), other_sum = sum_of_shares(other);
  if (!sum || !other_sum || std::max(*sum, *other_sum) < 1 - kRoundedTolerance) {
    to_log_shares(one);
    to_log_shares(other);
    return;
  }
  log_of_shares(one, *sum);
  log_of_shares(other, *other_sum);
}

void to_log_shares(std::span<double> row) {
  if (is_distribution(row)) {
    for (double& share : row) share = std::log(share);
    return;
  }
  const double largest = *std::ranges::max_element(row);
  double sum = 0;
  for (const double score : row) sum += std::exp(score - largest);
  const double shift = largest + std::log(sum);
  for (double& score : row) score -= shift;
}

Result<std::optional<double>> mean_log_loss(const Tensor& scores, std::span<const int> labels) {
  INFERMETER_TRY_DONE(check_labelled(scores, labels));
  std::vector<double> row(static_cast<std::size_t>(scores.shape[1]));
  double sum = 0;
  std::size_t rows = 0;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    if (labels[i] == ignored_label) continue;
    read_values(scores, i * row.size(), row);
    to_log_shares(row);
    sum -= row[static_cast<std::size_t>(labels[i])];
    ++rows;
  }
  if (rows == 0 || !std::isfinite(sum)) return std::optional<double>();
  return std::optional(sum / static_cast<double>(rows));
}

}  // namespace infermeter
