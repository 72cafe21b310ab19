#include "infermeter/models/onnx/graph.hpp"

#include <cmath>
#include <cstring>

#include "infermeter/diagnostics/check.hpp"

namespace infermeter {
namespace {

// Fixed by hand, not taken from the installed ONNX: the file is the same with every version of it.
constexpr std::int64_t ir_version = 8;
constexpr std::int64_t opset = 17;

void add_port(onnx::ValueInfoProto& port, const std::string& name, const Graph::Dimensions& shape) {
  port.set_name(name);
  auto* tensor = port.mutable_type()->mutable_tensor_type();
  tensor->set_elem_type(onnx::TensorProto::FLOAT);
  tensor->mutable_shape()->add_dim()->set_dim_param("batch");
  for (const auto dimension : shape) tensor->mutable_shape()->add_dim()->set_dim_value(dimension);
}

struct SetAttribute {
  onnx::AttributeProto& attribute;

  void operator()(std::int64_t value) const {
    attribute.set_type(onnx::AttributeProto::INT);
    attribute.set_i(value);
  }
  void operator()(float value) const {
    attribute.set_type(onnx::AttributeProto::FLOAT);
    attribute.set_f(value);
  }
  void operator()(const std::vector<std::int64_t>& values) const {
    attribute.set_type(onnx::AttributeProto::INTS);
    for (const auto value : values) attribute.add_ints(value);
  }
};

std::size_t element_count(const Graph::Dimensions& shape) {
  std::size_t count = 1;
  for (const auto dimension : shape) count *= static_cast<std::size_t>(dimension);
  return count;
}

}  // namespace

Graph::Graph(const std::string& name, const Dimensions& input, const Dimensions& output) {
  model_.set_ir_version(ir_version);
  model_.set_producer_name("infermeter");
  model_.add_opset_import()->set_version(opset);
  model_.mutable_opset_import(0)->set_domain("");
  model_.mutable_graph()->set_name(name);
  add_port(*model_.mutable_graph()->add_input(), "input", input);
  add_port(*model_.mutable_graph()->add_output(), "output", output);
}

std::string Graph::node(const std::string& op, const std::string& name, const std::vector<std::string>& inputs,
                        const std::vector<Attribute>& attributes) {
  auto* node = model_.mutable_graph()->add_node();
  node->set_op_type(op);
  node->set_name(name);
  for (const auto& input : inputs) node->add_input(input);
  node->add_output(name);
  for (const auto& [key, value] : attributes) {
    auto* attribute = node->add_attribute();
    attribute->set_name(key);
    std::visit(SetAttribute{*attribute}, value);
  }
  return name;
}

std::vector<std::string> Graph::split(const std::string& name, const std::string& input, const Dimensions& parts,
                                      std::int64_t axis) {
  node("Split", name, {input, integers(name + ".parts", parts)}, {{"axis", axis}});
  auto* node = model_.mutable_graph()->mutable_node(model_.graph().node_size() - 1);
  node->clear_output();
  std::vector<std::string> outputs;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    outputs.push_back(name + "." + std::to_string(i));
    node->add_output(outputs.back());
  }
  return outputs;
}

void Graph::finish(const std::string& last) {
  auto* node = model_.mutable_graph()->mutable_node(model_.graph().node_size() - 1);
  INFERMETER_CHECK(node->output_size() == 1 && node->output(0) == last);
  node->set_output(0, "output");
}

onnx::TensorProto* Graph::add_initializer(const std::string& name, const Dimensions& shape,
                                          onnx::TensorProto::DataType type) {
  auto* tensor = model_.mutable_graph()->add_initializer();
  tensor->set_name(name);
  tensor->set_data_type(type);
  for (const auto dimension : shape) tensor->add_dims(dimension);
  return tensor;
}

std::string Graph::weight(const std::string& name, const Dimensions& shape, const Draw& draw) {
  auto* tensor = add_initializer(name, shape, onnx::TensorProto::FLOAT);
  *tensor->mutable_raw_data() = draw_weights(name, element_count(shape), draw);
  return name;
}

std::string Graph::transposed_weight(const std::string& name, std::int64_t out, std::int64_t in, const Draw& draw) {
  auto* tensor = add_initializer(name, {in, out}, onnx::TensorProto::FLOAT);
  const std::string as_torch = draw_weights(name, element_count({out, in}), draw);
  *tensor->mutable_raw_data() = transposed(as_torch, static_cast<std::size_t>(out), static_cast<std::size_t>(in));
  return name;
}

std::string Graph::integers(const std::string& name, const Dimensions& values) {
  auto* tensor = add_initializer(name, {static_cast<std::int64_t>(values.size())}, onnx::TensorProto::INT64);
  tensor->mutable_raw_data()->resize(values.size() * sizeof(std::int64_t));
  std::memcpy(tensor->mutable_raw_data()->data(), values.data(), values.size() * sizeof(std::int64_t));
  return name;
}

std::string Graph::constant(const std::string& name, float value) {
  return node("Constant", name, {}, {{"value_float", value}});
}

std::string Graph::batch_norm(const std::string& name, const std::string& input, std::int64_t channels, double gamma,
                              float epsilon) {
  return node("BatchNormalization", name,
              {input, weight(name + ".weight", {channels}, {.mean = gamma, .sd = 0.1 * gamma}),
               weight(name + ".bias", {channels}, {.mean = 0, .sd = 0.05}),
               weight(name + ".running_mean", {channels}, {.mean = 0, .sd = 0.05}),
               weight(name + ".running_var", {channels}, {.mean = 1, .sd = 0.1})},
              {{"epsilon", epsilon}});
}

std::string Graph::linear(const std::string& name, const std::string& input, std::int64_t out, std::int64_t in,
                          double sd) {
  return node("Gemm", name,
              {input, weight(name + ".weight", {out, in}, {.sd = sd}), weight(name + ".bias", {out}, {.sd = 0.05})},
              {{"transB", std::int64_t{1}}});
}

double fan_in_sd(double gain, std::int64_t fan_in) { return gain / std::sqrt(static_cast<double>(fan_in)); }

}  // namespace infermeter
