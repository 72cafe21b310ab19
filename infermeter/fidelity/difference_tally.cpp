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

// The mean and the centred sums of a chunk, which lies in the first-level cache: twice through it costs little.
void add_centred(DifferenceTally& part, const ElementChunk& chunk) {
  for (std::size_t i = 0; i < chunk.size; ++i) {
    const double r = chunk.reference[i];
    const double c = chunk.candidate[i];
    if (!both_finite(r, c)) continue;
    part.centred_reference += (r - part.mean_reference) * (r - part.mean_reference);
    part.centred_candidate += (c - part.mean_candidate) * (c - part.mean_candidate);
    part.centred_product += (r - part.mean_reference) * (c - part.mean_candidate);
  }
}

DifferenceTally tally_of(const ElementChunk& chunk, std::uint64_t first_index) {
  DifferenceTally part;
  part.count = chunk.size;
  double sum_r = 0, sum_c = 0;
  for (std::size_t i = 0; i < chunk.size; ++i) {
    const double r = chunk.reference[i];
    const double c = chunk.candidate[i];
    if (!both_finite(r, c)) {
      add_non_finite(part, r, c, first_index + i);
      continue;
    }
    const double d = magnitude(chunk.difference[i]);
    part.reference_low = part.finite == 0 ? r : std::min(part.reference_low, r);
    part.reference_high = part.finite == 0 ? r : std::max(part.reference_high, r);
    ++part.finite;
    sum_r += r;
    sum_c += c;
    part.sum_absolute_reference += std::abs(r);
    part.sum_reference_squared += r * r;
    part.sum_candidate_squared += c * c;
    part.sum_product += r * c;
    part.sum_difference_squared += d * d;
    part.sum_absolute_difference += d;
    part.largest_reference = std::max(part.largest_reference, std::abs(r));
    if (d > part.max_absolute) {
      part.max_absolute = d;
      part.max_absolute_index = first_index + i;
      part.reference_at_max = r;
      part.candidate_at_max = c;
    }
  }
  if (part.finite == 0) return part;
  part.mean_reference = sum_r / static_cast<double>(part.finite);
  part.mean_candidate = sum_c / static_cast<double>(part.finite);
  add_centred(part, chunk);
  return part;
}

template <class Use>
void each_chunk(const Tensor& reference, const Tensor& candidate, Use use) {
  ElementChunk chunk;
  const std::size_t count = values_in(reference.dtype, *element_count(reference.shape));
  for (std::size_t begin = 0; begin < count; begin += chunk_size) {
    read_chunk(reference, candidate, begin, std::min(chunk_size, count - begin), chunk);
    use(chunk, begin);
  }
}

// nullopt for what is no finite number.
std::optional<double> if_finite(double value) { return std::isfinite(value) ? std::optional(value) : std::nullopt; }

std::optional<double> quotient(double above, double below) {
  return below > 0 ? if_finite(above / below) : std::nullopt;
}

// product / √(a b), where a and b are sums of squares.
std::optional<double> normalised(double product, double a, double b) {
  if (!(a > 0) || !(b > 0)) return std::nullopt;
  // One root is exact for equal vectors; two do not leave the range of doubles.
  const double square = a * b;
  const double lengths = std::isnormal(square) ? std::sqrt(square) : std::sqrt(a) * std::sqrt(b);
  if (!both_finite(lengths, product)) return std::nullopt;
  return std::clamp(product / lengths, -1.0, 1.0);
}

}  // namespace

void DifferenceTally::add(const Tensor& reference, const Tensor& candidate, std::uint64_t first_index) {
  each_chunk(reference, candidate,
             [&](const ElementChunk& chunk, std::size_t begin) { add(tally_of(chunk, first_index + begin)); });
}

