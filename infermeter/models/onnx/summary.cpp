#include "infermeter/models/onnx/summary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <protozero/pbf_message.hpp>
#include <string>
#include <unordered_map>
#include <unordered_set>

#include "infermeter/data/batch_axis.hpp"
#include "infermeter/models/mapped_file.hpp"
#include "infermeter/models/onnx/fields.hpp"
#include "infermeter/models/onnx/port.hpp"
#include "infermeter/models/onnx/tensor.hpp"
#include "infermeter/text/quoted.hpp"

namespace infermeter {
namespace {

using protozero::data_view;
using protozero::pbf_message;
using Names = std::unordered_set<std::string_view>;

// Bounds on what is kept while reading; real models are far below them.
constexpr std::size_t most_ports = 10'000;
constexpr std::size_t most_subgraphs = 100'000;
constexpr std::size_t most_external = 100'000;
constexpr std::size_t most_names = 1'000'000;

constexpr std::uint64_t most_of_formula = 4;  // numbers that a node Constant holds and that are no weights

// What inputs of an operator are, in order: w a quantised weight (if it is an initialiser), t the same if it is of 8
// bits or fewer, p one that several weights are packed in (K times N of them, by the attributes), s something that is
// no parameter: the running mean and variance of a normalisation, which are state as in torch, scales and zero points.
// Those that are behind are what their type says.
constexpr std::size_t most_inputs_with_roles = 12;
struct InputRoles {
  std::string_view op;
  std::string_view roles;
};
constexpr std::array input_roles = {
    InputRoles{"BatchNormalization", "---ss"},
    InputRoles{"DequantizeLinear", "wss"},
    InputRoles{"QuantizeLinear", "-ss"},
    InputRoles{"ConvInteger", "wwss"},
    InputRoles{"MatMulInteger", "wwss"},
    InputRoles{"QLinearConv", "-sswssssw"},
    InputRoles{"QLinearMatMul", "wsswssss"},
    InputRoles{"Gather", "t"},
    InputRoles{"Resize", "-ss"},
    InputRoles{"Upsample", "-s"},
    // Of ONNX Runtime (docs/ContribOperators.md).
    InputRoles{"DynamicQuantizeLSTM", "-ww-----ssss"},
    InputRoles{"DynamicQuantizeMatMul", "-wss"},
    InputRoles{"MatMulIntegerToFloat", "wwssss"},
    InputRoles{"QGemm", "-sswsswss"},
    InputRoles{"QAttention", "-w-ss-ss"},
    InputRoles{"GatherBlockQuantized", "w-ss"},
    InputRoles{"MatMulNBits", "-psss"},
};

std::string_view summary_text(data_view view) { return {view.data(), view.size()}; }

template <class Container>
void bound_container(const Container& container, std::size_t most, const char* what) {
  if (container.size() >= most) throw Refused{fmt::format("it has more than {} {}", most, what)};
}

// Reads a ModelProto. Graphs inside of nodes wait in a list instead of being descended into; every byte is looked at
// once, but for names and dimensions.
class SummaryReader {
 public:
  OnnxPorts ports(std::string_view bytes) {
    read_head(bytes);
    return {.inputs = std::move(summary_.inputs), .outputs = std::move(summary_.outputs)};
  }

  OnnxSummary read(std::string_view bytes) {
    read_head(bytes);
    read_graph(main_graph_);
    while (!waiting_.empty()) {
      const Part part = waiting_.back();
      waiting_.pop_back();
      part.is_function ? read_function(part.view) : read_graph(part.view);
    }
    return std::move(summary_);
  }

 private:
  struct Part {
    data_view view;
    bool is_function = false;
  };

  void read_head(std::string_view bytes) {
    read_model({bytes.data(), bytes.size()});
    if (!has_graph_) throw Refused{"it has no graph"};
    if (summary_.ir_version <= 0) throw Refused{"it has no IR version"};
    if (!has_opset_) throw Refused{"it declares no operator set"};
    read_ports(main_graph_);
  }

