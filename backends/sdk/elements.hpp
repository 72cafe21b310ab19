// Element types of the ABI: their names, their bits, and the bytes of a tensor without overflow.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "infermeter_backend.h"

namespace infermeter {

struct ElementType {
  imb_dtype dtype;
  unsigned bits;  // 0: strings
  std::string_view name;
};

inline constexpr std::array<ElementType, 24> element_types = {{
    {IMB_UNDEFINED, 0, "undefined"},
    {IMB_FLOAT32, 32, "float32"},
    {IMB_UINT8, 8, "uint8"},
    {IMB_INT8, 8, "int8"},
    {IMB_UINT16, 16, "uint16"},
    {IMB_INT16, 16, "int16"},
    {IMB_INT32, 32, "int32"},
    {IMB_INT64, 64, "int64"},
    {IMB_STRING, 0, "string"},
    {IMB_BOOL, 8, "bool"},
    {IMB_FLOAT16, 16, "float16"},
    {IMB_FLOAT64, 64, "float64"},
    {IMB_UINT32, 32, "uint32"},
    {IMB_UINT64, 64, "uint64"},
    {IMB_COMPLEX64, 64, "complex64"},
    {IMB_COMPLEX128, 128, "complex128"},
    {IMB_BFLOAT16, 16, "bfloat16"},
    {IMB_FLOAT8E4M3FN, 8, "float8e4m3fn"},
    {IMB_FLOAT8E4M3FNUZ, 8, "float8e4m3fnuz"},
    {IMB_FLOAT8E5M2, 8, "float8e5m2"},
    {IMB_FLOAT8E5M2FNUZ, 8, "float8e5m2fnuz"},
    {IMB_UINT4, 4, "uint4"},
    {IMB_INT4, 4, "int4"},
    {IMB_FLOAT4E2M1, 4, "float4e2m1"},
}};

inline std::string_view name_of(imb_dtype dtype) {
  const auto index = static_cast<std::size_t>(dtype);
  return index < element_types.size() ? element_types[index].name : "unknown";
}

inline unsigned bits_of(imb_dtype dtype) {
  const auto index = static_cast<std::size_t>(dtype);
  return index < element_types.size() ? element_types[index].bits : 0;
}

// None: a negative dimension, or more than 2^62.
inline std::optional<std::uint64_t> element_count(std::span<const std::int64_t> shape) {
  std::uint64_t count = 1;
  for (const std::int64_t dimension : shape) {
    if (dimension == 0) return 0;
    if (dimension < 0 || count > (std::uint64_t{1} << 62) / static_cast<std::uint64_t>(dimension)) return std::nullopt;
    count *= static_cast<std::uint64_t>(dimension);
  }
  return count;
}

// Types below 8 bits are packed: ceil(count * bits / 8). None: overflow, or a type without a fixed size.
inline std::optional<std::uint64_t> bytes_of(imb_dtype dtype, std::span<const std::int64_t> shape) {
  const auto count = element_count(shape);
  const unsigned bits = bits_of(dtype);
  if (!count || bits == 0 || *count > (std::numeric_limits<std::uint64_t>::max() - 7) / bits) return std::nullopt;
  return (*count * bits + 7) / 8;
}

inline std::string shape_text(std::span<const std::int64_t> shape) {
  std::string text;
  for (const std::int64_t dimension : shape) {
    text += (text.empty() ? "" : "x") + (dimension < 0 ? std::string("?") : std::to_string(dimension));
  }
  return text.empty() ? "a scalar" : text;
}

}  // namespace infermeter
