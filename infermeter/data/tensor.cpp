#include "infermeter/data/tensor.hpp"

#include <fmt/format.h>

#include <cstring>
#include <new>

#include "infermeter/data/arrays/number_formats.hpp"
#include "infermeter/text/hash.hpp"

namespace infermeter {
namespace {

constexpr std::align_val_t kAlignment{64};

// So many elements of the widest type (16 bytes) still have a size that fits.
constexpr std::size_t kMostElements = std::size_t{1} << 59;

struct AlignedDelete {
  void operator()(std::byte* pointer) const { ::operator delete(pointer, kAlignment); }
};

template <class T>
T load(const std::byte* data, std::size_t index) {
  T value;
  std::memcpy(&value, data + index * sizeof(T), sizeof(T));
  return value;
}

template <class T>
std::vector<double> converted(const std::byte* data, std::size_t count) {
  std::vector<double> out(count);
  for (std::size_t i = 0; i < count; ++i) out[i] = static_cast<double>(load<T>(data, i));
  return out;
}

template <class T, class Decode>
std::vector<double> decoded(const std::byte* data, std::size_t count, Decode decode) {
  std::vector<double> out(count);
  for (std::size_t i = 0; i < count; ++i) out[i] = decode(load<T>(data, i));
  return out;
}

template <class T>
std::vector<double> split_complex(const std::byte* data, std::size_t count) {
  std::vector<double> out(2 * count);
  for (std::size_t i = 0; i < count; ++i) {
    out[i] = static_cast<double>(load<T>(data, 2 * i));
    out[count + i] = static_cast<double>(load<T>(data, 2 * i + 1));
  }
  return out;
}

template <class Decode>
std::vector<double> unpacked(const std::byte* data, std::size_t count, Decode decode) {
  std::vector<double> out(count);
  for (std::size_t i = 0; i < count; ++i) {
    const auto pair = std::to_integer<unsigned>(data[i / 2]);
    out[i] = decode(static_cast<std::uint8_t>(i % 2 == 0 ? pair & 0xFu : pair >> 4));
  }
  return out;
}

double int4(std::uint8_t nibble) { return nibble < 8 ? nibble : static_cast<double>(nibble) - 16; }

Result<std::vector<double>> doubles_of(DType dtype, const std::byte* data, std::size_t n) {
  switch (dtype) {
    case DType::float32: return converted<float>(data, n);
    case DType::float64: return converted<double>(data, n);
    case DType::uint8:
    case DType::boolean: return converted<std::uint8_t>(data, n);
    case DType::int8: return converted<std::int8_t>(data, n);
    case DType::uint16: return converted<std::uint16_t>(data, n);
    case DType::int16: return converted<std::int16_t>(data, n);
    case DType::uint32: return converted<std::uint32_t>(data, n);
    case DType::int32: return converted<std::int32_t>(data, n);
    case DType::uint64: return converted<std::uint64_t>(data, n);
    case DType::int64: return converted<std::int64_t>(data, n);
    case DType::float16: return decoded<std::uint16_t>(data, n, double_from_float16);
    case DType::bfloat16: return decoded<std::uint16_t>(data, n, double_from_bfloat16);
    case DType::complex64: return split_complex<float>(data, n);
    case DType::complex128: return split_complex<double>(data, n);
    case DType::uint4: return unpacked(data, n, [](std::uint8_t nibble) { return static_cast<double>(nibble); });
    case DType::int4: return unpacked(data, n, int4);
    case DType::float4e2m1:
      return unpacked(data, n, [](std::uint8_t nibble) { return double_from_small_float(DType::float4e2m1, nibble); });
    case DType::float8e4m3fn:
    case DType::float8e4m3fnuz:
    case DType::float8e5m2:
    case DType::float8e5m2fnuz:
      return decoded<std::uint8_t>(data, n,
                                   [dtype](std::uint8_t bits) { return double_from_small_float(dtype, bits); });
    case DType::string:
    case DType::undefined: break;
  }
  return usage_error(fmt::format("a tensor of type {} has no numeric values", to_string(dtype)));
}

// Numbers go in as eight little-endian bytes.
class Fnv {
 public:
  void add(std::span<const std::byte> bytes) {
    for (const std::byte byte : bytes) hash_.add(std::to_integer<unsigned char>(byte));
  }
  void add(std::uint64_t number) {
    for (int shift = 0; shift < 64; shift += 8) hash_.add(static_cast<unsigned char>(number >> shift));
  }
  [[nodiscard]] std::uint64_t state() const { return hash_.value(); }

