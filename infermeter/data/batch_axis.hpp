// Which dimension of an input is the batch: decided here, for every back end, data source and figure per item.
//
// In this order:
//  1. What the user says: `--batch-axis INPUT=AXIS`, `INPUT=none`, or `none` for all inputs.
//  2. The dynamic dimension whose name has the word "batch" in it, at any place: "batch", "batch_size".
//  3. A dynamic first dimension called N, B or BS (upper or lower case), if no other dimension has that name.
//  4. A dynamic first dimension without a name, or with one that an exporter made up ("unk__12", "s0",
//     "x_dynamic_axes_1", "DynamicDimension.0"), if no input has such a dimension at another place.
//  5. None: an inference takes one item.
// A fixed dimension is the batch only where the user says so. Of 2. and 3. all inputs must have the same name.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "infermeter/data/tensor.hpp"
#include "infermeter/diagnostics/result.hpp"

namespace infermeter {

using BatchAxes = std::vector<std::optional<std::int64_t>>;          // per input; nullopt: it has none
using AskedAxes = std::vector<std::pair<std::string, std::string>>;  // {"x", "1"}, {"h", "none"}, {"", "none"}

inline constexpr const char* kNoBatchAxis = "none";

// `declared`: inputs as the model has them, before dynamic dimensions get their sizes. Errors name --batch-axis: an
// input that is not there, a dimension that it does not have, names that leave open which is the batch.
[[nodiscard]] Result<BatchAxes> batch_axes(std::span<const Port> declared, const AskedAxes& asked);

// Writes what batch_axes says into the ports.
[[nodiscard]] Result<Done> mark_batch_axes(std::vector<Port>& declared, const AskedAxes& asked);

// How many items an inference with these inputs takes: `batch_size` where an input has a batch axis, else 1. Without
// inputs the back end makes its own, and is asked for `batch_size`. Errors: another number of items than `batch_size`.
[[nodiscard]] Result<std::int64_t> items_per_inference(std::span<const Port> inputs, std::int64_t batch_size);

// An item of the data whose size at an input's batch axis is not `batch_size` is an error.
[[nodiscard]] Result<Done> check_items(std::span<const Port> inputs, std::span<const ItemValues> items,
                                       std::int64_t batch_size);

// Of an output of this shape: the axis of the inputs' batch, if its size there is `items`; nullopt: it is one whole.
[[nodiscard]] std::optional<std::int64_t> output_batch_axis(std::span<const Port> inputs, const Port& output,
                                                            std::span<const std::int64_t> shape, std::int64_t items);

// "x=1, h=none"; "none" where no input has one.
[[nodiscard]] std::string batch_axes_text(std::span<const Port> inputs);

}  // namespace infermeter
