#include "infermeter/models/onnx/infer_types.hpp"

#include <fmt/format.h>
#include <onnx/defs/schema.h>
#include <onnx/onnx_pb.h>
#include <onnx/shape_inference/implementation.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <exception>
#include <iterator>
#include <new>
#include <string_view>
#include <unordered_set>

#include "infermeter/data/batch_axis.hpp"
#include "infermeter/models/onnx/shape_values.hpp"
#include "infermeter/text/quoted.hpp"

namespace infermeter {
namespace {

using Weights = std::unordered_map<std::string_view, const OnnxWeight*>;

constexpr std::uint64_t most_elements_of_a_shape = 1024;
constexpr std::int64_t most_extent = std::int64_t{1} << 31U;

// Operators that the installed ONNX may not know, whose first output is like their first input.
constexpr std::array<std::string_view, 14> same_shape = {
    "BiasGelu",
    "BitwiseNot",
    "CastLike",
    "FastGelu",
    "Gelu",
    "GroupNormalization",
    "LayerNormalization",  // known, but its inference does not look whether its axis is one
    "Mish",
    "QuickGelu",
    "RMSNormalization",
    "RotaryEmbedding",
    "SimplifiedLayerNormalization",
    "SkipLayerNormalization",
    "Swish",
};

// Operators whose inference stood up to damaged models; others' reads what may not be there.
constexpr std::array<std::string_view, 121> inferred_operators = {
    "Abs",
    "Acos",
    "Add",
    "And",
    "ArgMax",
    "ArgMin",
    "Asin",
    "Atan",
    "AveragePool",
    "BatchNormalization",
    "Cast",
    "Ceil",
    "Celu",
    "Clip",
    "Concat",
    "Constant",
    "ConstantOfShape",
    "Conv",
    "ConvInteger",
    "ConvTranspose",
    "Cos",
    "CumSum",
    "DepthToSpace",
    "DequantizeLinear",
    "Div",
    "Dropout",
    "Einsum",
    "Elu",
    "Equal",
    "Erf",
    "Exp",
    "Expand",
    "Flatten",
    "Floor",
    "GRU",
    "Gather",
    "GatherElements",
    "GatherND",
    "Gemm",
    "GlobalAveragePool",
    "GlobalMaxPool",
    "Greater",
    "GreaterOrEqual",
    "HardSigmoid",
    "HardSwish",
    "Hardmax",
    "Identity",
    "InstanceNormalization",
    "LRN",
    "LSTM",
    "LeakyRelu",
    "Less",
    "LessOrEqual",
    "Log",
    "LogSoftmax",
    "LpNormalization",
    "LpPool",
    "MatMul",
    "MatMulInteger",
    "Max",
    "MaxPool",
    "Mean",
    "Min",
    "Mod",
    "Mul",
    "Neg",
    "Not",
    "OneHot",
    "Or",
    "PRelu",
    "Pad",
    "Pow",
    "QLinearConv",
    "QLinearMatMul",
    "QuantizeLinear",
    "RNN",
    "Range",
    "Reciprocal",
    "ReduceL1",
    "ReduceL2",
    "ReduceLogSum",
    "ReduceLogSumExp",
    "ReduceMax",
    "ReduceMean",
    "ReduceMin",
    "ReduceProd",
    "ReduceSum",
    "ReduceSumSquare",
    "Relu",
    "Reshape",
    "Resize",
    "Round",
    "ScatterElements",
    "ScatterND",
    "Selu",
    "Shape",
    "Sigmoid",
    "Sign",
    "Sin",
    "Size",
    "Slice",
    "Softmax",
    "Softplus",
    "Softsign",
    "SpaceToDepth",
    "Split",
    "Sqrt",
    "Squeeze",
    "Sub",
    "Sum",
    "Tan",
    "Tanh",
    "ThresholdedRelu",
    "Tile",
    "TopK",
    "Transpose",
    "Trilu",
    "Unsqueeze",
    "Upsample",
    "Where",
    "Xor",
};

Weights weights_of(const OnnxGraph& graph) {
  Weights weights;
  for (const OnnxWeight& weight : graph.weights) weights.emplace(weight.name, &weight);
  return weights;
}

Result<std::unordered_map<std::string, std::int64_t>> sizes_from(const Pairs& dimensions) {
  std::unordered_map<std::string, std::int64_t> sizes;
  for (const auto& [name, text] : dimensions) {
    std::int64_t size = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), size);
    if (error != std::errc{} || end != text.data() + text.size() || size < 1 || size >= most_extent) {
      return usage_error(fmt::format("dimension {}={} is not a size; give a whole number of at least 1",
                                     in_quotes(name), in_quotes(text)));
    }
    sizes.emplace(name, size);
  }
  return sizes;
}