 private:
  Fnv1a hash_;
};

void add_value(Fnv& fnv, const Value& value);

void add_tensor(Fnv& fnv, const Tensor& tensor) {
  fnv.add(static_cast<std::uint64_t>(tensor.dtype));
  fnv.add(tensor.shape.size());
  for (const std::int64_t dimension : tensor.shape) fnv.add(static_cast<std::uint64_t>(dimension));
  fnv.add(tensor.data.span());
  for (const std::string& text : tensor.strings) {
    fnv.add(text.size());
    fnv.add(std::as_bytes(std::span(text)));
  }
}

void add_value(Fnv& fnv, const Value& value) {
  fnv.add(static_cast<std::uint64_t>(value.kind));
  if (value.kind == Value::Kind::tensor) add_tensor(fnv, value.tensor);
  if (value.kind != Value::Kind::sequence) return;
  fnv.add(value.elements.size());
  for (const Value& element : value.elements) add_value(fnv, element);
}

}  // namespace

std::optional<std::size_t> element_count(std::span<const std::int64_t> shape) {
  bool overflow = false;
  bool empty = false;
  std::size_t count = 1;
  for (const std::int64_t dimension : shape) {
    if (dimension < 0) return std::nullopt;
    empty = empty || dimension == 0;
    overflow = __builtin_mul_overflow(count, static_cast<std::size_t>(dimension), &count) || overflow;
  }
  if (empty) return 0;
  if (overflow || count > kMostElements) return std::nullopt;
  return count;
}

std::string to_string(std::span<const std::int64_t> shape) {
  std::string out = "[";
  for (const std::int64_t dimension : shape) {
    if (out.size() > 1) out += ", ";
    out += dimension < 0 ? "?" : std::to_string(dimension);
  }
  return out + "]";
}

Bytes Bytes::allocate(std::size_t size, std::byte** writable) {
  const std::size_t reserved = size == 0 ? 1 : size;  // an empty tensor still has an address that runtimes accept
  std::shared_ptr<std::byte> memory(static_cast<std::byte*>(::operator new(reserved, kAlignment)), AlignedDelete{});
  std::memset(memory.get(), 0, reserved);
  *writable = memory.get();
  Bytes out;
  out.span_ = {memory.get(), size};
  out.owner_ = std::move(memory);
  return out;
}

Bytes Bytes::copy_of(std::span<const std::byte> source) {
  std::byte* writable = nullptr;
  Bytes out = allocate(source.size(), &writable);
  if (!source.empty()) std::memcpy(writable, source.data(), source.size());
  return out;
}

Bytes Bytes::view(std::span<const std::byte> source, std::shared_ptr<const void> owner) {
  Bytes out;
  out.owner_ = std::move(owner);
  out.span_ = source;
  return out;
}

Result<std::vector<double>> to_doubles(const Tensor& tensor) {
  const auto count = element_count(tensor.shape);
  if (!count || tensor.data.size() != bytes_of(tensor.dtype, *count)) {
    return usage_error(fmt::format("a tensor of type {} and shape {} cannot have {} bytes", to_string(tensor.dtype),
                                   to_string(tensor.shape), tensor.data.size()));
  }
  return doubles_of(tensor.dtype, tensor.data.data(), *count);
}

std::uint64_t digest(std::span<const Value> values) {
  Fnv fnv;
  for (const Value& value : values) add_value(fnv, value);
  return fnv.state();
}

}  // namespace infermeter