  void read_model(data_view view) {
    pbf_message<onnx_field::Model> model(view);
    while (model.next()) {
      switch (model.tag()) {
        case onnx_field::Model::ir_version: summary_.ir_version = read_integer(model); break;
        case onnx_field::Model::opset_import: read_opset(read_view(model)); break;
        case onnx_field::Model::training_info: read_training(read_view(model)); break;
        case onnx_field::Model::functions: later(read_view(model), true); break;
        case onnx_field::Model::graph:
          if (has_graph_) throw Refused{"it has two graphs"};
          has_graph_ = true;
          main_graph_ = read_view(model);
          break;
        default: model.skip();
      }
    }
  }

  void later(data_view view, bool is_function = false) {
    bound_container(waiting_, most_subgraphs, "graphs inside of graphs");
    waiting_.push_back({view, is_function});
  }

  void read_opset(data_view view) {
    has_opset_ = true;
    const OnnxOpset opset = read_onnx_opset(view);
    if (opset.domain.empty() || opset.domain == "ai.onnx") summary_.opset = opset.version;
  }

  void read_training(data_view view) {
    pbf_message<onnx_field::TrainingInfo> training(view);
    while (training.next()) {
      const bool is_graph = training.tag() == onnx_field::TrainingInfo::initialization ||
                            training.tag() == onnx_field::TrainingInfo::algorithm;
      is_graph ? later(read_view(training)) : training.skip();
    }
  }

  void read_ports(data_view view) {
    pbf_message<onnx_field::GraphProto> graph(view);
    while (graph.next()) {
      switch (graph.tag()) {
        case onnx_field::GraphProto::input: add_port(summary_.inputs, read_view(graph)); break;
        case onnx_field::GraphProto::output: add_port(summary_.outputs, read_view(graph)); break;
        default: graph.skip();
      }
    }
    drop_inputs_with_values(view);
  }

  static void add_port(std::vector<Port>& ports, data_view view) {
    bound_container(ports, most_ports, "inputs or outputs");
    ports.push_back(read_onnx_port(view));
  }

  // Up to IR version 3 every initialiser was listed among the inputs as well.
  void drop_inputs_with_values(data_view view) {
    Names with_value;
    Names inputs;
    for (const auto& port : summary_.inputs) inputs.insert(port.name);
    pbf_message<onnx_field::GraphProto> graph(view);
    while (graph.next(onnx_field::GraphProto::initializer)) {
      const auto name = inputs.find(summary_text(read_onnx_tensor(read_view(graph)).name));
      if (name != inputs.end()) with_value.insert(*name);
    }
    std::vector<Port> left;
    for (auto& port : summary_.inputs) {
      if (!with_value.contains(port.name)) left.push_back(port);
    }
    summary_.inputs = std::move(left);
  }

  // What a node Constant makes.
  struct Constant {
    std::string_view name;
    data_view tensor;
  };

  // What nodes say of the initialisers of their graph, by name.
  struct Roles {
    Names not_parameters;                                        // state, scales, zero points
    Names quantised;                                             // weights as integers
    Names if_small;                                              // weights if they are of 8 bits or fewer
    std::unordered_map<std::string_view, std::uint64_t> packed;  // so many weights
    std::unordered_set<std::string> not_parameters_either;
    std::vector<Constant> constants;

    [[nodiscard]] bool is_parameter(const OnnxTensor& tensor) const {
      const std::string_view name = summary_text(tensor.name);
      if (not_parameters.contains(name) || not_parameters_either.contains(std::string(name))) return false;
      const bool is_small = tensor.dtype == DType::int8 || tensor.dtype == DType::uint8 ||
                            tensor.dtype == DType::int4 || tensor.dtype == DType::uint4;
      return tensor.is_float || quantised.contains(name) || packed.contains(name) ||
             (is_small && if_small.contains(name));
    }
  };

  void read_graph(data_view view) {
    Roles roles;
    pbf_message<onnx_field::GraphProto> nodes(view);
    while (nodes.next(onnx_field::GraphProto::node)) read_node(read_view(nodes), roles);
    pbf_message<onnx_field::GraphProto> graph(view);
    while (graph.next()) {
      switch (graph.tag()) {
        case onnx_field::GraphProto::initializer: add_initializer(read_view(graph), roles); break;
        case onnx_field::GraphProto::sparse_initializer: {
          const data_view values = read_sparse(read_view(graph));
          if (!values.empty()) add_parameters(values, read_onnx_tensor(values), roles);
          break;
        }
        default: graph.skip();
      }
    }
    add_constants(roles);
  }

