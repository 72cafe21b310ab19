#include "infermeter/fidelity/difference_tally.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "infermeter/fidelity/element_reader.hpp"
#include "infermeter/fidelity/pair_values.hpp"
#include "infermeter/fidelity/tally_kernel.hpp"

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

// The means and the centred sums of a chunk, which lies in the first-level cache: more than once through it costs
// little.
void add_centred(DifferenceTally& part, const ElementChunk& chunk) {
  const auto each = [&](auto use) {
    for (std::size_t i = 0; i < chunk.size; ++i) {
      if (!both_finite(chunk.reference[i], chunk.candidate[i])) continue;
      use(chunk.reference[i] - part.first_reference, chunk.candidate[i] - part.first_candidate);
    }
  };
  double sum_r = 0, sum_c = 0;
  each([&](double r, double c) { sum_r += r, sum_c += c; });
  part.mean_reference = sum_r / static_cast<double>(part.finite);
  part.mean_candidate = sum_c / static_cast<double>(part.finite);
  each([&](double r, double c) {
    part.centred_reference += (r - part.mean_reference) * (r - part.mean_reference);
    part.centred_candidate += (c - part.mean_candidate) * (c - part.mean_candidate);
    part.centred_product += (r - part.mean_reference) * (c - part.mean_candidate);
  });
}

DifferenceTally tally_of(const Tensor& reference, const Tensor& candidate, std::size_t begin, std::size_t count) {
  ElementChunk chunk;
  read_chunk(reference, candidate, begin, count, chunk);
  DifferenceTally part;
  part.count = chunk.size;
  for (std::size_t i = 0; i < chunk.size; ++i) {
    const double r = chunk.reference[i];
    const double c = chunk.candidate[i];
    if (!both_finite(r, c)) {
      add_non_finite(part, r, c, begin + i);
      continue;
    }
    const double d = magnitude(chunk.difference[i]);
    const bool first = part.finite++ == 0;
    part.reference_low = first ? r : std::min(part.reference_low, r);
    part.reference_high = first ? r : std::max(part.reference_high, r);
    if (first) part.first_reference = r, part.first_candidate = c;
    part.sum_absolute_reference += std::abs(r);
    part.sum_reference_squared += r * r;
    part.sum_candidate_squared += c * c;
    part.sum_product += r * c;
    part.sum_difference_squared += d * d;
    part.sum_absolute_difference += d;
    part.largest_reference = std::max(part.largest_reference, std::abs(r));
    if (first || d > part.max_absolute) {
      part.max_absolute = d;
      part.max_absolute_index = begin + i;
      part.reference_at_max = r;
      part.candidate_at_max = c;
    }
  }
  if (part.finite == 0) return part;
  add_centred(part, chunk);
  return part;
}

constexpr std::size_t block_size = 8192;  // large beside what adding a block's tally costs

// Σab and Σ(a - mean of a)(b - mean of b), from sums over n pairs of what a and b are beyond two shifts.
double raw_product(double shifted, double sum_a, double sum_b, double shift_a, double shift_b, double n) {
  return shifted + (shift_a * sum_b + shift_b * sum_a) + n * shift_a * shift_b;
}
double centred_product_of(double shifted, double sum_a, double sum_b, double n) { return shifted - sum_a * sum_b / n; }

// The tally of finite pairs; the largest difference has its value, not yet its place.
DifferenceTally tally_of(const BlockSums& s) {
  const auto n = static_cast<double>(s.count);
  DifferenceTally part;
  part.count = part.finite = s.count;
  part.reference_low = s.low;
  part.reference_high = s.high;
  part.largest_reference = std::max(std::abs(s.low), std::abs(s.high));
  part.max_absolute = s.max_absolute;
  part.sum_absolute_reference = s.absolute_reference;
  part.sum_absolute_difference = s.absolute_difference;
  part.sum_difference_squared = s.difference_squared;
  const double r = s.reference, c = s.candidate, shift_r = s.shift_reference, shift_c = s.shift_candidate;
  part.sum_reference_squared = raw_product(s.reference_squared, r, r, shift_r, shift_r, n);
  part.sum_candidate_squared = raw_product(s.candidate_squared, c, c, shift_c, shift_c, n);
  part.sum_product = raw_product(s.product, r, c, shift_r, shift_c, n);
  part.first_reference = shift_r;
  part.first_candidate = shift_c;
  part.mean_reference = r / n;
  part.mean_candidate = c / n;
  part.centred_reference = centred_product_of(s.reference_squared, r, r, n);
  part.centred_candidate = centred_product_of(s.candidate_squared, c, c, n);
  part.centred_product = centred_product_of(s.product, r, c, n);
  return part;
}

bool means_something(const BlockSums& s) {
  const double all = s.reference_squared + s.candidate_squared + s.difference_squared + s.reference + s.candidate;
  return s.count > 0 && std::isfinite(all);
}

