#include "metadata.hpp"

#include <algorithm>
#include <set>

#include "datatypes.hpp"
#include "http/json_text.hpp"

namespace infermeter {
namespace {

using nlohmann::json;

std::string text_in(const json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end() || !found->is_string()) return {};
  const auto& text = found->get_ref<const std::string&>();
  return text.substr(0, utf8_prefix(text, longest_text));
}

[[noreturn]] void refuse_metadata(const std::string& why) {
  fail(IMB_MODEL_ERROR, "what the server says of the model cannot be used: " + why);
}

std::int64_t dimension_from(const json& value, const std::string& port) {
  if (!value.is_number_integer()) refuse_metadata("a dimension of " + port + " is not a whole number");
  // What is beyond the signed numbers is too large in any case.
  return value.is_number_unsigned() && value.get<std::uint64_t>() > INT64_MAX ? INT64_MAX : value.get<std::int64_t>();
}

PortFields port_from(const json& tensor, const char* kind) {
  if (!tensor.is_object()) refuse_metadata(std::string("an ") + kind + " is not an object");
  const auto name = tensor.find("name"), datatype = tensor.find("datatype"), shape = tensor.find("shape");
  if (name == tensor.end() || !name->is_string()) refuse_metadata(std::string("an ") + kind + " has no name");
  const std::string& called = name->get_ref<const std::string&>();
  const std::string about = std::string(kind) + ' ' + shown(called, 80);
  if (datatype == tensor.end() || !datatype->is_string()) refuse_metadata(about + " has no datatype");
  if (shape == tensor.end() || !shape->is_array()) refuse_metadata(about + " has no shape");
  if (shape->size() > most_dimensions) refuse_metadata(about + " has too many dimensions");
  std::vector<std::int64_t> dimensions;
  for (const json& dimension : *shape) dimensions.push_back(dimension_from(dimension, about));
  return declared_port(kind, called, datatype->get_ref<const std::string&>(), std::move(dimensions));
}

std::vector<PortFields> ports_in(const json& model, const char* key, const char* kind) {
  std::vector<PortFields> ports;
  const auto found = model.find(key);
  if (found == model.end() || found->is_null()) return ports;
  if (!found->is_array()) refuse_metadata(std::string("its ") + key + " are no list");
  if (found->size() > most_tensors) refuse_metadata(std::string("it has too many ") + key);
  for (const json& tensor : *found) ports.push_back(port_from(tensor, kind));
  return ports;
}

void refuse_twins(const std::vector<PortFields>& ports, const char* kind) {
  std::set<std::string_view> names;
  for (const PortFields& port : ports)
    if (!names.insert(port.name).second)
      refuse_metadata("two " + std::string(kind) + "s have the name " + shown(port.name, 80));
}

bool begins_dynamic(const PortFields& port) { return !port.shape.empty() && port.shape.front() < 0; }

void name_batch(std::vector<PortFields>& ports) {
  for (PortFields& port : ports)
    if (begins_dynamic(port)) port.dimension_names.front() = "batch";
}

}  // namespace

PortFields declared_port(const char* kind, std::string name, std::string_view datatype,
                         std::vector<std::int64_t> shape) {
  const std::string about = std::string(kind) + ' ' + shown(name, 80);
  if (name.empty() || name.size() > longest_name || name.find('\0') != std::string::npos)
    refuse_metadata(about + " has a name that cannot be one");
  const auto dtype = dtype_from_datatype(datatype);
  if (!dtype)
    fail(IMB_UNSUPPORTED, about + " has the datatype " + shown(datatype, 40) + ", which the protocol does not have");
  if (shape.size() > most_dimensions) refuse_metadata(about + " has too many dimensions");
  for (const std::int64_t dimension : shape)
    if (dimension < -1 || dimension > INT32_MAX)
      refuse_metadata("a dimension of " + about + " is not -1 to 2147483647");
  PortFields port{.name = std::move(name), .dtype = *dtype, .shape = std::move(shape), .dimension_names = {}};
  port.dimension_names.resize(port.shape.size());
  return port;
}

void check_model(ModelMetadata& metadata) {
  if (metadata.inputs.size() > most_tensors || metadata.outputs.size() > most_tensors)
    refuse_metadata("it has too many inputs or outputs");
  refuse_twins(metadata.inputs, "input");
  refuse_twins(metadata.outputs, "output");
  if (metadata.inputs.empty()) refuse_metadata("it declares no inputs, whose types and shapes are needed");
  if (std::ranges::all_of(metadata.inputs, begins_dynamic)) {
    name_batch(metadata.inputs);
    if (std::ranges::all_of(metadata.outputs, begins_dynamic)) name_batch(metadata.outputs);
  }
}

ServerMetadata server_metadata_from(std::string_view body) {
  const json server = parse_bounded(body, "what the server says of itself");
  if (!server.is_object()) fail(IMB_RUN_ERROR, "what the server says of itself is not a JSON object");
  ServerMetadata metadata{.name = text_in(server, "name"), .version = text_in(server, "version")};
  if (const auto extensions = server.find("extensions"); extensions != server.end() && extensions->is_array())
    metadata.takes_binary_tensors = std::ranges::any_of(
        *extensions, [](const json& extension) { return extension.is_string() && extension == "binary_tensor_data"; });
  return metadata;
}

ModelMetadata model_metadata_from(std::string_view body) {
  const json model = parse_bounded(body, "what the server says of the model");
  if (!model.is_object()) refuse_metadata("it is not a JSON object");
  ModelMetadata metadata{.platform = text_in(model, "platform")};
  if (const auto versions = model.find("versions"); versions != model.end() && versions->is_array())
    for (const json& version : *versions)
      if (version.is_string() && metadata.versions.size() < most_tensors)
        metadata.versions.push_back(version.get<std::string>().substr(0, longest_text));
  metadata.inputs = ports_in(model, "inputs", "input");
  metadata.outputs = ports_in(model, "outputs", "output");
  check_model(metadata);
  return metadata;
}

}  // namespace infermeter
