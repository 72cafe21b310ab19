#include "infermeter/trial/abi_values.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace infermeter {
namespace {

constexpr std::size_t max_rank = 64;
constexpr std::size_t max_elements = 1U << 24;
constexpr int max_depth = 8;

Result<std::vector<std::string>> copy_strings(const imb_value& value, std::size_t count) {
  if (count > max_elements)
    return model_error(fmt::format("the back end gave a tensor of {} strings: too many", count));
  if (count > 0 && (value.data == nullptr || value.string_sizes == nullptr))
    return model_error("the back end gave a tensor of strings without its strings");
  const auto* const texts = static_cast<const char* const*>(value.data);
  std::vector<std::string> strings;
  strings.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    if (texts[i] == nullptr)
      strings.emplace_back();
    else
      strings.emplace_back(texts[i], value.string_sizes[i]);
  }
  return strings;
}

Result<Tensor> tensor_from_abi(const imb_value& value) {
  if (value.rank > max_rank || (value.rank > 0 && value.shape == nullptr))
    return model_error(fmt::format("the back end gave a tensor of rank {} without a shape", value.rank));
  Tensor tensor{static_cast<DType>(value.dtype), Shape(value.shape, value.shape + value.rank), {}, {}};
  const auto count = element_count(tensor.shape);
  if (!count) return model_error("the back end gave a tensor of impossible shape " + to_string(tensor.shape));
  if (tensor.dtype == DType::string) {
    INFERMETER_TRY(tensor.strings, copy_strings(value, *count));
    return tensor;
  }
  const std::size_t bytes = bytes_of(tensor.dtype, *count);
  if (bits_of(tensor.dtype) == 0 || bytes != value.size_bytes || (bytes > 0 && value.data == nullptr))
    return model_error(fmt::format("the back end gave {} bytes for a tensor of shape {} and type {}, which takes {}",
                                   value.size_bytes, to_string(tensor.shape), to_string(tensor.dtype), bytes));
  tensor.data = Bytes::copy_of({static_cast<const std::byte*>(value.data), bytes});
  return tensor;
}

Result<Value> value_from_abi(const imb_value& value, int depth) {
  if (depth > max_depth)
    return model_error(fmt::format("the back end gave a sequence nested deeper than {}", max_depth));
  if (value.kind == IMB_NONE) return Value{.kind = Value::Kind::none, .tensor = {}, .elements = {}};
  if (value.kind == IMB_TENSOR) {
    INFERMETER_TRY(Tensor tensor, tensor_from_abi(value));
    return Value{.kind = Value::Kind::tensor, .tensor = std::move(tensor), .elements = {}};
  }
  if (value.kind != IMB_SEQUENCE || value.element_count > max_elements ||
      (value.element_count > 0 && value.elements == nullptr))
    return model_error("the back end gave an output that is neither a tensor nor a sequence");
  Value sequence{.kind = Value::Kind::sequence, .tensor = {}, .elements = {}};
  for (std::size_t i = 0; i < value.element_count; ++i) {
    INFERMETER_TRY(Value element, value_from_abi(value.elements[i], depth + 1));
    sequence.elements.push_back(std::move(element));
  }
  return sequence;
}

}  // namespace

imb_value AbiValue::view_of(const Tensor& tensor) {
  imb_value view{};
  view.kind = IMB_TENSOR;
  view.dtype = static_cast<imb_dtype>(tensor.dtype);
  view.rank = tensor.shape.size();
  view.shape = tensor.shape.data();
  if (tensor.dtype != DType::string) {
    view.data = tensor.data.data();
    view.size_bytes = tensor.data.size();
    return view;
  }
  auto& texts = strings_.emplace_back();
  auto& sizes = sizes_.emplace_back();
  for (const std::string& text : tensor.strings) {
    texts.push_back(text.c_str());
    sizes.push_back(text.size());
  }
  view.data = texts.data();
  view.string_sizes = sizes.data();
  return view;
}

imb_value AbiValue::view_of(const Value& value) {
  if (value.kind == Value::Kind::tensor) return view_of(value.tensor);
  imb_value view{};
  if (value.kind == Value::Kind::none) return view;
  std::vector<imb_value> elements;
  for (const Value& element : value.elements) elements.push_back(view_of(element));
  view.kind = IMB_SEQUENCE;
  view.element_count = elements.size();
  view.elements = elements_.emplace_back(std::move(elements)).data();
  return view;
}

Result<Value> value_from_abi(const imb_value& value) { return value_from_abi(value, 0); }

Port port_from_abi(const imb_port& port) {
  Port result{.name = port.name == nullptr ? "" : port.name,
              .kind = port.kind == IMB_SEQUENCE ? Value::Kind::sequence : Value::Kind::tensor,
              .is_optional = port.is_optional != 0,
              .dtype = static_cast<DType>(port.dtype),
              .rank_known = port.rank_known != 0,
              .shape = {},
              .dimension_names = {}};
  if (!result.rank_known || port.shape == nullptr) return result;
  for (std::size_t i = 0; i < std::min(port.rank, max_rank); ++i) {
    result.shape.push_back(port.shape[i]);
    const char* const name = port.dimension_names == nullptr ? nullptr : port.dimension_names[i];
    result.dimension_names.emplace_back(name == nullptr ? "" : name);
  }
  return result;
}

}  // namespace infermeter