void set_named(std::vector<Port>& ports, const std::unordered_map<std::string, std::int64_t>& sizes) {
  for (Port& port : ports) {
    for (std::size_t axis = 0; axis < port.shape.size(); ++axis) {
      if (port.shape[axis] >= 0 || axis >= port.dimension_names.size()) continue;
      const auto found = sizes.find(port.dimension_names[axis]);
      if (found != sizes.end() && !port.dimension_names[axis].empty()) port.shape[axis] = found->second;
    }
  }
}

// Types as they become known, node by node; unknown dimensions are -1.
struct PartialType {
  DType dtype = DType::undefined;
  std::optional<Shape> shape;  // nullopt: not even the rank
};

void set_type(onnx::ValueInfoProto& info, const std::string& name, const PartialType& type) {
  info.set_name(name);
  auto* const tensor = info.mutable_type()->mutable_tensor_type();
  tensor->set_elem_type(static_cast<int>(type.dtype));
  if (!type.shape) return;
  auto* const dims = tensor->mutable_shape();
  for (const std::int64_t size : *type.shape) {
    auto* const dim = dims->add_dim();
    if (size >= 0) dim->set_dim_value(size);
  }
}

std::optional<PartialType> type_from(const onnx::TypeProto& proto) {
  if (!proto.has_tensor_type()) return std::nullopt;
  const auto& tensor = proto.tensor_type();
  PartialType type;
  const int number = tensor.elem_type();
  if (number <= 0 || number > static_cast<int>(DType::float4e2m1)) return std::nullopt;
  type.dtype = static_cast<DType>(number);
  if (!tensor.has_shape()) return type;
  type.shape.emplace();
  for (const auto& dim : tensor.shape().dim()) {
    type.shape->push_back(dim.has_dim_value() && dim.dim_value() >= 0 ? dim.dim_value() : -1);
  }
  return type;
}

bool is_whole_type(const PartialType& type) {
  return type.shape && std::ranges::all_of(*type.shape, [](std::int64_t size) { return size >= 0; });
}

// ONNX divides by these: in a file from outside they may be anything.
bool is_sane(const OnnxNode& node) {
  for (const std::string_view name : {"strides", "dilations", "kernel_shape"}) {
    const auto values = integers_of(node, name);
    const auto is_extent = [](std::int64_t value) { return value >= 1 && value < most_extent; };
    if (values && !std::ranges::all_of(*values, is_extent)) return false;
  }
  for (const std::string_view name : {"group", "blocksize", "num_outputs"}) {
    const auto value = integer_of(node, name);
    if (value && (*value < 1 || *value >= most_extent)) return false;
  }
  return true;
}

bool is_small(const OnnxWeight& weight) {
  return !weight.is_external && weight.elements <= most_elements_of_a_shape &&
         weight.bytes.size() <= 16 * most_elements_of_a_shape;
}

// Of all shapes that are computed in a graph: a small file can have many nodes whose results are long. What comes after
// them has no shape that is known.
constexpr std::size_t most_computed_values = 1 << 20;

// ONNX infers a node at a time: what goes into it can be looked at before, and what it cannot infer stops nothing.
class Inference {
 public:
  explicit Inference(const OnnxGraph& graph) {
    for (const auto& [domain, version] : graph.opsets) versions_[std::string(domain)] = version;
    for (const OnnxWeight& weight : graph.weights) add_weight(weight.name, weight);
    for (const Port& input : graph.inputs) add_port(input, types_);
    for (const Port& value : graph.values) add_port(value, declared_);
    for (const Port& output : graph.outputs) add_port(output, declared_);
    for (const OnnxNode& node : graph.nodes) infer(node);
  }

