#include "infermeter/fidelity/kept_differences.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "infermeter/fidelity/element_reader.hpp"
#include "infermeter/fidelity/pair_values.hpp"
#include "infermeter/fidelity/ssim.hpp"

namespace infermeter {
namespace {

bool is_drawn(const Value& reference, const Value& candidate) {
  if (reference.kind != Value::Kind::tensor || candidate.kind != Value::Kind::tensor) return false;
  std::vector<TensorPair> pairs;
  return image_like(reference.tensor.dtype, reference.tensor.shape) &&
         image_like(candidate.tensor.dtype, candidate.tensor.shape) &&
         pair_values(reference, candidate, 0, pairs).empty();
}

// Counts all differences; returns the largest.
double count(const Tensor& reference, const Tensor& candidate, ErrorHistogram& histogram) {
  ElementChunk chunk;
  double largest = 0;
  const std::size_t values = values_in(reference.dtype, *element_count(reference.shape));
  for (std::size_t begin = 0; begin < values; begin += chunk_size) {
    read_chunk(reference, candidate, begin, std::min(chunk_size, values - begin), chunk);
    for (std::size_t i = 0; i < chunk.size; ++i) {
      const double r = chunk.reference[i], c = chunk.candidate[i];
      histogram.add(r, c);
      if (std::isfinite(r) && std::isfinite(c)) {
        largest = std::max(largest, std::abs(chunk.difference[i]));
      } else if (r != c && !(std::isnan(r) && std::isnan(c))) {
        largest = std::numeric_limits<double>::infinity();
      }
    }
  }
  return largest;
}

Tensor copy_of(const Tensor& tensor) {
  return {.dtype = tensor.dtype, .shape = tensor.shape, .data = Bytes::copy_of(tensor.data.span()), .strings = {}};
}

}  // namespace

void ErrorHistogram::add(double reference, double candidate) {
  if (!std::isfinite(reference) || !std::isfinite(candidate)) {
    ++non_finite;
    return;
  }
  const double difference = std::abs(candidate - reference);
  if (difference == 0) {
    ++equal;
    return;
  }
  const double step = std::floor((std::log10(difference) - lowest_decade) * steps);
  ++counts.at(static_cast<std::size_t>(std::clamp(step, 0.0, static_cast<double>(counts.size() - 1))));
}

void KeptDifferences::add(std::size_t item, std::span<const Value> reference, std::span<const Value> candidate) {
  for (std::size_t i = 0; i < std::min(reference.size(), candidate.size()); ++i) {
    if (!is_drawn(reference[i], candidate[i])) continue;
    Output& output = outputs_[i];
    const double largest = count(reference[i].tensor, candidate[i].tensor, output.histogram);
    // Among equals the first item stays.
    const auto place =
        std::ranges::find_if(output.worst, [&](const KeptItem& kept) { return kept.max_absolute < largest; });
    if (place == output.worst.end() && output.worst.size() >= most_) continue;
    output.worst.insert(place, {.item = item,
                                .max_absolute = largest,
                                .reference = copy_of(reference[i].tensor),
                                .candidate = copy_of(candidate[i].tensor)});
    if (output.worst.size() > most_) output.worst.pop_back();
  }
}

}  // namespace infermeter
