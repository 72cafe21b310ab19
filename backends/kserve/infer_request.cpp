#include "infer_request.hpp"

#include <cstdint>
#include <nlohmann/json.hpp>

#include "datatypes.hpp"
#include "http/json_text.hpp"

namespace infermeter {
namespace {

// JSON of a name or a string; it came from JSON, or from the user's data.
std::string in_json(std::string_view text, const std::string& input) {
  try {
    return nlohmann::json(std::string(text)).dump();
  } catch (const nlohmann::json::exception&) {
    fail(IMB_INVALID_ARGUMENT,
         "input " + input + " holds text that is not UTF-8, which JSON cannot carry; tensors=binary can");
  }
}

std::span<const char* const> strings_of(const imb_value& value, std::size_t count) {
  return {static_cast<const char* const*>(value.data), count};
}

void append_strings(const PortFields& port, const imb_value& value, std::size_t count, std::string& json) {
  const auto strings = strings_of(value, count);
  for (std::size_t i = 0; i < count; ++i) {
    if (i > 0) json += ',';
    json += in_json({strings[i], value.string_sizes[i]}, shown(port.name, 80));
  }
}

void append_numbers(const PortFields& port, const imb_value& value, std::size_t count, std::string& json) {
  const auto* place = static_cast<const unsigned char*>(value.data);
  const std::size_t size = bits_of(value.dtype) / 8;
  json.reserve(json.size() + count * (size + 8));
  for (std::size_t i = 0; i < count; ++i, place += size) {
    if (i > 0) json += ',';
    if (!append_element(value.dtype, place, json))
      fail(IMB_INVALID_ARGUMENT,
           "input " + shown(port.name, 80) +
               " holds a value that is infinite or no number, which JSON cannot carry; tensors=binary can");
  }
}

std::string binary_strings(const imb_value& value, std::size_t count) {
  std::string bytes;
  const auto strings = strings_of(value, count);
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t size = value.string_sizes[i];
    if (size > UINT32_MAX) fail(IMB_INVALID_ARGUMENT, "a string is longer than the protocol's 4 GiB");
    for (unsigned shift = 0; shift < 32; shift += 8) bytes += static_cast<char>((size >> shift) & 0xFFU);
    bytes.append(strings[i], size);
  }
  return bytes;
}

}  // namespace

EncodedInput encode_input(const PortFields& port, const imb_value& value, bool binary) {
  if (value.kind != IMB_TENSOR) fail(IMB_INVALID_ARGUMENT, "input '" + port.name + "' needs a tensor");
  check_tensor(port, value);
  const std::span shape(value.shape, value.rank);
  const auto count = element_count(shape);
  if (!count) fail(IMB_INVALID_ARGUMENT, "input '" + port.name + "' has an impossible shape");
  const auto elements = static_cast<std::size_t>(*count);
  if (value.dtype == IMB_STRING && elements > 0 && (value.data == nullptr || value.string_sizes == nullptr))
    fail(IMB_INVALID_ARGUMENT, "input '" + port.name + "' was given no strings");
  EncodedInput encoded{.is_bound = true};
  std::string& json = encoded.head;
  json = "{\"name\":" + in_json(port.name, "") + ",\"shape\":[";
  for (std::size_t i = 0; i < shape.size(); ++i) json += (i > 0 ? "," : "") + std::to_string(shape[i]);
  json += "],\"datatype\":\"" + std::string(datatype_of(value.dtype).value_or("")) + "\",";
  if (binary) {
    encoded.bytes = value.dtype == IMB_STRING ? binary_strings(value, elements)
                                              : std::string(static_cast<const char*>(value.data), value.size_bytes);
    json += "\"parameters\":{\"binary_data_size\":" + std::to_string(encoded.bytes.size()) + '}';
    return encoded;
  }
  json += "\"data\":[";
  value.dtype == IMB_STRING ? append_strings(port, value, elements, json) : append_numbers(port, value, elements, json);
  json += ']';
  return encoded;
}

RequestBody request_body(std::span<const EncodedInput> inputs, std::span<const std::string> outputs, bool binary) {
  RequestBody body;
  std::string& bytes = body.bytes;
  bytes = "{\"inputs\":[";
  for (std::size_t i = 0; i < inputs.size(); ++i) bytes += (i > 0 ? "," : "") + inputs[i].head + '}';
  bytes += ']';
  if (binary && outputs.empty()) bytes += ",\"parameters\":{\"binary_data_output\":true}";
  if (binary && !outputs.empty()) {
    bytes += ",\"outputs\":[";
    for (std::size_t i = 0; i < outputs.size(); ++i)
      bytes += std::string(i > 0 ? "," : "") + "{\"name\":" + in_json(outputs[i], "") +
               ",\"parameters\":{\"binary_data\":true}}";
    bytes += ']';
  }
  bytes += '}';
  body.json_size = bytes.size();
  for (const EncodedInput& input : inputs) bytes += input.bytes;
  return body;
}

}  // namespace infermeter
