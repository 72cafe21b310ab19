#include "infermeter/data/arrays/number_formats.hpp"

#include <bit>
#include <cmath>
#include <limits>

#include "infermeter/diagnostics/check.hpp"

namespace infermeter {
namespace {

// How a small float is laid out: sign, exponent, mantissa, from the high bit on. Source: ONNX, "Float stored in 8 bits"
// and "Float stored in 4 bits"; OCP 8-bit floating point specification 1.0.
struct FloatLayout {
  int exponent_bits;
  int mantissa_bits;
  int bias;
  bool has_infinity;  // all exponent bits set: infinity or NaN, as in IEEE 754
  int nan;            // the one pattern (sign removed unless it is 0x80) that is NaN; -1: none of that kind
};

FloatLayout layout_of(DType dtype) {
  switch (dtype) {
    case DType::float8e4m3fn: return {4, 3, 7, false, 0x7F};
    case DType::float8e4m3fnuz: return {4, 3, 8, false, 0x80};
    case DType::float8e5m2: return {5, 2, 15, true, -1};
    case DType::float8e5m2fnuz: return {5, 2, 16, false, 0x80};
    case DType::float4e2m1: return {2, 1, 1, false, -1};
    default: INFERMETER_CHECK(false);
  }
}

double decode(const FloatLayout& layout, unsigned bits) {
  const int width = 1 + layout.exponent_bits + layout.mantissa_bits;
  const unsigned sign_bit = 1u << (width - 1);
  const unsigned magnitude = bits & (sign_bit - 1);
  const bool negative = (bits & sign_bit) != 0;
  const double nan = std::numeric_limits<double>::quiet_NaN();
  if (layout.nan == 0x80 ? bits == 0x80 : static_cast<int>(magnitude) == layout.nan) return nan;
  const int exponent = static_cast<int>(magnitude >> layout.mantissa_bits);
  const int mantissa = static_cast<int>(magnitude & ((1u << layout.mantissa_bits) - 1));
  double value = 0;
  if (layout.has_infinity && exponent == (1 << layout.exponent_bits) - 1) {
    value = mantissa != 0 ? nan : std::numeric_limits<double>::infinity();
  } else if (exponent == 0) {
    value = std::ldexp(mantissa, 1 - layout.bias - layout.mantissa_bits);
  } else {
    value = std::ldexp(mantissa + (1 << layout.mantissa_bits), exponent - layout.bias - layout.mantissa_bits);
  }
  return negative ? -value : value;
}

}  // namespace

std::uint16_t float16_from(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const auto sign = static_cast<std::uint16_t>((bits >> 16) & 0x8000u);
  const std::uint32_t magnitude = bits & 0x7FFFFFFFu;
  if (magnitude > 0x7F800000u) return static_cast<std::uint16_t>(sign | 0x7E00u);
  if (magnitude >= 0x477FF000u) return static_cast<std::uint16_t>(sign | 0x7C00u);  // 65520 and more round to infinity
  if (magnitude < 0x38800000u) {
    // Below the smallest normal, 2^-14: adding 0.5 leaves the value in units of 2^-24 in the low bits, rounded by the
    // processor to nearest even.
    const float shifted = std::bit_cast<float>(magnitude) + 0.5f;
    return static_cast<std::uint16_t>(sign | (std::bit_cast<std::uint32_t>(shifted) - 0x3F000000u));
  }
  const std::uint32_t odd = (magnitude >> 13) & 1u;
  const std::uint32_t rounded = magnitude + 0xFFFu + odd - (112u << 23);
  return static_cast<std::uint16_t>(sign | (rounded >> 13));
}

std::uint16_t bfloat16_from(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  if ((bits & 0x7FFFFFFFu) > 0x7F800000u) return static_cast<std::uint16_t>((bits >> 16) | 0x0040u);
  return static_cast<std::uint16_t>((bits + 0x7FFFu + ((bits >> 16) & 1u)) >> 16);
}

double double_from_float16(std::uint16_t bits) { return decode({5, 10, 15, true, -1}, bits); }

double double_from_bfloat16(std::uint16_t bits) { return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16); }

double double_from_small_float(DType dtype, std::uint8_t bits) {
  return decode(layout_of(dtype), dtype == DType::float4e2m1 ? bits & 0xFu : bits);
}

std::uint8_t small_float_from(DType dtype, double value) {
  const bool only_one_zero = layout_of(dtype).nan == 0x80;
  const unsigned patterns = dtype == DType::float4e2m1 ? 16 : 256;
  // At most 256 candidates; this is for test data, not for speed.
  unsigned best = 0;
  double best_error = std::numeric_limits<double>::infinity();
  for (unsigned bits = 0; bits < patterns; ++bits) {
    const double candidate = double_from_small_float(dtype, static_cast<std::uint8_t>(bits));
    if (std::isnan(value) && std::isnan(candidate)) return static_cast<std::uint8_t>(bits);
    const bool other_sign = std::signbit(candidate) != std::signbit(value);
    if (!std::isfinite(candidate) || (other_sign && !(only_one_zero && candidate == 0))) continue;
    const double error = std::isinf(value) ? -std::fabs(candidate) : std::fabs(candidate - value);
    if (error < best_error || (error == best_error && bits % 2 == 0)) {
      best = bits;
      best_error = error;
    }
  }
  return static_cast<std::uint8_t>(best);
}

}  // namespace infermeter
