// Element types of tensors. The numbers are those of ONNX's TensorProto.DataType and of the back-end ABI.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace infermeter {

enum class DType : std::int32_t {
  undefined = 0,
  float32 = 1,
  uint8 = 2,
  int8 = 3,
  uint16 = 4,
  int16 = 5,
  int32 = 6,
  int64 = 7,
  string = 8,
  boolean = 9,
  float16 = 10,
  float64 = 11,
  uint32 = 12,
  uint64 = 13,
  complex64 = 14,
  complex128 = 15,
  bfloat16 = 16,
  float8e4m3fn = 17,
  float8e4m3fnuz = 18,
  float8e5m2 = 19,
  float8e5m2fnuz = 20,
  uint4 = 21,
  int4 = 22,
  float4e2m1 = 23,
};

[[nodiscard]] std::string_view to_string(DType dtype);
[[nodiscard]] std::optional<DType> dtype_from_string(std::string_view name);

// Bits per element; 0 for strings and undefined.
[[nodiscard]] int bits_of(DType dtype);

// Bytes that `count` elements take, packed types rounded up. `count` >= 0.
[[nodiscard]] std::size_t bytes_of(DType dtype, std::size_t count);

}  // namespace infermeter
