// Numbers into the bytes of a tensor.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "infermeter/data/dtype.hpp"

namespace infermeter {

// Stores `numbers` as elements `first`, `first` + 1, … of a floating-point tensor (complex ones: real and imaginary
// parts in turn) whose bytes are at `out`. All but the 64-bit types get the float32 values rounded to nearest even.
// 4-bit types: `out` is zero there.
void store_floats(DType dtype, std::span<const double> numbers, std::byte* out, std::size_t first);

// One element of an integer type, its low bits in two's complement. 4-bit types: `out` is zero there.
void store_integer(DType dtype, std::int64_t number, std::byte* out, std::size_t index);

}  // namespace infermeter
