// The floating-point formats that C++ has no type for, as bit patterns.
#pragma once

#include <cstdint>

#include "infermeter/data/dtype.hpp"

namespace infermeter {

// Round to nearest, ties to even; overflow gives infinity, NaN stays NaN.
[[nodiscard]] std::uint16_t float16_from(float value);
[[nodiscard]] std::uint16_t bfloat16_from(float value);

// Exact: every such value is a double.
[[nodiscard]] double double_from_float16(std::uint16_t bits);
[[nodiscard]] double double_from_bfloat16(std::uint16_t bits);

// The value of an 8-bit or 4-bit float type (float8e…, float4e2m1: the low four bits).
[[nodiscard]] double double_from_small_float(DType dtype, std::uint8_t bits);

// The nearest pattern of a float8 or float4 type, ties to even, saturating at its largest finite value; NaN gives NaN
// where the type has one.
[[nodiscard]] std::uint8_t small_float_from(DType dtype, double value);

}  // namespace infermeter
