#include "infermeter/models/onnx/port.hpp"

#include <algorithm>
#include <protozero/pbf_message.hpp>

#include "infermeter/models/onnx/fields.hpp"

namespace infermeter {
namespace {

using protozero::data_view;
using protozero::pbf_message;

constexpr std::size_t highest_port_rank = 1024;
constexpr int most_wrappers = 8;  // optional(sequence(tensor)) has two

struct ReadDimension {
  std::int64_t size = -1;
  std::string name;
};

ReadDimension read_dimension(data_view view) {
  ReadDimension result;
  pbf_message<onnx_field::Dimension> dimension(view);
  while (dimension.next()) {
    switch (dimension.tag()) {
      case onnx_field::Dimension::value: result.size = std::max<std::int64_t>(-1, read_integer(dimension)); break;
      case onnx_field::Dimension::param: result.name = read_text(dimension); break;
      default: dimension.skip();
    }
  }
  return result;
}

void read_shape(data_view view, Port& port) {
  port.rank_known = true;
  pbf_message<onnx_field::ShapeProto> shape(view);
  while (shape.next(onnx_field::ShapeProto::dim)) {
    if (port.shape.size() == highest_port_rank)
      throw Refused{"one of its inputs or outputs has more than 1024 dimensions"};
    auto [size, name] = read_dimension(read_view(shape));
    port.shape.push_back(size);
    port.dimension_names.push_back(std::move(name));
  }
}

DType dtype_numbered(std::int64_t number) {
  const bool known = number >= 0 && number <= static_cast<std::int64_t>(DType::float4e2m1);
  return known ? static_cast<DType>(number) : DType::undefined;
}

void read_tensor_type(data_view view, Port& port) {
  pbf_message<onnx_field::TensorType> type(view);
  while (type.next()) {
    switch (type.tag()) {
      case onnx_field::TensorType::elem_type: port.dtype = dtype_numbered(read_integer(type)); break;
      case onnx_field::TensorType::shape: read_shape(read_view(type), port); break;
      default: type.skip();
    }
  }
}

// The type inside of a sequence or an optional; nothing if there is none.
data_view wrapped(data_view view) {
  pbf_message<onnx_field::Wrapper> wrapper(view);
  data_view inner;
  while (wrapper.next(onnx_field::Wrapper::elem_type)) inner = read_view(wrapper);
  return inner;
}

// The type of a map's values.
data_view read_map_type(data_view view, Port& port) {
  pbf_message<onnx_field::MapType> map(view);
  data_view values;
  while (map.next()) {
    switch (map.tag()) {
      case onnx_field::MapType::key_type: port.map_key = dtype_numbered(read_integer(map)); break;
      case onnx_field::MapType::value_type: values = read_view(map); break;
      default: map.skip();
    }
  }
  return values;
}

// Optional, sequence and map types hold another type: gone through in a loop, not by recursion.
void read_type(data_view view, Port& port) {
  for (int depth = 0; depth < most_wrappers; ++depth) {
    data_view inner;
    pbf_message<onnx_field::Type> type(view);
    while (type.next()) {
      switch (type.tag()) {
        case onnx_field::Type::tensor_type: read_tensor_type(read_view(type), port); break;
        case onnx_field::Type::sequence_type:
          port.kind = Value::Kind::sequence;
          inner = wrapped(read_view(type));
          break;
        case onnx_field::Type::map_type: inner = read_map_type(read_view(type), port); break;
        case onnx_field::Type::optional_type:
          port.is_optional = true;
          inner = wrapped(read_view(type));
          break;
        default: type.skip();
      }
    }
    if (inner.empty()) return;
    view = inner;
  }
  throw Refused{"the type of one of its inputs or outputs is nested too deeply"};
}

}  // namespace

Port read_onnx_port(data_view value_info) {
  Port port;
  port.rank_known = false;
  pbf_message<onnx_field::ValueInfo> info(value_info);
  while (info.next()) {
    switch (info.tag()) {
      case onnx_field::ValueInfo::name: port.name = read_text(info); break;
      case onnx_field::ValueInfo::type: read_type(read_view(info), port); break;
      default: info.skip();
    }
  }
  return port;
}

}  // namespace infermeter
