// Inputs made or read as a model wants them.
#pragma once

#include <span>
#include <string>

#include "infermeter/data/data_set.hpp"
#include "infermeter/diagnostics/result.hpp"

namespace infermeter {

// Inputs that fit `ports` exactly. Errors name the input, what was wanted and what was got, or the file.
// Synthetic default: floats uniform in [-1, 1], integers 0 … 9 (int64 named like token ids: 0 … 999), booleans fair,
// strings short words. The bytes depend on seed, input index, dtype, shape and distribution only.
// Recorded outputs are named and typed after `outputs`; without them they are called output_0, output_1 … .
[[nodiscard]] Result<DataSet> make_data(const DataOptions& options, std::span<const Port> ports,
                                        std::span<const Port> outputs = {});

// The errors that make_data would have for `ports`, found without reading more than one item: names, types, shapes,
// counts, labels. What is left is damage inside of the files.
[[nodiscard]] Result<Done> check_data(const DataOptions& options, std::span<const Port> ports);
// Likewise where the inputs are not known: the files are there and are what they should be.
[[nodiscard]] Result<Done> check_source(const DataOptions& options);
[[nodiscard]] Result<Done> check_labels_source(const DataOptions& options);

// What the source says of the inputs of a model that declares none, as the option input_shape would: one item of 224 x
// 224 for pictures, the array's own shape for .npy. Empty: nothing (synthetic data, several arrays, what is no source).
[[nodiscard]] std::string shape_of_data(const std::string& source);

}  // namespace infermeter
