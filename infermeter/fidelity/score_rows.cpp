#include "infermeter/fidelity/score_rows.hpp"

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "infermeter/fidelity/element_reader.hpp"
#include "infermeter/fidelity/log_shares.hpp"

namespace infermeter {
namespace {

constexpr std::size_t kFew = 5;

bool is_larger(double a, double b) { return !std::isnan(b) && (std::isnan(a) || a > b); }

std::size_t largest(std::span<const double> row) {
  std::size_t best = 0;
  for (std::size_t i = 1; i < row.size(); ++i) {
    if (is_larger(row[i], row[best])) best = i;
  }
  return best;
}

// Fewer than five others are larger, or equal and before it.
bool among_five(std::span<const double> row, std::size_t column) {
  std::size_t ahead = 0;
  for (std::size_t i = 0; i < row.size() && ahead < kFew; ++i) {
    ahead += is_larger(row[i], row[column]) || (i < column && !is_larger(row[column], row[i])) ? 1 : 0;
  }
  return ahead < kFew;
}

// Σ p ln(p / q); p and q are logarithms. None where a share is not a number: such a row is no distribution.
std::optional<double> divergence(std::span<const double> p, std::span<const double> q) {
  double sum = 0;
  for (std::size_t i = 0; i < p.size(); ++i) {
    if (std::isnan(p[i])) return std::nullopt;
    if (const double share = std::exp(p[i]); share > 0) sum += share * (p[i] - q[i]);
  }
  if (!std::isfinite(sum)) return std::nullopt;
  return std::max(sum, 0.0);  // which it is, but for rounding
}

}  // namespace

std::optional<RowAgreement> agreeing_rows(const Tensor& reference, const Tensor& candidate) {
  const Shape& shape = reference.shape;
  if (class_of(reference.dtype) != DTypeClass::real || shape.size() != 2 || shape[1] < 2) return std::nullopt;
  const auto columns = static_cast<std::size_t>(shape[1]);
  RowAgreement agreement{.rows = static_cast<std::uint64_t>(shape[0]), .top1 = 0, .top5 = {}, .divergence = 0};
  if (columns > kFew) agreement.top5 = 0;
  std::vector<double> expected(columns), got(columns);
  for (std::size_t row = 0; row < agreement.rows; ++row) {
    read_values(reference, row * columns, expected);
    read_values(candidate, row * columns, got);
    const std::size_t best = largest(expected);
    agreement.top1 += largest(got) == best ? 1 : 0;
    if (agreement.top5) *agreement.top5 += among_five(got, best) ? 1 : 0;
    if (!agreement.divergence) continue;
    to_log_shares(expected, got);
    const auto apart = divergence(expected, got);
    agreement.divergence = apart ? std::optional(*agreement.divergence + *apart) : std::nullopt;
  }
  return agreement;
}

}  // namespace infermeter
