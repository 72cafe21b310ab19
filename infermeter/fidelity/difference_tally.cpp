#include "infermeter/fidelity/difference_tally.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace infermeter {
namespace {

// Two finite doubles may be further apart than a double can say.
double magnitude(double difference) { return std::min(std::abs(difference), std::numeric_limits<double>::max()); }

bool same_non_finite(double a, double b) { return (std::isnan(a) && std::isnan(b)) || a == b; }

bool both_finite(double a, double b) { return std::isfinite(a) && std::isfinite(b); }

void add_non_finite(DifferenceTally& tally, double reference, double candidate, std::uint64_t index) {
  tally.nan_reference += std::isnan(reference) ? 1 : 0;
  tally.nan_candidate += std::isnan(candidate) ? 1 : 0;
  tally.inf_reference += std::isinf(reference) ? 1 : 0;
  tally.inf_candidate += std::isinf(candidate) ? 1 : 0;
  if (same_non_finite(reference, candidate)) return;
  if (tally.non_finite_apart == 0) tally.first_non_finite_apart = index;
  ++tally.non_finite_apart;
}

}  // namespace

void DifferenceTally::add(const ElementChunk& chunk, std::uint64_t first_index) {
  count += chunk.size;
  double rr = 0, cc = 0, rc = 0, dd = 0, ad = 0;
  for (std::size_t i = 0; i < chunk.size; ++i) {
    const double r = chunk.reference[i];
    const double c = chunk.candidate[i];
    if (!both_finite(r, c)) {
      add_non_finite(*this, r, c, first_index + i);
      continue;
    }
    const double d = magnitude(chunk.difference[i]);
    rr += r * r;
    cc += c * c;
    rc += r * c;
    dd += d * d;
    ad += d;
    largest_reference = std::max(largest_reference, std::abs(r));
    if (d > max_absolute) {
      max_absolute = d;
      max_absolute_index = first_index + i;
      reference_at_max = r;
      candidate_at_max = c;
    }
  }
  sum_reference_squared += rr;
  sum_candidate_squared += cc;
  sum_product += rc;
  sum_difference_squared += dd;
  sum_absolute_difference += ad;
}

std::optional<double> DifferenceTally::relative_l2() const {
  if (sum_reference_squared <= 0 || !both_finite(sum_reference_squared, sum_difference_squared)) return std::nullopt;
  return std::sqrt(sum_difference_squared) / std::sqrt(sum_reference_squared);
}

std::optional<double> DifferenceTally::cosine() const {
  if (sum_reference_squared <= 0 || sum_candidate_squared <= 0) return std::nullopt;
  // One root is exact for equal vectors; two do not leave the range of doubles.
  const double product = sum_reference_squared * sum_candidate_squared;
  const double lengths =
      std::isnormal(product) ? std::sqrt(product) : std::sqrt(sum_reference_squared) * std::sqrt(sum_candidate_squared);
  if (!both_finite(lengths, sum_product)) return std::nullopt;
  return std::clamp(sum_product / lengths, -1.0, 1.0);
}

std::uint64_t count_beyond(const ElementChunk& chunk, double bound) {
  std::uint64_t beyond = 0;
  for (std::size_t i = 0; i < chunk.size; ++i) {
    const double r = chunk.reference[i];
    const double c = chunk.candidate[i];
    const bool apart = both_finite(r, c) ? magnitude(chunk.difference[i]) > bound : !same_non_finite(r, c);
    beyond += apart ? 1 : 0;
  }
  return beyond;
}

}  // namespace infermeter
