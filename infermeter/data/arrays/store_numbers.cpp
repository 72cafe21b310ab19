#include "infermeter/data/arrays/store_numbers.hpp"

#include <cstring>

#include "infermeter/data/arrays/number_formats.hpp"

namespace infermeter {
namespace {

template <class Convert>
void store_chunk(std::span<const double> chunk, std::byte* out, std::size_t first, Convert convert) {
  using T = decltype(convert(0.0));
  out += first * sizeof(T);
  for (std::size_t i = 0; i < chunk.size(); ++i) {
    const T value = convert(chunk[i]);
    std::memcpy(out + i * sizeof(T), &value, sizeof(T));
  }
}

void store_nibble(std::byte* out, std::size_t index, std::uint8_t nibble) {
  out[index / 2] |= static_cast<std::byte>(index % 2 == 0 ? nibble & 0xFu : (nibble & 0xFu) << 4);
}

}  // namespace

void store_floats(DType dtype, std::span<const double> chunk, std::byte* out, std::size_t first) {
  const auto rounded = [](double x) { return static_cast<float>(x); };
  switch (dtype) {
    case DType::float64:
    case DType::complex128: return store_chunk(chunk, out, first, [](double x) { return x; });
    case DType::float32:
    case DType::complex64: return store_chunk(chunk, out, first, rounded);
    case DType::float16: return store_chunk(chunk, out, first, [&](double x) { return float16_from(rounded(x)); });
    case DType::bfloat16: return store_chunk(chunk, out, first, [&](double x) { return bfloat16_from(rounded(x)); });
    case DType::float4e2m1:
      for (std::size_t i = 0; i < chunk.size(); ++i) {
        store_nibble(out, first + i, small_float_from(dtype, static_cast<double>(rounded(chunk[i]))));
      }
      return;
    default:
      return store_chunk(chunk, out, first,
                         [&](double x) { return small_float_from(dtype, static_cast<double>(rounded(x))); });
  }
}

void store_integer(DType dtype, std::int64_t number, std::byte* out, std::size_t index) {
  const int bits = bits_of(dtype);
  if (bits == 4) return store_nibble(out, index, static_cast<std::uint8_t>(number & 0xF));
  const std::size_t width = static_cast<std::size_t>(bits) / 8;
  std::memcpy(out + index * width, &number, width);  // the low bytes: little-endian
}

}  // namespace infermeter