void DifferenceTally::add(const DifferenceTally& more) {
  if (non_finite_apart == 0) first_non_finite_apart = more.first_non_finite_apart;
  count += more.count;
  nan_reference += more.nan_reference;
  nan_candidate += more.nan_candidate;
  inf_reference += more.inf_reference;
  inf_candidate += more.inf_candidate;
  non_finite_apart += more.non_finite_apart;
  if (more.finite == 0) return;
  reference_low = finite == 0 ? more.reference_low : std::min(reference_low, more.reference_low);
  reference_high = finite == 0 ? more.reference_high : std::max(reference_high, more.reference_high);
  largest_reference = std::max(largest_reference, more.largest_reference);
  if (more.max_absolute > max_absolute) {
    max_absolute = more.max_absolute;
    max_absolute_index = more.max_absolute_index;
    reference_at_max = more.reference_at_max;
    candidate_at_max = more.candidate_at_max;
  }
  sum_absolute_reference += more.sum_absolute_reference;
  sum_reference_squared += more.sum_reference_squared;
  sum_candidate_squared += more.sum_candidate_squared;
  sum_product += more.sum_product;
  sum_difference_squared += more.sum_difference_squared;
  sum_absolute_difference += more.sum_absolute_difference;
  const double n = static_cast<double>(finite), m = static_cast<double>(more.finite), all = n + m;
  const double step_r = more.mean_reference - mean_reference, step_c = more.mean_candidate - mean_candidate;
  centred_reference += more.centred_reference + step_r * step_r * (n * m / all);
  centred_candidate += more.centred_candidate + step_c * step_c * (n * m / all);
  centred_product += more.centred_product + step_r * step_c * (n * m / all);
  mean_reference += step_r * (m / all);
  mean_candidate += step_c * (m / all);
  finite += more.finite;
}

std::optional<double> DifferenceTally::mae() const {
  return quotient(sum_absolute_difference, static_cast<double>(finite));
}
std::optional<double> DifferenceTally::mse() const {
  return quotient(sum_difference_squared, static_cast<double>(finite));
}
std::optional<double> DifferenceTally::rmse() const {
  const auto square = mse();
  return square ? std::optional(std::sqrt(*square)) : std::nullopt;
}
std::optional<double> DifferenceTally::relative_l1() const {
  return quotient(sum_absolute_difference, sum_absolute_reference);
}
std::optional<double> DifferenceTally::relative_l2() const {
  if (!both_finite(sum_reference_squared, sum_difference_squared)) return std::nullopt;
  return quotient(std::sqrt(sum_difference_squared), std::sqrt(sum_reference_squared));
}
std::optional<double> DifferenceTally::relative_max() const { return quotient(max_absolute, largest_reference); }
std::optional<double> DifferenceTally::cosine() const {
  return normalised(sum_product, sum_reference_squared, sum_candidate_squared);
}
std::optional<double> DifferenceTally::pearson() const {
  if (finite == 0 || reference_low == reference_high) return std::nullopt;
  return normalised(centred_product, centred_reference, centred_candidate);
}
std::optional<double> DifferenceTally::data_range() const {
  return finite == 0 ? std::nullopt : if_finite(reference_high - reference_low);
}
std::optional<double> DifferenceTally::psnr_db(std::optional<double> range) const {
  const auto square = mse();
  if (!square) return std::nullopt;
  if (*square == 0) return std::numeric_limits<double>::infinity();
  const auto wide = range ? range : data_range();
  if (!wide || !(*wide > 0)) return std::nullopt;
  return 20 * std::log10(*wide) - 10 * std::log10(*square);
}

std::uint64_t count_beyond(const Tensor& reference, const Tensor& candidate, double bound) {
  std::uint64_t beyond = 0;
  each_chunk(reference, candidate, [&](const ElementChunk& chunk, std::size_t) {
    for (std::size_t i = 0; i < chunk.size; ++i) {
      const double r = chunk.reference[i];
      const double c = chunk.candidate[i];
      const bool apart = both_finite(r, c) ? magnitude(chunk.difference[i]) > bound : !same_non_finite(r, c);
      beyond += apart ? 1 : 0;
    }
  });
  return beyond;
}

}  // namespace infermeter
