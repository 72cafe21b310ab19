// Tensor and Value: what goes into a model and comes out of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "infermeter/data/dtype.hpp"
#include "infermeter/diagnostics/result.hpp"

namespace infermeter {

using Shape = std::vector<std::int64_t>;

// Number of elements of a shape without dynamic dimensions; nothing on overflow or a negative dimension.
[[nodiscard]] std::optional<std::size_t> element_count(std::span<const std::int64_t> shape);
[[nodiscard]] std::string to_string(std::span<const std::int64_t> shape);  // "[1, 3, 224, 224]", dynamic ones as "?"

// Immutable bytes, 64-byte aligned when owned, shared between copies; may be a view into a mapped block.
class Bytes {
 public:
  Bytes() = default;
  // Zero-filled storage and the pointer to fill it before anyone else sees it.
  [[nodiscard]] static Bytes allocate(std::size_t size, std::byte** writable);
  [[nodiscard]] static Bytes copy_of(std::span<const std::byte> source);
  // A view that keeps `owner` alive.
  [[nodiscard]] static Bytes view(std::span<const std::byte> source, std::shared_ptr<const void> owner);

  [[nodiscard]] std::span<const std::byte> span() const { return span_; }
  [[nodiscard]] const std::byte* data() const { return span_.data(); }
  [[nodiscard]] std::size_t size() const { return span_.size(); }

 private:
  std::shared_ptr<const void> owner_;
  std::span<const std::byte> span_;
};

// Row-major, little-endian. Strings are in `strings`, everything else in `data` (types below 8 bits packed, low nibble
// first, as in ONNX).
struct Tensor {
  DType dtype = DType::undefined;
  Shape shape{};
  Bytes data{};
  std::vector<std::string> strings{};

  template <class T>
  [[nodiscard]] std::span<const T> as() const {
    return {reinterpret_cast<const T*>(data.data()), data.size() / sizeof(T)};
  }
};

// Makes a tensor of `shape` from elements; T must be the C++ type of `dtype`.
template <class T>
[[nodiscard]] Tensor make_tensor(DType dtype, Shape shape, std::span<const T> elements) {
  return {dtype, std::move(shape), Bytes::copy_of(std::as_bytes(elements)), {}};
}

// A tensor, a sequence of values, or an absent optional.
struct Value {
  enum class Kind { none, tensor, sequence };
  Kind kind = Kind::tensor;
  Tensor tensor{};                // kind == tensor
  std::vector<Value> elements{};  // kind == sequence
};

// An input or output as a model declares it. Dynamic dimensions are -1, their names in dimension_names ("" if none).
struct Port {
  std::string name{};
  Value::Kind kind = Value::Kind::tensor;
  bool is_optional = false;
  DType map_key = DType::undefined;  // of maps to tensors or, where kind says so, of a sequence of them
  DType dtype = DType::undefined;
  bool rank_known = true;
  Shape shape{};
  std::vector<std::string> dimension_names{};
  // The dimension that is the batch (data/batch_axis.hpp); nullopt: an inference takes it as a whole.
  std::optional<std::int64_t> batch_axis{};
};

// One inference's worth of input: a value per input of the model, in the model's order.
using ItemValues = std::vector<Value>;

// Every element as double (complex: real parts then imaginary parts; strings: error). NaN and Inf stay.
[[nodiscard]] Result<std::vector<double>> to_doubles(const Tensor& tensor);

// FNV-1a over kind, dtype, shape and bytes: equal values have equal digests on every machine.
[[nodiscard]] std::uint64_t digest(std::span<const Value> values);

}  // namespace infermeter
