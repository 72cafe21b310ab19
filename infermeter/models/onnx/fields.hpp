// The field numbers of onnx.proto (IR version 10) that we read.
#pragma once

#include <cstdint>
#include <protozero/data_view.hpp>
#include <protozero/exception.hpp>
#include <protozero/pbf_message.hpp>
#include <protozero/types.hpp>
#include <string_view>

namespace infermeter {

// protozero asserts that a field has the wire type it is read as; in a file from outside that is to be checked.
template <class Message>
std::int64_t read_integer(Message& message) {
  if (message.wire_type() != protozero::pbf_wire_type::varint) throw protozero::unknown_pbf_wire_type_exception{};
  return message.get_int64();
}

template <class Message>
protozero::data_view read_view(Message& message) {
  if (message.wire_type() != protozero::pbf_wire_type::length_delimited) {
    throw protozero::unknown_pbf_wire_type_exception{};
  }
  return message.get_view();
}

template <class Message>
std::string_view read_text(Message& message) {
  const auto view = read_view(message);
  return {view.data(), view.size()};
}

namespace onnx_field {

enum class Model : protozero::pbf_tag_type {
  ir_version = 1,
  graph = 7,
  opset_import = 8,
  training_info = 20,
  functions = 25
};
enum class OpsetId : protozero::pbf_tag_type { domain = 1, version = 2 };
enum class TrainingInfo : protozero::pbf_tag_type { initialization = 1, algorithm = 2 };
enum class GraphProto : protozero::pbf_tag_type {
  node = 1,
  initializer = 5,
  input = 11,
  output = 12,
  value_info = 13,
  sparse_initializer = 15
};
enum class Function : protozero::pbf_tag_type { name = 1, node = 7, domain = 10, default_attribute = 11 };
enum class Node : protozero::pbf_tag_type { input = 1, output = 2, name = 3, op_type = 4, attribute = 5, domain = 7 };
enum class Attribute : protozero::pbf_tag_type {
  name = 1,
  i = 3,
  s = 4,
  t = 5,
  g = 6,
  ints = 8,
  tensors = 10,
  graphs = 11,
  sparse_tensor = 22,
  sparse_tensors = 23
};
enum class Tensor : protozero::pbf_tag_type {
  dims = 1,
  data_type = 2,
  float_data = 4,
  int32_data = 5,
  int64_data = 7,
  name = 8,
  raw_data = 9,
  double_data = 10,
  external_data = 13,
  data_location = 14
};
enum class SparseTensor : protozero::pbf_tag_type { values = 1, indices = 2 };
enum class Entry : protozero::pbf_tag_type { key = 1, value = 2 };
enum class ValueInfo : protozero::pbf_tag_type { name = 1, type = 2 };
enum class Type : protozero::pbf_tag_type { tensor_type = 1, sequence_type = 4, map_type = 5, optional_type = 9 };
enum class TensorType : protozero::pbf_tag_type { elem_type = 1, shape = 2 };
enum class Wrapper : protozero::pbf_tag_type { elem_type = 1 };  // of a sequence or an optional
enum class MapType : protozero::pbf_tag_type { key_type = 1, value_type = 2 };
enum class ShapeProto : protozero::pbf_tag_type { dim = 1 };
enum class Dimension : protozero::pbf_tag_type { value = 1, param = 2 };

}  // namespace onnx_field
struct OnnxOpset {
  std::string_view domain;  // into the file's bytes
  std::int64_t version = 0;
};
inline OnnxOpset read_onnx_opset(protozero::data_view view) {
  OnnxOpset result;
  protozero::pbf_message<onnx_field::OpsetId> opset(view);
  while (opset.next()) {
    switch (opset.tag()) {
      case onnx_field::OpsetId::domain: result.domain = read_text(opset); break;
      case onnx_field::OpsetId::version: result.version = read_integer(opset); break;
      default: opset.skip();
    }
  }
  return result;
}

}  // namespace infermeter