  [[nodiscard]] OnnxTypes whole_types() const {
    OnnxTypes types;
    for (const auto& [name, type] : types_) {
      types.emplace(name, OnnxType{.dtype = type.dtype, .shape = is_whole_type(type) ? type.shape : std::nullopt});
    }
    return types;
  }

 private:
  using Types = std::unordered_map<std::string, PartialType>;

  static void add_port(const Port& port, Types& types) {
    if (port.kind != Value::Kind::tensor || port.is_optional || port.dtype == DType::undefined) return;
    types.emplace(port.name, PartialType{port.dtype, port.rank_known ? std::optional(port.shape) : std::nullopt});
  }

  // With its values if they may be a shape.
  void add_weight(std::string_view name, const OnnxWeight& weight) {
    if (weight.dtype == DType::undefined) return;
    if (!types_.emplace(name, PartialType{weight.dtype, weight.shape}).second || !is_small(weight)) return;
    onnx::TensorProto values;
    if (!values.ParseFromArray(weight.bytes.data(), static_cast<int>(weight.bytes.size()))) return;
    values.set_name(std::string(name));
    values_.emplace(name, std::move(values));
    if (weight.shape.size() > 1) return;
    if (auto integers = integers_in(weight)) {
      known_.emplace(name, ShapeValue{weight.dtype, weight.shape.empty(), std::move(*integers)});
    }
  }

  // A node that computes a shape of known ones: its result is like a weight.
  [[nodiscard]] bool evaluate(const OnnxNode& node) {
    if (!node.domain.empty() || node.inputs.empty() || node.outputs.size() != 1) return false;
    std::optional<ShapeValue> value;
    if (node.op == "Shape" || node.op == "Size") {
      const auto type = types_.find(std::string(node.inputs[0]));
      if (type == types_.end() || !is_whole_type(type->second)) return false;
      value = shape_as_value(node, *type->second.shape);
    } else {
      std::vector<const ShapeValue*> inputs;
      for (const std::string_view input : node.inputs) {
        const auto found = known_.find(std::string(input));
        if (found == known_.end() && !input.empty()) return false;
        inputs.push_back(found == known_.end() ? nullptr : &found->second);
      }
      value = shape_value(node, inputs);
    }
    if (!value || value->values.size() > values_left_) return false;
    values_left_ -= value->values.size();
    const std::string name(node.outputs.front());
    const Shape shape = value->is_scalar ? Shape{} : Shape{static_cast<std::int64_t>(value->values.size())};
    if (!types_.emplace(name, PartialType{value->dtype, shape}).second) return true;
    onnx::TensorProto& proto = values_[name];
    proto.set_name(name);
    proto.set_data_type(static_cast<int>(value->dtype));
    for (const std::int64_t size : shape) proto.add_dims(size);
    for (const std::int64_t number : value->values) {
      if (value->dtype == DType::int64) {
        proto.add_int64_data(number);
      } else {
        proto.add_int32_data(static_cast<std::int32_t>(number));
      }
    }
    known_.emplace(name, std::move(*value));
    return true;
  }

  void infer(const OnnxNode& node) {
    if (node.outputs.empty()) return;
    const auto value = node.op == "Constant" && node.domain.empty() ? weight_of(node, "value") : std::nullopt;
    if (value) return add_weight(node.outputs.front(), *value);
    if (evaluate(node)) return;
    if (is_known(node)) {
      run(node);
    } else if (!node.inputs.empty() && std::ranges::find(same_shape, node.op) != same_shape.end()) {
      const auto found = types_.find(std::string(node.inputs.front()));
      if (found != types_.end()) keep(std::string(node.outputs.front()), PartialType(found->second));
    }
    for (const std::string_view output : node.outputs) declare(std::string(output));
  }

