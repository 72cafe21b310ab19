// Outputs of two subjects on the same inputs: how far apart, and whether that is within tolerance.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "infermeter/data/tensor.hpp"
#include "infermeter/fidelity/output_difference.hpp"

namespace infermeter {

// Of all outputs. nullopt where one cannot be compared or has a value that is finite on one side only.
[[nodiscard]] std::optional<double> largest_difference(const OutputComparison& comparison);

// `reference[i]` and `candidate[i]` are the outputs for item i. Names are those of the reference's ports. An output
// without a tolerance of its own (a shorter list) gets float32's. NaN agrees with NaN, and infinities of one sign
// agree.
[[nodiscard]] OutputComparison compare_outputs(std::span<const std::string> names,
                                               std::span<const ItemValues> reference,
                                               std::span<const ItemValues> candidate,
                                               std::span<const Tolerance> tolerances);

}  // namespace infermeter
