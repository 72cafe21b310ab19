#include "infermeter/fidelity/compare_outputs.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "infermeter/fidelity/output_comparer.hpp"
#include "infermeter/fidelity/ssim.hpp"

namespace infermeter {

OutputComparison compare_outputs(std::span<const std::string> names, std::span<const ItemValues> reference,
                                 std::span<const ItemValues> candidate, std::span<const Tolerance> tolerances) {
  OutputComparer comparer(names, tolerances);
  comparer.add(reference, candidate);
  return comparer.result().whole;
}

std::optional<double> largest_difference(const OutputComparison& comparison) {
  double largest = 0;
  for (const OutputDifference& output : comparison.outputs) {
    const double own = output.max_absolute.value_or(0);
    if (!output.comparable || output.non_finite_apart > 0 || !std::isfinite(own)) return std::nullopt;
    largest = std::max(largest, own);
  }
  return largest;
}

std::string place_text(std::uint64_t index, const Shape& shape, std::string_view dtype) {
  if (shape.empty()) return fmt::format("element {}", index);
  Shape at(shape.size());
  for (std::size_t axis = at.size(); axis-- > 0;) {
    const auto extent = static_cast<std::uint64_t>(std::max<std::int64_t>(shape[axis], 1));
    at[axis] = static_cast<std::int64_t>(index % extent);
    index /= extent;
  }
  if (!image_like(dtype_from_string(dtype).value_or(DType::undefined), shape)) return to_string(at);
  return fmt::format("{}, row {}, column {}", to_string(at), at[at.size() - 2], at.back());
}

}  // namespace infermeter