  void read_function(data_view view) {
    Roles roles;
    pbf_message<onnx_field::Function> function(view);
    while (function.next()) {
      switch (function.tag()) {
        case onnx_field::Function::node: read_node(read_view(function), roles); break;
        case onnx_field::Function::default_attribute: read_attribute(read_view(function)); break;
        default: function.skip();
      }
    }
    add_constants(roles);
  }

  void read_node(data_view view, Roles& roles) {
    ++summary_.nodes;
    std::string_view op, output;
    data_view constant;
    std::array<std::string_view, most_inputs_with_roles> inputs{};
    std::size_t count = 0;
    std::uint64_t weights = 1;  // K times N, where it has them
    pbf_message<onnx_field::Node> node(view);
    while (node.next()) {
      switch (node.tag()) {
        case onnx_field::Node::op_type: op = read_text(node); break;
        case onnx_field::Node::attribute: {
          const auto [size, tensor] = read_attribute(read_view(node));
          if (__builtin_mul_overflow(weights, size, &weights))
            throw Refused{"its weights have more elements than there can be"};
          if (!tensor.empty()) constant = tensor;
          break;
        }
        case onnx_field::Node::output: output = read_text(node); break;
        case onnx_field::Node::input: {
          const auto name = read_text(node);
          if (count < inputs.size()) inputs[count++] = name;
          break;
        }
        default: node.skip();
      }
    }
    if (op == "Constant" && !constant.empty()) {
      bound_container(roles.constants, most_names, "constants");
      roles.constants.push_back({output, constant});
    }
    const auto* const found = std::ranges::find(input_roles, op, &InputRoles::op);
    if (found == input_roles.end()) return;
    bound_container(roles.not_parameters, most_names, "running statistics and scales");
    bound_container(roles.quantised, most_names, "quantised weights");
    bound_container(roles.if_small, most_names, "tables that are looked up in");
    bound_container(roles.packed, most_names, "packed weights");
    for (std::size_t i = 0; i < std::min(count, found->roles.size()); ++i) {
      if (found->roles[i] == 'p') roles.packed[inputs[i]] = weights;
      add_role(found->roles[i], inputs[i], roles);
    }
  }

  static void add_role(char role, std::string_view name, Roles& roles) {
    if (role == 's') roles.not_parameters.insert(name);
    if (role == 't') roles.if_small.insert(name);
    if (role != 'w' || !roles.quantised.insert(name).second) return;
    // ONNX Runtime multiplies by the scale of W_quantized elsewhere, and calls it so.
    constexpr std::string_view ending = "_quantized";
    if (!name.ends_with(ending)) return;
    const std::string base(name.substr(0, name.size() - ending.size()));
    roles.not_parameters_either.insert(base + "_scale");
    roles.not_parameters_either.insert(base + "_zero_point");
  }

  struct ReadAttribute {
    std::uint64_t size = 1;  // of packed weights along one axis: the attribute K or N; 1 of any other
    data_view tensor;        // the last, of a sparse one its values
  };

  ReadAttribute read_attribute(data_view view) {
    std::string_view name;
    data_view tensor;
    std::int64_t value = 1;
    pbf_message<onnx_field::Attribute> attribute(view);
    while (attribute.next()) {
      switch (attribute.tag()) {
        case onnx_field::Attribute::name: name = read_text(attribute); break;
        case onnx_field::Attribute::i: value = read_integer(attribute); break;
        case onnx_field::Attribute::t:
        case onnx_field::Attribute::tensors:
          tensor = read_view(attribute);
          keep_external(read_onnx_tensor(tensor));
          break;
        case onnx_field::Attribute::g:
        case onnx_field::Attribute::graphs: later(read_view(attribute)); break;
        case onnx_field::Attribute::sparse_tensor:
        case onnx_field::Attribute::sparse_tensors: tensor = read_sparse(read_view(attribute)); break;
        default: attribute.skip();
      }
    }
    const bool is_size = (name == "K" || name == "N") && value > 0;
    return {.size = is_size ? static_cast<std::uint64_t>(value) : 1, .tensor = tensor};
  }

