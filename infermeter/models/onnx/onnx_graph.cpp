#include "infermeter/models/onnx/onnx_graph.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <protozero/pbf_message.hpp>

#include "infermeter/models/onnx/fields.hpp"
#include "infermeter/models/onnx/port.hpp"
#include "infermeter/models/onnx/tensor.hpp"
#include "infermeter/models/resolve.hpp"

namespace infermeter {
namespace {

using protozero::data_view;
using protozero::pbf_message;

// Bounds on what is kept while reading; real models are far below them.
constexpr std::size_t most_nodes = 200'000;
constexpr std::size_t most_tensors = 1'000'000;
constexpr std::size_t most_ends = 4'000'000;  // inputs, outputs and attributes of all nodes
constexpr std::size_t most_integers = 100'000;
constexpr std::size_t highest_graph_rank = 1024;

void bound_graph(std::size_t size, std::size_t most, const char* what) {
  if (size >= most) throw Refused{fmt::format("it has more than {} {}", most, what)};
}

std::string_view domain_of(std::string_view domain) { return domain == "ai.onnx" ? "" : domain; }

OnnxAttribute read_attribute(data_view view) {
  OnnxAttribute result{.name = {}, .bytes = view};
  pbf_message<onnx_field::Attribute> attribute(view);
  while (attribute.next()) {
    switch (attribute.tag()) {
      case onnx_field::Attribute::name: result.name = read_text(attribute); break;
      case onnx_field::Attribute::g:
      case onnx_field::Attribute::graphs:
        result.holds_graph = true;
        attribute.skip();
        break;
      default: attribute.skip();
    }
  }
  return result;
}

// Integers of a repeated field, packed or not.
template <class Message>
void append_integers(Message& message, std::vector<std::int64_t>& integers) {
  if (message.wire_type() == protozero::pbf_wire_type::length_delimited) {
    for (const std::int64_t value : message.get_packed_int64()) {
      bound_graph(integers.size(), most_integers, "integers in one place");
      integers.push_back(value);
    }
  } else {
    bound_graph(integers.size(), most_integers, "integers in one place");
    integers.push_back(read_integer(message));
  }
}

class GraphReader {
 public:
  OnnxGraph read(std::string_view bytes) {
    data_view graph;
    pbf_message<onnx_field::Model> model(data_view{bytes.data(), bytes.size()});
    while (model.next()) {
      switch (model.tag()) {
        case onnx_field::Model::opset_import: read_opset(read_view(model)); break;
        case onnx_field::Model::functions: read_function(read_view(model)); break;
        case onnx_field::Model::graph:
          if (graph.data() != nullptr) throw Refused{"it has two graphs"};
          graph = read_view(model);
          break;
        default: model.skip();
      }
    }
    if (graph.data() == nullptr) throw Refused{"it has no graph"};
    read_graph(graph);
    return std::move(graph_);
  }

 private:
  void read_opset(data_view view) {
    const OnnxOpset opset = read_onnx_opset(view);
    bound_graph(graph_.opsets.size(), most_integers, "operator sets");
    graph_.opsets.emplace_back(domain_of(opset.domain), opset.version);
  }

  void read_function(data_view view) {
    std::string_view domain, name;
    pbf_message<onnx_field::Function> function(view);
    while (function.next()) {
      switch (function.tag()) {
        case onnx_field::Function::name: name = read_text(function); break;
        case onnx_field::Function::domain: domain = read_text(function); break;
        default: function.skip();
      }
    }
    bound_graph(graph_.functions.size(), most_nodes, "functions");
    graph_.functions.insert(fmt::format("{}.{}", domain_of(domain), name));
  }

  void read_graph(data_view view) {
    pbf_message<onnx_field::GraphProto> graph(view);
    while (graph.next()) {
      switch (graph.tag()) {
        case onnx_field::GraphProto::node: add_node(read_view(graph)); break;
        case onnx_field::GraphProto::initializer:
          bound_graph(graph_.weights.size(), most_tensors, "weights");
          graph_.weights.push_back(read_onnx_weight(read_view(graph)));
          break;
        case onnx_field::GraphProto::input: add_port(graph_.inputs, read_view(graph)); break;
        case onnx_field::GraphProto::output: add_port(graph_.outputs, read_view(graph)); break;
        case onnx_field::GraphProto::value_info: add_port(graph_.values, read_view(graph)); break;
        default: graph.skip();
      }
    }
  }

  static void add_port(std::vector<Port>& ports, data_view view) {
    bound_graph(ports.size(), most_tensors, "tensors");
    ports.push_back(read_onnx_port(view));
  }

