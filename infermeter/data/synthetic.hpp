// Synthetic inputs: seeded, the same bytes on every machine.
#pragma once

#include <cstdint>

#include "infermeter/data/data_set.hpp"
#include "infermeter/data/distribution.hpp"

namespace infermeter {

// Numbers of `dtype` (no strings). float16, bfloat16 and the smaller floats are the float32 values rounded to nearest
// even, so that a model in several precisions gets like inputs. The range was checked.
[[nodiscard]] Tensor synthetic_numbers(DType dtype, const Shape& shape, const Distribution& distribution,
                                       std::uint64_t seed, std::uint64_t input_index, std::uint64_t item_index);

// Short words.
[[nodiscard]] Tensor synthetic_words(const Shape& shape, std::uint64_t seed, std::uint64_t input_index,
                                     std::uint64_t item_index);

// What `port` is drawn from: the one given for it, or for all, or the default of its type and name.
[[nodiscard]] Result<Distribution> distribution_of(const Port& port, const DataOptions& options);

// Items for `ports`; options.limit items, one if that is 0.
[[nodiscard]] Result<DataSet> make_synthetic(const DataOptions& options, std::span<const Port> ports);
// The errors of make_synthetic, without making anything.
[[nodiscard]] Result<Done> check_synthetic(const DataOptions& options, std::span<const Port> ports);

}  // namespace infermeter
