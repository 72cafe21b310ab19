// Inputs from .npy and .npz files.
#pragma once

#include "infermeter/data/data_set.hpp"

namespace infermeter {

// An array whose size at the input's batch axis is N gives N / batch items; what is left over at the end is dropped.
// For an input without a batch axis an array of its shape is one item, and one with one more dimension in front holds
// several. Arrays of one item are repeated beside inputs that have more.
[[nodiscard]] Result<DataSet> make_from_arrays(const DataOptions& options, std::span<const Port> ports);

}  // namespace infermeter
