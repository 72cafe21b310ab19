#include "values.hpp"

#include <cstring>
#include <optional>
#include <span>
#include <string_view>

#include "empty_sequence.hpp"

namespace infermeter {
namespace {

[[noreturn]] void refuse(const PortFields& port, const std::string& why) {
  fail(IMB_INVALID_ARGUMENT, "input '" + port.name + "' " + why);
}

const char* kind_name(imb_kind kind) {
  return kind == IMB_SEQUENCE ? "a sequence" : kind == IMB_TENSOR ? "a tensor" : "nothing";
}

// Of keys: 64-bit integers or strings.
bool same_tensors(const imb_value& a, const imb_value& b) {
  const auto count = element_count({a.shape, a.rank}), other = element_count({b.shape, b.rank});
  if (a.dtype != b.dtype || count != other) return false;
  if (a.dtype != IMB_STRING) return std::memcmp(a.data, b.data, a.size_bytes) == 0;
  const auto text = [](const imb_value& value, std::size_t i) {
    return std::string_view(static_cast<const char* const*>(value.data)[i], value.string_sizes[i]);
  };
  for (std::size_t i = 0; i < count.value_or(0); ++i)
    if (text(a, i) != text(b, i)) return false;
  return true;
}

}  // namespace

void ValueMaker::must(OrtStatus* status, const PortFields& port) const {
  check(api, status, IMB_INVALID_ARGUMENT, "ONNX Runtime did not take input '" + port.name + "'");
}

Owned<OrtValue> ValueMaker::strings(const PortFields& port, const imb_value& value) const {
  const auto count = element_count({value.shape, value.rank});
  if (!count || (*count > 0 && (value.data == nullptr || value.string_sizes == nullptr))) {
    refuse(port, "was given strings without their sizes");
  }
  OrtValue* made = nullptr;
  must(api.CreateTensorAsOrtValue(allocator, value.shape, value.rank, ONNX_TENSOR_ELEMENT_DATA_TYPE_STRING, &made),
       port);
  auto tensor = owned(made, api.ReleaseValue);
  const auto* texts = static_cast<const char* const*>(value.data);
  for (std::size_t i = 0; i < *count; ++i) {
    char* buffer = nullptr;
    must(api.GetResizedStringTensorElementBuffer(made, i, value.string_sizes[i], &buffer), port);
    if (value.string_sizes[i] != 0) std::memcpy(buffer, texts[i], value.string_sizes[i]);
  }
  return tensor;
}

Owned<OrtValue> ValueMaker::tensor(const PortFields& port, const imb_value& value) const {
  if (value.dtype == IMB_STRING) return strings(port, value);
  static std::byte nothing[64];  // ONNX Runtime wants an address even for no bytes
  void* data = value.size_bytes != 0 ? const_cast<void*>(value.data) : nothing;
  OrtValue* made = nullptr;
  must(api.CreateTensorWithDataAsOrtValue(memory, data, value.size_bytes, value.shape, value.rank,
                                          static_cast<ONNXTensorElementDataType>(value.dtype), &made),
       port);
  return owned(made, api.ReleaseValue);
}

Owned<OrtValue> ValueMaker::sequence(const PortFields& port, const imb_value& value) const {
  if (value.element_count == 0) return make_empty_sequence(api, environment, port);
  const PortFields element_port{
      .name = port.name, .dtype = port.dtype, .rank_known = false, .shape = {}, .dimension_names = {}};
  std::vector<Owned<OrtValue>> elements;
  std::vector<const OrtValue*> pointers;
  for (const imb_value& element : std::span(value.elements, value.element_count)) {
    if (element.kind != IMB_TENSOR) refuse(port, "needs a sequence of tensors");
    check_tensor(element_port, element);
    elements.push_back(tensor(port, element));
    pointers.push_back(elements.back().get());
  }
  OrtValue* made = nullptr;
  must(api.CreateValue(pointers.data(), pointers.size(), ONNX_TYPE_SEQUENCE, &made), port);
  return owned(made, api.ReleaseValue);
}

Owned<OrtValue> ValueMaker::make(const PortFields& port, const imb_value& value) const {
  if (value.kind == IMB_NONE && port.is_optional) return owned<OrtValue>(nullptr, api.ReleaseValue);
  if (value.kind != port.kind) {
    refuse(port, std::string("needs ") + kind_name(port.kind) + " and was given " + kind_name(value.kind));
  }
  if (value.kind == IMB_SEQUENCE) return sequence(port, value);
  check_tensor(port, value);
  return tensor(port, value);
}

imb_value ValueView::view_of(const OrtValue* value, const std::string& output) {
  const std::string what = "ONNX Runtime did not hand out output '" + output + "'";
  int has_value = 0;
  check(api_, api_.HasValue(value, &has_value), IMB_RUN_ERROR, what);
  if (has_value == 0) return imb_value{};
  ONNXType type{};
  check(api_, api_.GetValueType(value, &type), IMB_RUN_ERROR, what);
  if (type == ONNX_TYPE_TENSOR) return tensor(value, output);
  if (type == ONNX_TYPE_SEQUENCE) return sequence(value, output);
  fail(IMB_UNSUPPORTED, "output '" + output + "' is neither a tensor nor a sequence");
}

imb_value ValueView::tensor(const OrtValue* value, const std::string& output) {
  const std::string what = "ONNX Runtime did not hand out output '" + output + "'";
  const auto must = [&](OrtStatus* status) { check(api_, status, IMB_RUN_ERROR, what); };
  OrtTensorTypeAndShapeInfo* made = nullptr;
  must(api_.GetTensorTypeAndShape(value, &made));
  const auto info = owned(made, api_.ReleaseTensorTypeAndShapeInfo);
  ONNXTensorElementDataType type{};
  must(api_.GetTensorElementType(made, &type));
  std::size_t rank = 0;
  must(api_.GetDimensionsCount(made, &rank));
  auto& shape = shapes_.emplace_back(rank);
  must(api_.GetDimensions(made, shape.data(), rank));
  imb_value view{};
  view.kind = IMB_TENSOR;
  view.dtype = static_cast<imb_dtype>(type);
  view.rank = rank;
  view.shape = shape.data();
  if (view.dtype == IMB_STRING) {
    read_strings(value, element_count(shape).value_or(0), view, output);
    return view;
  }
  const auto bytes = bytes_of(view.dtype, shape);
  if (!bytes) fail(IMB_UNSUPPORTED, "output '" + output + "' has an element type that infermeter cannot carry");
  void* data = nullptr;
  must(api_.GetTensorMutableData(const_cast<OrtValue*>(value), &data));
  view.data = data;
  view.size_bytes = *bytes;
  return view;
}

void ValueView::read_strings(const OrtValue* value, std::size_t count, imb_value& view, const std::string& output) {
  const auto must = [&](OrtStatus* status) {
    check(api_, status, IMB_RUN_ERROR, "ONNX Runtime did not hand out the strings of output '" + output + "'");
  };
  Strings& strings = strings_.emplace_back();
  std::vector<std::size_t> starts;
  for (std::size_t i = 0; i < count; ++i) {
    std::size_t size = 0;
    must(api_.GetStringTensorElementLength(value, i, &size));
    starts.push_back(strings.text.size());
    strings.sizes.push_back(size);
    strings.text.resize(strings.text.size() + size + 1);
    must(api_.GetStringTensorElement(value, size, i, strings.text.data() + starts.back()));
  }
  for (const std::size_t start : starts) strings.pointers.push_back(strings.text.data() + start);
  view.data = strings.pointers.data();
  view.string_sizes = strings.sizes.data();
}

imb_value ValueView::part_of(const OrtValue* value, int index, const std::string& output) {
  OrtValue* part = nullptr;
  check(api_, api_.GetValue(value, index, allocator_, &part), IMB_RUN_ERROR,
        "ONNX Runtime did not hand out a map of output '" + output + "'");
  elements_.push_back(owned(part, api_.ReleaseValue));
  return tensor(part, output);
}

imb_value ValueView::table_of(std::span<const OrtValue* const> maps, const std::string& output) {
  auto& table = tables_.emplace_back();
  std::optional<imb_value> first;
  imb_value view{};
  for (const OrtValue* map : maps) {
    const imb_value keys = part_of(map, 0, output), values = part_of(map, 1, output);
    if (!first) {
      first = keys;
      view.dtype = values.dtype;
    }
    if (!same_tensors(*first, keys))
      fail(IMB_UNSUPPORTED, "output '" + output + "' is a sequence of maps whose keys differ from item to item");
    const auto* bytes = static_cast<const std::byte*>(values.data);
    table.insert(table.end(), bytes, bytes + values.size_bytes);
  }
  const auto columns = static_cast<std::int64_t>(element_count({first->shape, first->rank}).value_or(0));
  auto& shape = shapes_.emplace_back(std::vector<std::int64_t>{static_cast<std::int64_t>(maps.size()), columns});
  view.kind = IMB_TENSOR;
  view.rank = shape.size();
  view.shape = shape.data();
  view.data = table.data();
  view.size_bytes = table.size();
  return view;
}

imb_value ValueView::sequence(const OrtValue* value, const std::string& output) {
  const auto must = [&](OrtStatus* status) {
    check(api_, status, IMB_RUN_ERROR, "ONNX Runtime did not hand out an element of output '" + output + "'");
  };
  std::size_t count = 0;
  must(api_.GetValueCount(value, &count));
  std::vector<imb_value> views;
  std::vector<const OrtValue*> maps;
  for (std::size_t i = 0; i < count; ++i) {
    OrtValue* element = nullptr;
    must(api_.GetValue(value, static_cast<int>(i), allocator_, &element));
    elements_.push_back(owned(element, api_.ReleaseValue));
    ONNXType type{};
    must(api_.GetValueType(element, &type));
    if (type == ONNX_TYPE_MAP) {
      maps.push_back(element);
    } else if (type == ONNX_TYPE_TENSOR) {
      views.push_back(tensor(element, output));
    } else {
      fail(IMB_UNSUPPORTED, "output '" + output + "' is a sequence of something else than tensors");
    }
  }
  if (!maps.empty()) return table_of(maps, output);
  const auto& kept = sequences_.emplace_back(std::move(views));
  imb_value view{};
  view.kind = IMB_SEQUENCE;
  view.element_count = kept.size();
  view.elements = kept.data();
  return view;
}

}  // namespace infermeter
