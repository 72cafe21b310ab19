#include "infermeter/models/onnx/shape_values.hpp"

#include <algorithm>
#include <array>
#include <string_view>

namespace infermeter {
namespace {

using Inputs = std::span<const ShapeValue* const>;
using Computed = std::optional<ShapeValue>;

const ShapeValue* input(Inputs inputs, std::size_t i) { return i < inputs.size() ? inputs[i] : nullptr; }

ShapeValue vector_of(std::vector<std::int64_t> values, DType dtype = DType::int64) {
  return {.dtype = dtype, .is_scalar = false, .values = std::move(values)};
}

// An index from the end counts from there; what lies outside is brought to the edge.
std::int64_t from_end(std::int64_t index, std::int64_t size, std::int64_t low, std::int64_t high) {
  return std::clamp(index < 0 ? (index < -size ? low : index + size) : index, low, high);
}

Computed gather(Inputs inputs) {
  const ShapeValue& data = *inputs[0];
  const ShapeValue& indices = *inputs[1];
  if (data.is_scalar) return std::nullopt;
  ShapeValue result{.dtype = data.dtype, .is_scalar = indices.is_scalar, .values = {}};
  const auto size = static_cast<std::int64_t>(data.values.size());
  for (const std::int64_t index : indices.values) {
    if (index < -size || index >= size) return std::nullopt;
    result.values.push_back(data.values[static_cast<std::size_t>(index < 0 ? index + size : index)]);
  }
  return result;
}

Computed slice(Inputs inputs) {
  const ShapeValue* const starts = input(inputs, 1);
  const ShapeValue* const ends = input(inputs, 2);
  const ShapeValue* const steps = input(inputs, 4);
  if (inputs[0]->is_scalar || starts == nullptr || ends == nullptr) return std::nullopt;
  if (starts->values.size() != 1 || ends->values.size() != 1) return std::nullopt;
  const std::int64_t step = steps == nullptr || steps->values.empty() ? 1 : steps->values[0];
  if (step < 1) return std::nullopt;
  const auto& data = inputs[0]->values;
  const auto size = static_cast<std::int64_t>(data.size());
  const std::int64_t end = from_end(ends->values[0], size, 0, size);
  ShapeValue result = vector_of({}, inputs[0]->dtype);
  for (std::int64_t i = from_end(starts->values[0], size, 0, size); i < end; i += std::min(step, size)) {
    result.values.push_back(data[static_cast<std::size_t>(i)]);
  }
  return result;
}

Computed concat(Inputs inputs) {
  ShapeValue result = vector_of({}, inputs[0]->dtype);
  for (const ShapeValue* const part : inputs) {
    if (part->is_scalar || result.values.size() + part->values.size() > kMostShapeValues) return std::nullopt;
    result.values.insert(result.values.end(), part->values.begin(), part->values.end());
  }
  return result;
}

std::optional<std::int64_t> computed(std::string_view op, std::int64_t a, std::int64_t b) {
  std::int64_t result = 0;
  if (op == "Add") return __builtin_add_overflow(a, b, &result) ? std::nullopt : std::optional(result);
  if (op == "Sub") return __builtin_sub_overflow(a, b, &result) ? std::nullopt : std::optional(result);
  if (op == "Mul") return __builtin_mul_overflow(a, b, &result) ? std::nullopt : std::optional(result);
  if (op == "Equal") return a == b ? 1 : 0;
  if (op == "Min") return std::min(a, b);
  if (op == "Max") return std::max(a, b);
  if (op == "Div" && b > 0) return a / b;
  if (op == "Mod" && b > 0) return a % b < 0 ? a % b + b : a % b;  // of ONNX: has the divisor's sign
  return std::nullopt;
}

// Element by element; one value goes with all of the other's.
std::int64_t element(const ShapeValue& value, std::size_t i) { return value.values[value.values.size() == 1 ? 0 : i]; }

std::optional<std::size_t> common_size(std::initializer_list<const ShapeValue*> values) {
  std::size_t size = 1;
  for (const ShapeValue* const value : values) {
    if (value == nullptr || value->values.empty()) return std::nullopt;
    if (value->values.size() == 1) continue;
    if (size != 1 && size != value->values.size()) return std::nullopt;
    size = value->values.size();
  }
  return size;
}

Computed elementwise(std::string_view op, Inputs inputs) {
  if (inputs.size() != 2) return std::nullopt;
  const auto size = common_size({inputs[0], inputs[1]});
  if (!size) return std::nullopt;
  ShapeValue result{.dtype = op == "Equal" ? DType::boolean : inputs[0]->dtype,
                    .is_scalar = inputs[0]->is_scalar && inputs[1]->is_scalar,
                    .values = {}};
  for (std::size_t i = 0; i < *size; ++i) {
    const auto value = computed(op, element(*inputs[0], i), element(*inputs[1], i));
    if (!value) return std::nullopt;
    result.values.push_back(*value);
  }
  return result;
}

Computed where(Inputs inputs) {
  if (inputs.size() != 3) return std::nullopt;
  const auto size = common_size({inputs[0], inputs[1], inputs[2]});
  if (!size) return std::nullopt;
  ShapeValue result{.dtype = inputs[1]->dtype,
                    .is_scalar = inputs[0]->is_scalar && inputs[1]->is_scalar && inputs[2]->is_scalar,
                    .values = {}};
  for (std::size_t i = 0; i < *size; ++i) {
    result.values.push_back(element(*inputs[0], i) != 0 ? element(*inputs[1], i) : element(*inputs[2], i));
  }
  return result;
}

// `ones` of a vector's length, as PyTorch writes expand(-1, ...).
Computed filled(const OnnxNode& node, Inputs inputs) {
  const auto fill = weight_of(node, "value");
  if (inputs[0]->values.size() != 1 || !fill || fill->dtype != DType::int64 || fill->elements != 1) return std::nullopt;
  const std::int64_t size = inputs[0]->values[0];
  if (size < 0 || size > static_cast<std::int64_t>(kMostShapeValues)) return std::nullopt;
  const auto value = integers_in(*fill);
  if (!value || value->size() != 1) return std::nullopt;
  return vector_of(std::vector<std::int64_t>(static_cast<std::size_t>(size), value->front()));
}

Computed converted(const OnnxNode& node, Inputs inputs) {
  const auto to = integer_of(node, "to");
  for (const DType dtype : {DType::int64, DType::int32, DType::boolean}) {
    if (to != static_cast<std::int64_t>(dtype)) continue;
    ShapeValue result = *inputs[0];
    result.dtype = dtype;
    for (std::int64_t& value : result.values) value = dtype == DType::boolean ? (value != 0 ? 1 : 0) : value;
    return result;
  }
  return std::nullopt;
}

// Between a scalar and a vector of one, and a vector as it is.
Computed reshaped(const OnnxNode& node, Inputs inputs) {
  ShapeValue result = *inputs[0];
  if (node.op == "Unsqueeze" && !result.is_scalar) return std::nullopt;
  if (node.op == "Squeeze" && (result.is_scalar || result.values.size() != 1)) return std::nullopt;
  if (node.op == "Reshape" && (input(inputs, 1) == nullptr || inputs[1]->values.size() != 1)) return std::nullopt;
  result.is_scalar = node.op == "Squeeze";
  return result;
}

Computed evaluated(const OnnxNode& node, Inputs inputs) {
  constexpr std::array<std::string_view, 8> elements = {"Add", "Sub", "Mul", "Div", "Mod", "Equal", "Min", "Max"};
  if (std::ranges::find(elements, node.op) != elements.end()) return elementwise(node.op, inputs);
  if (node.op == "Gather") return inputs.size() == 2 ? gather(inputs) : std::nullopt;
  if (node.op == "Slice") return slice(inputs);
  if (node.op == "Concat") return concat(inputs);
  if (node.op == "Where") return where(inputs);
  if (node.op == "ConstantOfShape") return filled(node, inputs);
  if (node.op == "Cast") return converted(node, inputs);
  if (node.op == "Identity") return *inputs[0];
  if (node.op == "Unsqueeze" || node.op == "Squeeze" || node.op == "Reshape") return reshaped(node, inputs);
  return std::nullopt;
}

}  // namespace

std::optional<ShapeValue> shape_value(const OnnxNode& node, std::span<const ShapeValue* const> inputs) {
  if (inputs.empty() || inputs[0] == nullptr) return std::nullopt;
  // Only Slice has inputs that may be absent.
  const bool has_all = std::ranges::find(inputs, nullptr) == inputs.end();
  if (!has_all && node.op != "Slice") return std::nullopt;
  Computed result = evaluated(node, inputs);
  return result && result->values.size() <= kMostShapeValues ? result : std::nullopt;
}

std::optional<ShapeValue> shape_as_value(const OnnxNode& node, std::span<const std::int64_t> shape) {
  if (node.op == "Size") {
    ShapeValue result{.dtype = DType::int64, .is_scalar = true, .values = {1}};
    for (const std::int64_t size : shape) {
      if (__builtin_mul_overflow(result.values[0], size, result.values.data())) return std::nullopt;
    }
    return result;
  }
  const auto rank = static_cast<std::int64_t>(shape.size());
  const std::int64_t start = from_end(integer_of(node, "start").value_or(0), rank, 0, rank);
  const std::int64_t end = from_end(integer_of(node, "end").value_or(rank), rank, 0, rank);
  if (end <= start) return vector_of({});
  return vector_of({shape.begin() + start, shape.begin() + end});
}

}  // namespace infermeter