  // The installed ONNX knows it, and its inference finds what it looks for.
  [[nodiscard]] bool is_known(const OnnxNode& node) const {
    if (!node.domain.empty() || node.holds_graph() || !is_sane(node)) return false;
    if (!std::ranges::binary_search(inferred_operators, node.op) || !versions_.contains("")) return false;
    const auto is_typed = [&](std::string_view input) { return input.empty() || types_.contains(std::string(input)); };
    if (!std::ranges::all_of(node.inputs, is_typed)) return false;
    if (node.op.find("Conv") == std::string_view::npos) return true;
    const std::size_t kernel = node.op == "QLinearConv" ? 3 : 1;
    return rank(node, 0) >= 3 && rank(node, 0) == rank(node, kernel);
  }

  // 0: not known.
  [[nodiscard]] std::size_t rank(const OnnxNode& node, std::size_t input) const {
    if (input >= node.inputs.size()) return 0;
    const auto found = types_.find(std::string(node.inputs[input]));
    return found == types_.end() || !found->second.shape ? 0 : found->second.shape->size();
  }

  void run(const OnnxNode& node) {
    onnx::ModelProto model;
    model.set_ir_version(8);
    model.add_opset_import()->set_version(versions_.at(""));
    onnx::GraphProto& graph = *model.mutable_graph();
    graph.set_name("g");
    std::unordered_set<std::string> seen;
    for (const std::string_view input : node.inputs) {
      std::string name(input);
      if (name.empty() || !seen.insert(name).second) continue;
      const auto values = values_.find(name);
      if (values != values_.end()) {
        *graph.add_initializer() = values->second;
      } else {
        set_type(*graph.add_input(), name, types_.at(name));
      }
    }
    if (!add_node(node, *graph.add_node())) return;
    try {
      onnx::shape_inference::InferShapes(model, onnx::OpSchemaRegistry::Instance());
    } catch (const std::bad_alloc&) {
      throw;  // says nothing of the node
    } catch (const std::exception&) {
      return;  // its inputs are not what they should be
    }
    for (const onnx::ValueInfoProto& info : graph.value_info()) {
      if (auto type = type_from(info.type())) keep(info.name(), std::move(*type));
    }
  }

  [[nodiscard]] bool add_node(const OnnxNode& node, onnx::NodeProto& added) const {
    added.set_op_type(std::string(node.op));
    for (const std::string_view input : node.inputs) added.add_input(std::string(input));
    for (const std::string_view output : node.outputs) added.add_output(std::string(output));
    for (const OnnxAttribute& attribute : node.attributes) {
      if (attribute.bytes.size() > 16 * most_elements_of_a_shape) return false;
      const int size = static_cast<int>(attribute.bytes.size());
      if (!added.add_attribute()->ParseFromArray(attribute.bytes.data(), size)) return false;
    }
    const auto version = static_cast<int>(std::clamp<std::int64_t>(versions_.at(""), 0, 1'000'000));
    const auto* const schema = onnx::OpSchemaRegistry::Instance()->GetSchema(added.op_type(), version, "");
    return schema != nullptr && (schema->since_version() >= 18 || axes_as_attribute(added));
  }

  // From version 18 on reductions have their axes as an input, which an older ONNX takes for none: all axes.
  [[nodiscard]] bool axes_as_attribute(onnx::NodeProto& node) const {
    if (!node.op_type().starts_with("Reduce") || node.op_type() == "ReduceSum" || node.input_size() < 2) return true;
    const auto axes = known_.find(node.input(1));
    if (axes == known_.end()) return false;
    node.mutable_input()->RemoveLast();
    auto* const attribute = node.add_attribute();
    attribute->set_name("axes");
    attribute->set_type(onnx::AttributeProto::INTS);
    for (const std::int64_t axis : axes->second.values) attribute->add_ints(axis);
    return true;
  }

  void keep(const std::string& name, PartialType type) { types_.emplace(name, std::move(type)); }