const std::byte* at(const Tensor& tensor, std::size_t index) {
  return tensor.data.data() + bytes_of(tensor.dtype, index);
}

BlockSums sums_at(const Tensor& reference, const Tensor& candidate, std::size_t begin, std::size_t count) {
  if (reference.dtype != candidate.dtype) return {};
  return sum_block(reference.dtype, at(reference, begin), at(candidate, begin), count);
}

// Of as many of the `count` pairs from `begin` on as the kernel takes; nullopt: none, or there is more to look at than
// sums. Where the largest difference is matters only if it is larger than `before`'s.
std::optional<DifferenceTally> quick_tally_of(const Tensor& reference, const Tensor& candidate, std::size_t begin,
                                              std::size_t count, const DifferenceTally& before) {
  const BlockSums sums = sums_at(reference, candidate, begin, count);
  if (!means_something(sums)) return std::nullopt;
  DifferenceTally part = tally_of(sums);
  if (before.finite > 0 && part.max_absolute <= before.max_absolute) return part;
  part.max_absolute_index = begin + find_difference(reference.dtype, at(reference, begin), at(candidate, begin),
                                                    sums.count, part.max_absolute);
  const DifferenceTally there = tally_of(reference, candidate, part.max_absolute_index, 1);
  part.reference_at_max = there.reference_at_max;
  part.candidate_at_max = there.candidate_at_max;
  return part;
}

std::uint64_t count_beyond_in(const Tensor& reference, const Tensor& candidate, std::size_t begin, std::size_t count,
                              double bound) {
  ElementChunk chunk;
  read_chunk(reference, candidate, begin, count, chunk);
  std::uint64_t beyond = 0;
  for (std::size_t i = 0; i < chunk.size; ++i) {
    const double r = chunk.reference[i];
    const double c = chunk.candidate[i];
    const bool apart = both_finite(r, c) ? magnitude(chunk.difference[i]) > bound : !same_non_finite(r, c);
    beyond += apart ? 1 : 0;
  }
  return beyond;
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
  const std::size_t all = values_in(reference.dtype, *element_count(reference.shape));
  for (std::size_t begin = 0; begin < all;) {
    const std::size_t size = std::min(block_size, all - begin);
    auto part = quick_tally_of(reference, candidate, begin, size, *this);
    if (!part) part = tally_of(reference, candidate, begin, std::min(chunk_size, size));
    part->max_absolute_index += first_index;
    part->first_non_finite_apart += first_index;
    begin += part->count;
    add(*part);
  }
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
  if (finite == 0 || more.max_absolute > max_absolute) {
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
  if (finite == 0) first_reference = more.first_reference, first_candidate = more.first_candidate;
  const double step_r = (more.first_reference - first_reference) + (more.mean_reference - mean_reference);
  const double step_c = (more.first_candidate - first_candidate) + (more.mean_candidate - mean_candidate);
  centred_reference += more.centred_reference + step_r * step_r * (n * m / all);
  centred_candidate += more.centred_candidate + step_c * step_c * (n * m / all);
  centred_product += more.centred_product + step_r * step_c * (n * m / all);
  mean_reference += step_r * (m / all);
  mean_candidate += step_c * (m / all);
  finite += more.finite;
}

DifferenceTally DifferenceTally::of_errors() const {
  return non_finite_apart == 0 ? *this : DifferenceTally{.count = count};
}

std::optional<double> DifferenceTally::largest_difference() const {
  return finite > 0 || count == 0 ? std::optional(max_absolute) : std::nullopt;
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

Result<DifferenceTally> difference_of(const Tensor& reference, const Tensor& candidate) {
  std::vector<TensorPair> pairs;
  const std::string problem =
      pair_values({Value::Kind::tensor, reference, {}}, {Value::Kind::tensor, candidate, {}}, 0, pairs);
  if (!problem.empty()) return usage_error("the candidate " + problem);
  if (class_of(reference.dtype) == DTypeClass::text) return usage_error("strings have no differences, only numbers");
  DifferenceTally tally;
  tally.add(reference, candidate, 0);
  return tally;
}

std::uint64_t count_beyond(const Tensor& reference, const Tensor& candidate, double bound) {
  std::uint64_t beyond = 0;
  const std::size_t all = values_in(reference.dtype, *element_count(reference.shape));
  for (std::size_t begin = 0; begin < all;) {
    const std::size_t size = std::min(block_size, all - begin);
    const BlockSums sums = sums_at(reference, candidate, begin, size);
    if (means_something(sums)) {
      if (sums.max_absolute > bound) {
        beyond += count_differences(reference.dtype, at(reference, begin), at(candidate, begin), sums.count, bound);
      }
      begin += sums.count;
      continue;
    }
    const std::size_t few = std::min(chunk_size, size);
    beyond += count_beyond_in(reference, candidate, begin, few, bound);
    begin += few;
  }
  return beyond;
}

}  // namespace infermeter
