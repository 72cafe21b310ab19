#include "infermeter/fidelity/element_reader.hpp"

#include <cstring>

#include "infermeter/data/arrays/number_formats.hpp"
#include "infermeter/diagnostics/check.hpp"

namespace infermeter {
namespace {

// Tensors may be views into a block at any address.
template <class T>
T element(const Tensor& tensor, std::size_t index) {
  T value;
  std::memcpy(&value, tensor.data.data() + index * sizeof(T), sizeof(T));
  return value;
}

std::uint8_t nibble(const Tensor& tensor, std::size_t index) {
  const auto pair = element<std::uint8_t>(tensor, index / 2);
  return static_cast<std::uint8_t>(index % 2 == 0 ? pair & 0xF : pair >> 4);
}

std::int8_t signed_nibble(std::uint8_t bits) { return static_cast<std::int8_t>(bits >= 8 ? bits - 16 : bits); }

// Calls `use(i, value)` for each element of the range, the value in the type that holds it exactly.
template <class T, class Use>
void each(const Tensor& tensor, std::size_t begin, std::size_t count, Use use) {
  for (std::size_t i = 0; i < count; ++i) use(i, element<T>(tensor, begin + i));
}

template <class Use>
void each_real(const Tensor& t, std::size_t begin, std::size_t count, Use use) {
  switch (t.dtype) {
    case DType::float32:
    case DType::complex64: return each<float>(t, begin, count, use);
    case DType::float64:
    case DType::complex128: return each<double>(t, begin, count, use);
    case DType::float16:
      return each<std::uint16_t>(t, begin, count,
                                 [&](std::size_t i, std::uint16_t v) { use(i, double_from_float16(v)); });
    case DType::bfloat16:
      return each<std::uint16_t>(t, begin, count,
                                 [&](std::size_t i, std::uint16_t v) { use(i, double_from_bfloat16(v)); });
    case DType::float4e2m1:
      for (std::size_t i = 0; i < count; ++i) use(i, double_from_small_float(t.dtype, nibble(t, begin + i)));
      return;
    default:
      return each<std::uint8_t>(t, begin, count,
                                [&](std::size_t i, std::uint8_t v) { use(i, double_from_small_float(t.dtype, v)); });
  }
}

template <class Use>
void each_integer(const Tensor& t, std::size_t begin, std::size_t count, Use use) {
  switch (t.dtype) {
    case DType::uint8: return each<std::uint8_t>(t, begin, count, use);
    case DType::int8: return each<std::int8_t>(t, begin, count, use);
    case DType::uint16: return each<std::uint16_t>(t, begin, count, use);
    case DType::int16: return each<std::int16_t>(t, begin, count, use);
    case DType::int32: return each<std::int32_t>(t, begin, count, use);
    case DType::int64: return each<std::int64_t>(t, begin, count, use);
    case DType::uint32: return each<std::uint32_t>(t, begin, count, use);
    case DType::uint64: return each<std::uint64_t>(t, begin, count, use);
    case DType::uint4:
      for (std::size_t i = 0; i < count; ++i) use(i, nibble(t, begin + i));
      return;
    case DType::int4:
      for (std::size_t i = 0; i < count; ++i) use(i, signed_nibble(nibble(t, begin + i)));
      return;
    case DType::boolean:
      return each<std::uint8_t>(t, begin, count, [&](std::size_t i, std::uint8_t v) { use(i, v != 0 ? 1 : 0); });
    default: INFERMETER_CHECK(false);
  }
}

void read_reals(const Tensor& reference, const Tensor& candidate, std::size_t begin, ElementChunk& chunk) {
  read_values(reference, begin, std::span(chunk.reference).first(chunk.size));
  read_values(candidate, begin, std::span(chunk.candidate).first(chunk.size));
  for (std::size_t i = 0; i < chunk.size; ++i) chunk.difference[i] = chunk.candidate[i] - chunk.reference[i];
}

// Any two integers of at most 64 bits, signed or not, have their difference in 65 bits.
void read_integers(const Tensor& reference, const Tensor& candidate, std::size_t begin, ElementChunk& chunk) {
  std::array<__int128, chunk_size> exact;
  each_integer(reference, begin, chunk.size, [&](std::size_t i, auto v) {
    exact[i] = v;
    chunk.reference[i] = static_cast<double>(v);
  });
  each_integer(candidate, begin, chunk.size, [&](std::size_t i, auto v) {
    chunk.candidate[i] = static_cast<double>(v);
    chunk.difference[i] = static_cast<double>(static_cast<__int128>(v) - exact[i]);
  });
}

}  // namespace

DTypeClass class_of(DType dtype) {
  switch (dtype) {
    case DType::undefined: return DTypeClass::none;
    case DType::string: return DTypeClass::text;
    case DType::boolean: return DTypeClass::boolean;
    case DType::complex64:
    case DType::complex128: return DTypeClass::complex;
    case DType::uint8:
    case DType::int8:
    case DType::uint16:
    case DType::int16:
    case DType::int32:
    case DType::int64:
    case DType::uint32:
    case DType::uint64:
    case DType::uint4:
    case DType::int4: return DTypeClass::integer;
    default: return DTypeClass::real;
  }
}

std::size_t values_in(DType dtype, std::size_t count) {
  return class_of(dtype) == DTypeClass::complex ? 2 * count : count;
}

bool whole(const Tensor& tensor) {
  const auto count = element_count(tensor.shape);
  if (!count) return false;
  if (tensor.dtype == DType::string) return tensor.strings.size() == *count;
  return class_of(tensor.dtype) != DTypeClass::none && tensor.data.size() == bytes_of(tensor.dtype, *count);
}

void read_values(const Tensor& tensor, std::size_t begin, std::span<double> values) {
  const DTypeClass kind = class_of(tensor.dtype);
  const auto keep = [&](std::size_t i, auto v) { values[i] = static_cast<double>(v); };
  if (kind == DTypeClass::integer || kind == DTypeClass::boolean) {
    each_integer(tensor, begin, values.size(), keep);
  } else {
    each_real(tensor, begin, values.size(), keep);
  }
}

void read_chunk(const Tensor& reference, const Tensor& candidate, std::size_t begin, std::size_t count,
                ElementChunk& chunk) {
  INFERMETER_CHECK(count <= chunk_size);
  chunk.size = count;
  const DTypeClass kind = class_of(reference.dtype);
  if (kind == DTypeClass::integer || kind == DTypeClass::boolean) {
    read_integers(reference, candidate, begin, chunk);
  } else {
    read_reals(reference, candidate, begin, chunk);
  }
}

}  // namespace infermeter