  // What the file says, where inference did not say all.
  void declare(const std::string& name) {
    const auto declared = declared_.find(name);
    if (declared == declared_.end()) return;
    const auto [known, is_new] = types_.emplace(name, declared->second);
    if (is_new || is_whole_type(known->second)) return;
    const auto& shape = declared->second.shape;
    if (!known->second.shape || is_whole_type(declared->second)) {
      known->second.shape = shape ? shape : known->second.shape;
    } else if (shape && shape->size() == known->second.shape->size()) {
      for (std::size_t axis = 0; axis < shape->size(); ++axis) {
        if ((*known->second.shape)[axis] < 0) (*known->second.shape)[axis] = (*shape)[axis];
      }
    }
  }

  Types types_, declared_;
  std::size_t values_left_ = most_computed_values;
  std::unordered_map<std::string, onnx::TensorProto> values_;  // of small weights
  std::unordered_map<std::string, ShapeValue> known_;          // of them and of what is computed, what may be a shape
  std::unordered_map<std::string, std::int64_t> versions_;
};

}  // namespace

Result<Done> fix_dimensions(OnnxGraph& graph, std::int64_t batch, const Pairs& dimensions, const Pairs& batch_axes) {
  INFERMETER_TRY(auto sizes, sizes_from(dimensions));
  const Weights weights = weights_of(graph);
  std::vector<Port> given;
  std::ranges::copy_if(graph.inputs, std::back_inserter(given),
                       [&](const Port& input) { return !weights.contains(input.name); });
  INFERMETER_TRY_DONE(mark_batch_axes(given, batch_axes));
  set_named(graph.inputs, sizes);
  for (Port& input : graph.inputs) {
    const auto own = std::ranges::find(given, input.name, &Port::name);
    if (own == given.end()) continue;
    for (std::size_t axis = 0; axis < input.shape.size(); ++axis) {
      const auto asked = sizes.find(place_of(input, axis));
      const bool is_batch = own->batch_axis == static_cast<std::int64_t>(axis);
      if (asked == sizes.end() && (!is_batch || batch < 1)) continue;
      const std::string& symbol = input.dimension_names[axis];
      if (input.shape[axis] >= 0 && !(asked != sizes.end() && sizes.contains(symbol))) continue;
      input.shape[axis] = asked != sizes.end() ? asked->second : batch;
      if (!symbol.empty()) sizes.emplace(symbol, input.shape[axis]);
    }
  }
  set_named(graph.inputs, sizes);
  set_named(graph.outputs, sizes);
  set_named(graph.values, sizes);
  return Done{};
}

Result<Done> fix_dimensions(std::vector<Port>& inputs, const Pairs& dimensions, const Pairs& batch_axes) {
  INFERMETER_TRY(const auto sizes, sizes_from(dimensions));
  INFERMETER_TRY_DONE(mark_batch_axes(inputs, batch_axes));
  for (Port& input : inputs) {
    for (std::size_t axis = 0; axis < input.shape.size(); ++axis) {
      const auto asked = sizes.find(place_of(input, axis));
      if (input.shape[axis] < 0 && asked != sizes.end()) input.shape[axis] = asked->second;
    }
  }
  set_named(inputs, sizes);
  return Done{};
}

std::string place_of(const Port& input, std::size_t axis) { return fmt::format("{}.{}", input.name, axis); }

OnnxTypes declared_types(const OnnxGraph& graph) {
  OnnxTypes types;
  const auto add = [&](const std::string& name, DType dtype, bool rank_known, const std::vector<std::int64_t>& shape) {
    OnnxType type{.dtype = dtype, .shape = std::nullopt};
    const bool known = rank_known && std::ranges::all_of(shape, [](std::int64_t size) { return size >= 0; });
    if (known) type.shape = shape;
    types.emplace(name, std::move(type));
  };
  for (const OnnxWeight& weight : graph.weights) add(std::string(weight.name), weight.dtype, true, weight.shape);
  for (const auto* const ports : {&graph.inputs, &graph.values, &graph.outputs}) {
    for (const Port& port : *ports) {
      if (port.kind == Value::Kind::tensor) add(port.name, port.dtype, port.rank_known, port.shape);
    }
  }
  return types;
}

OnnxTypes inferred_types(const OnnxGraph& graph) { return Inference(graph).whole_types(); }

}  // namespace infermeter
