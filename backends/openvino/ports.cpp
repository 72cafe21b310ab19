#include "ports.hpp"

#include "sdk/dimensions.hpp"
#include "values.hpp"

namespace infermeter {
namespace {

std::string dimension_name(const std::vector<DeclaredDimension>& declared, const PortFields& port, std::size_t axis) {
  if (port.shape[axis] >= 0) return "";
  if (axis < declared.size() && !declared[axis].name.empty()) return declared[axis].name;
  return place_of(port.name, axis);
}

std::string any_name(const Api& api, const ov_output_const_port_t* port, const std::string& otherwise) {
  char* name = nullptr;
  if (api.ov_port_get_any_name(port, &name) != OK || name == nullptr) return otherwise;  // tensors may have no name
  const std::string text = name;
  api.ov_free(name);
  return text;
}

void read_shape(const Api& api, const ov_output_const_port_t* port, PortFields& fields) {
  ov_partial_shape_t shape{};
  check(api, api.ov_port_get_partial_shape(port, &shape), IMB_MODEL_ERROR,
        "OpenVINO did not report the shape of '" + fields.name + "'");
  fields.rank_known = shape.rank.min == shape.rank.max;
  for (std::int64_t i = 0; fields.rank_known && i < shape.rank.max; ++i) {
    const ov_dimension_t dimension = shape.dims[i];
    fields.shape.push_back(dimension.min == dimension.max ? dimension.min : -1);
  }
  api.ov_partial_shape_free(&shape);
}

PortFields describe_port(const Api& api, const ov_output_const_port_t* port, std::string name,
                         const std::vector<DeclaredDimension>& declared) {
  PortFields fields{.name = std::move(name), .shape = {}, .dimension_names = {}};
  ov_element_type_e type{};
  check(api, api.ov_port_get_element_type(port, &type), IMB_MODEL_ERROR,
        "OpenVINO did not report the element type of '" + fields.name + "'");
  const auto dtype = dtype_from(type);
  if (!dtype || *dtype == IMB_STRING) {
    fail(IMB_UNSUPPORTED, "'" + fields.name +
                              "' is a tensor of strings or of a type that is known only when the model " +
                              "runs, a sequence or a map, which the openvino back end cannot carry; try onnxruntime");
  }
  fields.dtype = *dtype;
  read_shape(api, port, fields);
  for (std::size_t axis = 0; axis < fields.shape.size(); ++axis) {
    fields.dimension_names.push_back(dimension_name(declared, fields, axis));
  }
  return fields;
}

// What the file says of one list of ports, if it says anything.
struct DeclaredPort {
  std::string name;
  std::vector<DeclaredDimension> dimensions;
};
using DeclaredPorts = std::vector<DeclaredPort>;

DeclaredPorts inputs_of(const OnnxDeclaration& declaration) {
  DeclaredPorts ports;
  for (const DeclaredInput& input : declaration.inputs) ports.push_back({input.name, input.dimensions});
  return ports;
}

DeclaredPorts outputs_of(const OnnxDeclaration& declaration) {
  DeclaredPorts ports;
  for (const std::string& name : declaration.outputs) ports.push_back({name, {}});
  return ports;
}

// All four lists are read in the same way, by these two functions of the C API.
template <class Model>
std::vector<PortFields> read_ports(const Api& api, const Model* model,
                                   ov_status_e (*count_ports)(const Model*, std::size_t*),
                                   ov_status_e (*port_at)(const Model*, std::size_t, ov_output_const_port_t**),
                                   const char* word, DeclaredPorts declared) {
  std::size_t count = 0;
  const std::string what = std::string("OpenVINO did not describe the model's ") + word + "s";
  check(api, count_ports(model, &count), IMB_MODEL_ERROR, what);
  const bool in_order = declared.size() == count;
  declared.resize(count);
  std::vector<PortFields> ports;
  for (std::size_t i = 0; i < count; ++i) {
    ov_output_const_port_t* port = nullptr;
    check(api, port_at(model, i, &port), IMB_MODEL_ERROR, what);
    const auto owner = owned(port, api.ov_output_const_port_free);
    const std::string name = in_order ? declared[i].name : any_name(api, port, word + std::to_string(i));
    ports.push_back(
        describe_port(api, port, name, in_order ? declared[i].dimensions : std::vector<DeclaredDimension>()));
  }
  return ports;
}

}  // namespace

std::vector<PortFields> model_inputs(const Api& api, const ov_model_t* model, const OnnxDeclaration& declaration) {
  return read_ports(api, model, api.ov_model_inputs_size, api.ov_model_const_input_by_index, "input",
                    inputs_of(declaration));
}

std::vector<PortFields> model_outputs(const Api& api, const ov_model_t* model, const OnnxDeclaration& declaration) {
  return read_ports(api, model, api.ov_model_outputs_size, api.ov_model_const_output_by_index, "output",
                    outputs_of(declaration));
}

std::vector<PortFields> compiled_inputs(const Api& api, const ov_compiled_model_t* model,
                                        const OnnxDeclaration& declaration) {
  return read_ports(api, model, api.ov_compiled_model_inputs_size, api.ov_compiled_model_input_by_index, "input",
                    inputs_of(declaration));
}

std::vector<PortFields> compiled_outputs(const Api& api, const ov_compiled_model_t* model,
                                         const OnnxDeclaration& declaration) {
  return read_ports(api, model, api.ov_compiled_model_outputs_size, api.ov_compiled_model_output_by_index, "output",
                    outputs_of(declaration));
}

Ports make_ports(std::vector<PortFields> fields) {
  Ports ports;
  for (PortFields& port : fields) ports.push_back(std::make_unique<Port>(std::move(port)));
  return ports;
}

}  // namespace infermeter
