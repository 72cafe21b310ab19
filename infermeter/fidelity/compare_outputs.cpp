#include "infermeter/fidelity/compare_outputs.hpp"

#include <algorithm>
#include <cmath>

#include "infermeter/fidelity/output_comparer.hpp"

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

}  // namespace infermeter