  // Returns its values.
  data_view read_sparse(data_view view) {
    data_view values;
    pbf_message<onnx_field::SparseTensor> sparse(view);
    while (sparse.next()) {
      const bool is_values = sparse.tag() == onnx_field::SparseTensor::values;
      if (!is_values && sparse.tag() != onnx_field::SparseTensor::indices) {
        sparse.skip();
        continue;
      }
      const data_view tensor = read_view(sparse);  // and it has no tag any more where protozero checks itself
      if (is_values) values = tensor;
      keep_external(read_onnx_tensor(tensor));
    }
    return values;
  }

  void add_initializer(data_view view, const Roles& roles) {
    OnnxTensor tensor = read_onnx_tensor(view);
    add_parameters(view, tensor, roles);
    keep_external(std::move(tensor));
  }

  // A few numbers are those of a formula, which frameworks do not count either: the 0.5 of a GELU, scales, mean
  // colours.
  void add_constants(const Roles& roles) {
    for (const auto& [name, view] : roles.constants) {
      OnnxTensor tensor = read_onnx_tensor(view);
      tensor.name = {name.data(), name.size()};
      if (tensor.elements > most_of_formula) add_parameters(view, tensor, roles);
    }
  }

  void add_parameters(data_view view, const OnnxTensor& tensor, const Roles& roles) {
    if (!roles.is_parameter(tensor)) return;
    const auto packed = roles.packed.find(summary_text(tensor.name));
    const std::uint64_t elements = packed == roles.packed.end() ? tensor.elements : packed->second;
    const bool overflow = __builtin_add_overflow(summary_.parameters, elements, &summary_.parameters);
    if (overflow) throw Refused{"its weights have more elements than there can be"};
    if (packed == roles.packed.end()) {
      add_nonzero(view, tensor);
    } else {
      summary_.nonzero_parameters.reset();
    }
  }

  void add_nonzero(data_view view, const OnnxTensor& tensor) {
    const bool is_unsigned = tensor.dtype == DType::uint8 || tensor.dtype == DType::uint4;
    const auto nonzero = is_unsigned ? std::nullopt : count_nonzero(view, tensor);
    auto& sum = summary_.nonzero_parameters;
    sum = sum && nonzero ? std::optional(*sum + *nonzero) : std::nullopt;
  }

  void keep_external(OnnxTensor tensor) {
    if (!tensor.external) return;
    bound_container(summary_.external, most_external, "tensors with external data");
    summary_.external.push_back(std::move(*tensor.external));
  }

  OnnxSummary summary_;
  data_view main_graph_;
  bool has_graph_ = false;
  bool has_opset_ = false;
  std::vector<Part> waiting_;
};

Error not_onnx(const std::filesystem::path& file, const std::string& why) {
  return model_error(fmt::format("{} is not a whole ONNX model: {}", in_quotes(file.string()), why));
}

}  // namespace

namespace {

template <class Read>
auto read_mapped(const std::filesystem::path& file, Read read) -> Result<decltype(read(std::string_view()))> {
  INFERMETER_TRY(const auto mapped, MappedFile::open(file));
  const auto whole = [&](const Error& error) {
    return mapped.check_whole().ok() ? error : mapped.check_whole().error();
  };
  try {
    auto found = read(mapped.bytes());
    INFERMETER_TRY_DONE(mapped.check_whole());
    return found;
  } catch (const Refused& refused) {
    return whole(not_onnx(file, refused.why));
  } catch (const protozero::exception&) {
    return whole(not_onnx(file, "its contents are cut off or damaged"));
  }
}

}  // namespace

Result<OnnxSummary> read_onnx_summary(const std::filesystem::path& file) {
  auto summary = read_mapped(file, [](std::string_view bytes) { return SummaryReader().read(bytes); });
  // Where names leave it open, none is marked: a run then asks for --batch-axis.
  if (summary.ok()) static_cast<void>(mark_batch_axes(summary->inputs, {}));
  return summary;
}

Result<OnnxPorts> read_onnx_ports(const std::filesystem::path& file) {
  return read_mapped(file, [](std::string_view bytes) { return SummaryReader().ports(bytes); });
}

}  // namespace infermeter
