#include "infermeter/models/onnx/tensor.hpp"

#include <fmt/format.h>

#include <charconv>
#include <protozero/pbf_message.hpp>

#include "infermeter/data/dtype.hpp"
#include "infermeter/models/onnx/fields.hpp"
#include "infermeter/models/onnx/port.hpp"
#include "infermeter/text/quoted.hpp"

namespace infermeter {
namespace {

using protozero::data_view;
using protozero::pbf_message;

constexpr std::int64_t external_location = 1;

std::string tensor_text(data_view view) { return {view.data(), view.size()}; }

bool is_dtype(std::int64_t data_type) {
  return data_type >= 0 && data_type <= static_cast<std::int64_t>(DType::float4e2m1);
}

bool is_float(std::int64_t data_type) {
  if (!is_dtype(data_type)) return false;
  switch (static_cast<DType>(data_type)) {
    case DType::float32:
    case DType::float64:
    case DType::float16:
    case DType::bfloat16:
    case DType::float8e4m3fn:
    case DType::float8e4m3fnuz:
    case DType::float8e5m2:
    case DType::float8e5m2fnuz:
    case DType::float4e2m1: return true;
    default: return false;
  }
}

// Multiplied with a bound: what is beyond 2^62 is no tensor of anybody's.
void multiply(OnnxTensor& tensor, std::int64_t dimension) {
  if (dimension < 0)
    throw Refused{fmt::format("tensor {} has a negative dimension", in_quotes(tensor_text(tensor.name)))};
  if (__builtin_mul_overflow(tensor.elements, static_cast<std::uint64_t>(dimension), &tensor.elements) ||
      tensor.elements > (std::uint64_t{1} << 62)) {
    throw Refused{fmt::format("tensor {} has more elements than there can be", in_quotes(tensor_text(tensor.name)))};
  }
}

std::int64_t whole_number(std::string_view key, const std::string& value) {
  std::int64_t number = 0;
  const char* end = value.data() + value.size();
  const auto [stopped, error] = std::from_chars(value.data(), end, number);
  if (error != std::errc{} || stopped != end || number < 0) {
    throw Refused{fmt::format("has the {} {} in its external data, which is not a size", key, in_quotes(value))};
  }
  return number;
}

// One key and its value. A key given twice is refused: readers disagree on which of the two counts.
void read_entry(data_view view, OnnxSummary::External& external, unsigned& seen) {
  std::string key;
  std::string value;
  pbf_message<onnx_field::Entry> entry(view);
  while (entry.next()) {
    switch (entry.tag()) {
      case onnx_field::Entry::key: key = read_text(entry); break;
      case onnx_field::Entry::value: value = read_text(entry); break;
      default: entry.skip();
    }
  }
  const unsigned bit = key == "location" ? 1U : key == "offset" ? 2U : key == "length" ? 4U : 0U;
  if ((seen & bit) != 0) throw Refused{fmt::format("gives the {} of its external data twice", key)};
  seen |= bit;
  if (key == "location") external.location = value;
  if (key == "offset") external.offset = whole_number(key, value);
  if (key == "length") external.length = whole_number(key, value);
}

// All fields but the dimensions, which need the name for their sentences.
OnnxTensor read_fields(data_view view) {
  OnnxTensor result;
  OnnxSummary::External external;
  bool is_external = false;
  unsigned seen = 0;
  pbf_message<onnx_field::Tensor> tensor(view);
  while (tensor.next()) {
    switch (tensor.tag()) {
      case onnx_field::Tensor::name: result.name = read_view(tensor); break;
      case onnx_field::Tensor::data_type: {
        const std::int64_t type = read_integer(tensor);
        result.is_float = is_float(type);
        result.dtype = is_dtype(type) ? static_cast<DType>(type) : DType::undefined;
        break;
      }
      case onnx_field::Tensor::data_location:
        if (read_integer(tensor) == external_location) is_external = true;
        break;
      case onnx_field::Tensor::external_data:
        is_external = true;
        read_entry(read_view(tensor), external, seen);
        break;
      default: tensor.skip();
    }
  }
  if (is_external) result.external = std::move(external);
  return result;
}

std::string name_of(data_view view) {
  pbf_message<onnx_field::Tensor> tensor(view);
  std::string name;
  while (tensor.next(onnx_field::Tensor::name)) name = read_text(tensor);
  return name;
}

}  // namespace

OnnxTensor read_onnx_tensor(data_view view) {
  OnnxTensor result;
  try {
    result = read_fields(view);
  } catch (const Refused& refused) {
    throw Refused{fmt::format("tensor {} {}", in_quotes(name_of(view)), refused.why)};
  }
  pbf_message<onnx_field::Tensor> tensor(view);
  while (tensor.next(onnx_field::Tensor::dims)) {
    if (tensor.wire_type() == protozero::pbf_wire_type::length_delimited) {
      for (const auto dimension : tensor.get_packed_int64()) multiply(result, dimension);
    } else {
      multiply(result, read_integer(tensor));
    }
  }
  if (result.external) result.external->tensor = tensor_text(result.name);
  return result;
}

}  // namespace infermeter
