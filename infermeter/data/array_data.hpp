// Inputs from .npy and .npz files.
#pragma once

#include "infermeter/data/data_set.hpp"

namespace infermeter {

// An array [N, …] for an input [batch, …] gives N / batch items; what is left over at the end is dropped. Arrays of one
// item are repeated beside inputs that have more.
[[nodiscard]] Result<DataSet> make_from_arrays(const DataOptions& options, std::span<const Port> ports);

}  // namespace infermeter