  void add_node(data_view view) {
    bound_graph(graph_.nodes.size(), most_nodes, "nodes");
    OnnxNode& result = graph_.nodes.emplace_back();
    pbf_message<onnx_field::Node> node(view);
    while (node.next()) {
      switch (node.tag()) {
        case onnx_field::Node::name: result.name = read_text(node); break;
        case onnx_field::Node::op_type: result.op = read_text(node); break;
        case onnx_field::Node::domain: result.domain = domain_of(read_text(node)); break;
        case onnx_field::Node::input: result.inputs.push_back(read_text(node)); break;
        case onnx_field::Node::output: result.outputs.push_back(read_text(node)); break;
        case onnx_field::Node::attribute: result.attributes.push_back(read_attribute(read_view(node))); break;
        default: node.skip(); continue;
      }
      bound_graph(ends_++, most_ends, "inputs and outputs of nodes");
    }
  }

  OnnxGraph graph_;
  std::size_t ends_ = 0;
};

}  // namespace

const OnnxAttribute* OnnxNode::attribute(std::string_view wanted) const {
  const auto found = std::ranges::find(attributes, wanted, &OnnxAttribute::name);
  return found == attributes.end() ? nullptr : &*found;
}

bool OnnxNode::holds_graph() const { return std::ranges::any_of(attributes, &OnnxAttribute::holds_graph); }

OnnxGraph read_onnx_graph(std::string_view model) { return GraphReader().read(model); }

OnnxWeight read_onnx_weight(data_view view) {
  const OnnxTensor facts = read_onnx_tensor(view);
  OnnxWeight weight{.name = {facts.name.data(), facts.name.size()},
                    .dtype = facts.dtype,
                    .shape = {},
                    .elements = facts.elements,
                    .is_external = facts.external.has_value(),
                    .bytes = view};
  pbf_message<onnx_field::Tensor> tensor(view);
  while (tensor.next(onnx_field::Tensor::dims)) append_integers(tensor, weight.shape);
  if (weight.shape.size() > highest_graph_rank) throw Refused{"one of its weights has more than 1024 dimensions"};
  return weight;
}

std::optional<std::int64_t> integer_of(const OnnxNode& node, std::string_view wanted) {
  const OnnxAttribute* const found = node.attribute(wanted);
  if (found == nullptr) return std::nullopt;
  std::optional<std::int64_t> value;
  pbf_message<onnx_field::Attribute> attribute(found->bytes);
  while (attribute.next(onnx_field::Attribute::i)) value = read_integer(attribute);
  return value;
}

std::optional<std::string_view> text_of(const OnnxNode& node, std::string_view wanted) {
  const OnnxAttribute* const found = node.attribute(wanted);
  if (found == nullptr) return std::nullopt;
  std::optional<std::string_view> value;
  pbf_message<onnx_field::Attribute> attribute(found->bytes);
  while (attribute.next(onnx_field::Attribute::s)) value = read_text(attribute);
  return value;
}

std::optional<std::vector<std::int64_t>> integers_of(const OnnxNode& node, std::string_view wanted) {
  const OnnxAttribute* const found = node.attribute(wanted);
  if (found == nullptr) return std::nullopt;
  std::vector<std::int64_t> values;
  pbf_message<onnx_field::Attribute> attribute(found->bytes);
  while (attribute.next(onnx_field::Attribute::ints)) append_integers(attribute, values);
  return values;
}

std::optional<std::vector<std::int64_t>> integers_in(const OnnxWeight& weight) {
  const std::size_t width = weight.dtype == DType::int64     ? 8
                            : weight.dtype == DType::int32   ? 4
                            : weight.dtype == DType::boolean ? 1
                                                             : 0;
  if (width == 0 || weight.is_external || weight.elements > most_integers) return std::nullopt;
  std::vector<std::int64_t> values;
  pbf_message<onnx_field::Tensor> tensor(weight.bytes);
  while (tensor.next()) {
    switch (tensor.tag()) {
      case onnx_field::Tensor::int32_data:
      case onnx_field::Tensor::int64_data: append_integers(tensor, values); break;
      case onnx_field::Tensor::raw_data: {
        const std::string_view raw = read_text(tensor);
        for (std::size_t at = 0; at + width <= raw.size() && values.size() <= weight.elements; at += width) {
          std::uint64_t value = 0;  // little-endian, as the file's
          for (std::size_t i = width; i > 0; --i) value = value << 8U | static_cast<unsigned char>(raw[at + i - 1]);
          values.push_back(width == 4 ? static_cast<std::int32_t>(value) : static_cast<std::int64_t>(value));
        }
        break;
      }
      default: tensor.skip();
    }
  }
  return values.size() == weight.elements ? std::optional(std::move(values)) : std::nullopt;
}

std::optional<OnnxWeight> weight_of(const OnnxNode& node, std::string_view wanted) {
  const OnnxAttribute* const found = node.attribute(wanted);
  if (found == nullptr) return std::nullopt;
  std::optional<OnnxWeight> value;
  pbf_message<onnx_field::Attribute> attribute(found->bytes);
  while (attribute.next(onnx_field::Attribute::t)) value = read_onnx_weight(read_view(attribute));
  return value;
}

}  // namespace infermeter
