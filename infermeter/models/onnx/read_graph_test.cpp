#include "infermeter/models/onnx/read_graph.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <onnx/onnx_pb.h>

#include <algorithm>
#include <cctype>
#include <random>

#include "infermeter/models/test_folder.hpp"
#include "infermeter/models/zoo/zoo.hpp"

namespace infermeter::read_graph_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Optional;

using Dims = std::vector<std::int64_t>;

// A small model, written down line by line.
class Model {
 public:
  explicit Model(std::int64_t opset = 17) {
    model_.set_ir_version(8);
    model_.add_opset_import()->set_version(opset);
    model_.mutable_graph()->set_name("g");
  }

  // Sizes are numbers; names are symbols; "" is neither.
  Model& input(const std::string& name, const std::vector<std::string>& shape) {
    declare(*model_.mutable_graph()->add_input(), name, shape);
    return *this;
  }
  Model& value(const std::string& name, const std::vector<std::string>& shape) {
    declare(*model_.mutable_graph()->add_value_info(), name, shape);
    return *this;
  }
  Model& weight(const std::string& name, const Dims& dims, std::size_t bytes = 0) {
    auto* const tensor = model_.mutable_graph()->add_initializer();
    tensor->set_name(name);
    tensor->set_data_type(onnx::TensorProto::FLOAT);
    for (const std::int64_t size : dims) tensor->add_dims(size);
    tensor->set_raw_data(std::string(bytes, '\0'));
    return *this;
  }
  Model& integers(const std::string& name, const Dims& values) {
    auto* const tensor = model_.mutable_graph()->add_initializer();
    tensor->set_name(name);
    tensor->set_data_type(onnx::TensorProto::INT64);
    tensor->add_dims(static_cast<std::int64_t>(values.size()));
    for (const std::int64_t value : values) tensor->add_int64_data(value);
    return *this;
  }
  Model& scalar(const std::string& name, std::int64_t value) {
    integers(name, {value});
    model_.mutable_graph()->mutable_initializer()->rbegin()->clear_dims();
    return *this;
  }
  onnx::NodeProto& node(const std::string& op, const std::vector<std::string>& inputs,
                        const std::vector<std::string>& outputs, const std::string& domain = "") {
    auto& made = *model_.mutable_graph()->add_node();
    made.set_op_type(op);
    made.set_domain(domain);
    for (const std::string& name : inputs) made.add_input(name);
    for (const std::string& name : outputs) made.add_output(name);
    return made;
  }
  onnx::ModelProto& proto() { return model_; }
  [[nodiscard]] std::string bytes() const { return model_.SerializeAsString(); }

 private:
  static void declare(onnx::ValueInfoProto& info, const std::string& name, const std::vector<std::string>& shape) {
    info.set_name(name);
    auto* const tensor = info.mutable_type()->mutable_tensor_type();
    tensor->set_elem_type(onnx::TensorProto::FLOAT);
    auto* const dims = tensor->mutable_shape();
    for (const std::string& size : shape) {
      auto* const dim = dims->add_dim();
      if (!size.empty() && std::isdigit(size.front()) != 0) {
        dim->set_dim_value(std::stoll(size));
      } else if (!size.empty()) {
        dim->set_dim_param(size);
      }
    }
  }

  onnx::ModelProto model_;
};

void set(onnx::NodeProto& node, const std::string& name, std::int64_t value) {
  auto* const attribute = node.add_attribute();
  attribute->set_name(name);
  attribute->set_type(onnx::AttributeProto::INT);
  attribute->set_i(value);
}
void set(onnx::NodeProto& node, const std::string& name, const Dims& values) {
  auto* const attribute = node.add_attribute();
  attribute->set_name(name);
  attribute->set_type(onnx::AttributeProto::INTS);
  for (const std::int64_t value : values) attribute->add_ints(value);
}
void set(onnx::NodeProto& node, const std::string& name, const std::string& text) {
  auto* const attribute = node.add_attribute();
  attribute->set_name(name);
  attribute->set_type(onnx::AttributeProto::STRING);
  attribute->set_s(text);
}

class ReadGraph : public testing::Test {
 protected:
  ModelGraph read(const std::string& bytes, std::int64_t batch = 1, const Pairs& dimensions = {}) {
    auto graph = read_model_graph(folder_.write("m.onnx", bytes), batch, dimensions);
    EXPECT_TRUE(graph.ok()) << (graph.ok() ? "" : graph.error().message);
    return graph.ok() ? std::move(graph).value() : ModelGraph{};
  }
  ModelGraph read(const Model& model, std::int64_t batch = 1, const Pairs& dimensions = {}) {
    return read(model.bytes(), batch, dimensions);
  }
  std::optional<double> flops(const Model& model, std::int64_t batch = 1) {
    const ModelGraph graph = read(model, batch);
    return graph.nodes.empty() ? std::nullopt : graph.nodes.back().flops;
  }
  static std::optional<Dims> shape(const ModelGraph& graph, const std::string& tensor) {
    const auto found = std::ranges::find(graph.tensors, tensor, &GraphTensor::name);
    return found == graph.tensors.end() ? std::nullopt : found->shape;
  }

  TestFolder folder_;
};

// He et al. 2016 and Dosovitskiy et al. 2021 give 4.1 and 17.6 G multiply-accumulates.
TEST_F(ReadGraph, CountsTheZoosModels) {
  const auto whole = [&](const char* name, std::int64_t batch) {
    const auto file = cached_zoo_model(name, folder_ / "cache");
    EXPECT_TRUE(file.ok());
    const auto graph = read_model_graph(*file, batch, {});
    double sum = 0;
    for (const GraphNode& node : graph->nodes) sum += node.flops.value_or(1e30);
    return sum;
  };
  EXPECT_EQ(whole("resnet50", 1), 8'178'368'512);
  EXPECT_EQ(whole("resnet50", 4), 4 * 8'178'368'512.0);
}

TEST_F(ReadGraph, ConvolutionWithGroupsStridesAndDilations) {
  Model model;
  model.input("x", {"n", "8", "32", "32"}).weight("w", {16, 2, 3, 3});
  auto& conv = model.node("Conv", {"x", "w"}, {"y"});
  set(conv, "group", 4);
  set(conv, "strides", Dims{2, 2});
  set(conv, "dilations", Dims{2, 2});
  set(conv, "pads", Dims{2, 2, 2, 2});
  const ModelGraph graph = read(model, 3);
  EXPECT_THAT(shape(graph, "y"), Optional(ElementsAre(3, 16, 16, 16)));
  EXPECT_THAT(graph.nodes[0].flops, Optional(2.0 * 3 * 16 * 16 * 16 * (2 * 3 * 3)));
}

// Its work goes with the input's elements, not with the output's.
TEST_F(ReadGraph, TransposedConvolution) {
  Model model;
  model.input("x", {"1", "8", "5", "5"}).weight("w", {8, 3, 4, 4});
  set(model.node("ConvTranspose", {"x", "w"}, {"y"}), "strides", Dims{2, 2});
  EXPECT_THAT(flops(model), Optional(2.0 * 8 * 5 * 5 * (3 * 4 * 4)));
}

TEST_F(ReadGraph, BatchedProductWithBroadcast) {
  Model model;
  model.input("a", {"n", "1", "4", "5"}).weight("b", {7, 5, 6});
  model.node("MatMul", {"a", "b"}, {"y"});
  EXPECT_THAT(flops(model, 2), Optional(2.0 * 2 * 7 * 4 * 6 * 5));
}

TEST_F(ReadGraph, ProductOfVectors) {
  Model model;
  model.input("a", {"5"}).weight("b", {5});
  model.node("MatMul", {"a", "b"}, {"y"});
  EXPECT_THAT(flops(model), Optional(10.0));
}

TEST_F(ReadGraph, TransposedGemm) {
  Model model;
  model.input("a", {"3", "4"}).weight("b", {7, 3}).weight("c", {7});
  auto& gemm = model.node("Gemm", {"a", "b", "c"}, {"y"});
  set(gemm, "transA", 1);
  set(gemm, "transB", 1);
  EXPECT_THAT(flops(model), Optional(2.0 * 4 * 3 * 7));
}

TEST_F(ReadGraph, EinsumOfTwo) {
  Model model;
  model.input("a", {"2", "3", "4"}).weight("b", {2, 5, 4});
  set(model.node("Einsum", {"a", "b"}, {"y"}), "equation", "bij, bkj -> bik");
  EXPECT_THAT(flops(model), Optional(2.0 * 2 * 3 * 4 * 5));
}

TEST_F(ReadGraph, RecurrentLayer) {
  Model model;
  model.input("x", {"6", "2", "5"}).weight("w", {1, 12, 5}).weight("r", {1, 12, 3});
  set(model.node("LSTM", {"x", "w", "r"}, {"y"}), "hidden_size", 3);
  EXPECT_THAT(flops(model), Optional(2.0 * 6 * 2 * 12 * (5 + 3)));
}

TEST_F(ReadGraph, RuntimesOwnKinds) {
  Model fused;
  fused.proto().add_opset_import()->set_domain("com.microsoft");
  fused.input("x", {"1", "8", "4", "4"}).weight("w", {16, 8, 1, 1}).value("y", {"1", "16", "4", "4"});
  fused.node("FusedConv", {"x", "w"}, {"y"}, "com.microsoft");
  EXPECT_THAT(flops(fused), Optional(2.0 * 16 * 16 * 8));
  EXPECT_EQ(read(fused).nodes[0].kind, "com.microsoft.FusedConv");

  Model attention;
  attention.proto().add_opset_import()->set_domain("com.microsoft");
  attention.input("x", {"2", "10", "64"}).weight("w", {64, 192});
  attention.node("Attention", {"x", "w", ""}, {"y"}, "com.microsoft");
  EXPECT_THAT(flops(attention), Optional(2.0 * 2 * 10 * 64 * 192 + 4.0 * 2 * 10 * 10 * 64));

  Model heads;
  heads.input("q", {"2", "10", "64"}).input("k", {"2", "20", "64"}).value("y", {"2", "10", "32"});
  heads.node("MultiHeadAttention", {"q", "k", "v"}, {"y"}, "com.microsoft");
  EXPECT_THAT(flops(heads), Optional(2.0 * 2 * 10 * 20 * (64 + 32)));

  Model other;
  other.input("q", {"2", "10", "64"});
  other.node("SparseAttention", {"q"}, {"y"}, "com.microsoft");
  EXPECT_EQ(flops(other), std::nullopt);
}

TEST_F(ReadGraph, OthersHaveNoWorkAndUnknownShapesNoCount) {
  Model model;
  model.input("x", {"n", "3"});
  model.node("Relu", {"x"}, {"y"});
  EXPECT_THAT(flops(model), Optional(0.0));
  model.weight("w", {3, 3});
  model.node("Mystery", {"y"}, {"z"});
  model.node("MatMul", {"z", "w"}, {"q"});
  EXPECT_EQ(flops(model), std::nullopt);
  model.value("z", {"n", "3"});
  EXPECT_THAT(flops(model, 5), Optional(2.0 * 5 * 3 * 3));
}

TEST_F(ReadGraph, WorkInsideOfNodesIsNotKnown) {
  Model model;
  model.input("x", {"3"});
  auto& branch = model.node("If", {"x"}, {"y"});
  auto* const attribute = branch.add_attribute();
  attribute->set_name("then_branch");
  attribute->set_type(onnx::AttributeProto::GRAPH);
  attribute->mutable_g()->set_name("inner");
  EXPECT_EQ(flops(model), std::nullopt);
}

TEST_F(ReadGraph, DimensionsByPlaceByNameThenBatch) {
  Model model;
  model.input("x", {"n", "height", "width"}).input("y", {"n", "height", ""});
  model.node("Relu", {"x"}, {"a"});
  model.node("Relu", {"y"}, {"b"});
  const ModelGraph graph = read(model, 4, {{"height", "30"}, {"x.2", "40"}, {"y.2", "50"}});
  EXPECT_THAT(shape(graph, "a"), Optional(ElementsAre(4, 30, 40)));
  EXPECT_THAT(shape(graph, "b"), Optional(ElementsAre(4, 30, 50)));
  EXPECT_EQ(shape(read(model, 4), "a"), std::nullopt);
}

TEST_F(ReadGraph, DimensionThatIsNone) {
  Model model;
  model.input("x", {"n"});
  const auto file = folder_.write("m.onnx", model.bytes());
  for (const char* size : {"", "0", "-3", "12x", "9999999999999999999"}) {
    const auto graph = read_model_graph(file, 1, {{"n", size}});
    ASSERT_FALSE(graph.ok());
    EXPECT_EQ(graph.error().message,
              "dimension 'n'='" + std::string(size) + "' is not a size; give a whole number of at least 1");
  }
}

// What exporters write for x.view(x.size(0), -1): shapes that are computed.
TEST_F(ReadGraph, ShapesThatTheGraphComputes) {
  Model model;
  model.input("x", {"n", "8", "2", "2"}).integers("zero", {0}).integers("rest", {-1}).weight("w", {32, 10});
  model.node("Shape", {"x"}, {"s"});
  model.node("Gather", {"s", "zero"}, {"n"});
  set(model.node("Concat", {"n", "rest"}, {"to"}), "axis", 0);
  model.node("Reshape", {"x", "to"}, {"flat"});
  model.node("MatMul", {"flat", "w"}, {"y"});
  EXPECT_THAT(flops(model, 6), Optional(2.0 * 6 * 32 * 10));
}

// What PyTorch's exporter writes for token.expand(x.size(0), -1): ones where the size is -1.
TEST_F(ReadGraph, ShapesWithConditions) {
  Model model;
  model.input("x", {"n", "8"}).weight("token", {1, 32}).weight("w", {32, 10}).integers("minus", {-1});
  model.scalar("zero", 0).integers("start", {0}).integers("rank", {2});
  model.node("Shape", {"x"}, {"s"});
  model.node("Gather", {"s", "zero"}, {"n"});
  model.node("Unsqueeze", {"n", "start"}, {"n1"});
  set(model.node("Concat", {"n1", "minus"}, {"asked"}), "axis", std::int64_t{0});
  auto* const fill = model.node("ConstantOfShape", {"rank"}, {"ones"}).add_attribute();
  fill->set_name("value");
  fill->set_type(onnx::AttributeProto::TENSOR);
  fill->mutable_t()->set_data_type(onnx::TensorProto::INT64);
  fill->mutable_t()->add_dims(1);
  fill->mutable_t()->set_raw_data(std::string("\1\0\0\0\0\0\0\0", 8));
  model.node("Mul", {"ones", "minus"}, {"minuses"});
  model.node("Equal", {"asked", "minuses"}, {"is"});
  model.node("Where", {"is", "ones", "asked"}, {"to"});
  model.node("Expand", {"token", "to"}, {"tokens"});
  model.node("MatMul", {"tokens", "w"}, {"y"});
  EXPECT_THAT(shape(read(model, 6), "tokens"), Optional(ElementsAre(6, 32)));
  EXPECT_THAT(flops(model, 6), Optional(2.0 * 6 * 32 * 10));
  // Half of the second dimension, from there on.
  model.integers("two", {2}).integers("nine", {9}).integers("one", {1});
  model.node("Mod", {"nine", "two"}, {"odd"});
  model.node("Slice", {"s", "odd", "nine"}, {"last"});
  model.node("Div", {"last", "two"}, {"half"});
  model.node("Slice", {"x", "half", "nine", "one"}, {"z"});
  EXPECT_THAT(shape(read(model, 6), "z"), Optional(ElementsAre(6, 4)));
}

TEST_F(ReadGraph, SizesThatAreNone) {
  Model model;
  model.input("x", {"2"}).integers("none", {}).integers("big", {INT64_MAX, INT64_MIN}).integers("0", {0});
  model.node("Mul", {"big", "big"}, {"a"});
  model.node("Div", {"big", "0"}, {"b"});
  model.node("Mod", {"big", "0"}, {"c"});
  model.node("Gather", {"big", "big"}, {"d"});
  model.node("Slice", {"big", "big", "big"}, {"e"});
  model.node("Add", {"none", "big"}, {"f"});
  model.node("ConstantOfShape", {"big"}, {"g"});
  model.node("Slice", {"none", "0", "0"}, {"h"});
  model.node("Reshape", {"x", "big"}, {"i"});
  EXPECT_EQ(read(model).nodes.size(), 9U);
}

// An older ONNX than the file's takes no axes for all axes.
TEST_F(ReadGraph, ReductionsOfNewerOperatorSets) {
  Model model(18);
  model.input("x", {"2", "3", "4"}).integers("axes", {2}).weight("w", {3, 5});
  set(model.node("ReduceMean", {"x", "axes"}, {"m"}), "keepdims", std::int64_t{0});
  model.node("MatMul", {"m", "w"}, {"y"});
  EXPECT_THAT(shape(read(model), "m"), Optional(ElementsAre(2, 3)));
  EXPECT_THAT(flops(model), Optional(2.0 * 2 * 3 * 5));
}

TEST_F(ReadGraph, OperatorsNewerThanTheInstalledOnnx) {
  Model model(23);
  model.input("x", {"2", "3"}).weight("w", {3, 5});
  model.node("Gelu", {"x"}, {"m"});
  model.node("MatMul", {"m", "w"}, {"y"});
  EXPECT_THAT(flops(model), Optional(2.0 * 2 * 3 * 5));
}

TEST_F(ReadGraph, ContradictionsOfTheFileAreLeftOut) {
  Model model;
  model.input("x", {"n", "3"}).weight("w", {3, 5}).value("y", {"n", "3"}).value("m", {"1", "77"});
  model.node("Relu", {"x"}, {"y"});
  model.node("Relu", {"y"}, {"m"});
  model.node("Relu", {"m"}, {"k"});
  EXPECT_THAT(shape(read(model, 9), "y"), Optional(ElementsAre(9, 3)));
}

TEST_F(ReadGraph, WeightsAreConstantAndNotRead) {
  Model model;
  model.input("x", {"1", "1000"}).weight("w", {1000, 2000});  // without its bytes
  model.node("MatMul", {"x", "w"}, {"y"});
  const ModelGraph graph = read(model);
  EXPECT_THAT(graph.nodes[0].flops, Optional(2.0 * 1000 * 2000));
  EXPECT_FALSE(graph.tensors[0].is_constant);
  EXPECT_TRUE(graph.tensors[1].is_constant);
  EXPECT_EQ(graph.tensors[1].dtype, "float32");
}

TEST_F(ReadGraph, NamesTellNodesApart) {
  Model model;
  model.input("x", {"3"});
  model.node("Relu", {"x"}, {"a"}).set_name("same");
  model.node("Relu", {"a"}, {"b"}).set_name("same");
  model.node("Relu", {"b"}, {"c"}).set_name("Relu#3");
  model.node("Relu", {"c"}, {"d"});
  std::vector<std::string> names;
  for (const GraphNode& node : read(model).nodes) names.push_back(node.name);
  EXPECT_THAT(names, ElementsAre("Relu#0", "Relu#1", "Relu#3", "Relu#3#"));
}

TEST_F(ReadGraph, AbsentInputsKeepTheirPlace) {
  Model model;
  model.input("x", {"3"}).weight("top", {});
  model.node("Clip", {"x", "", "top"}, {"y"});
  EXPECT_THAT(read(model).nodes[0].inputs, ElementsAre(0, SIZE_MAX, 1));
}

TEST_F(ReadGraph, OptimisedGraphIsTakenAsItIs) {
  Model model;
  model.input("x", {"n", "3"}).weight("w", {3, 5}).value("y", {"2", "5"});
  model.node("MatMul", {"x", "w"}, {"y"});
  const auto graph = read_graph_bytes(model.bytes());
  ASSERT_TRUE(graph.ok());
  EXPECT_EQ(shape(*graph, "x"), std::nullopt);
  EXPECT_THAT(shape(*graph, "y"), Optional(ElementsAre(2, 5)));
}

TEST_F(ReadGraph, WhatIsNoGraphIsRefused) {
  for (const std::string bytes : {"\x01", "hello, this is text", "\x08\x08"}) {
    const auto graph = read_graph_bytes(bytes);
    ASSERT_FALSE(graph.ok());
    EXPECT_THAT(graph.error().message, HasSubstr("the graph of a runtime's optimised model cannot be read: "));
  }
  Model model;
  model.weight("w", {-4});
  EXPECT_THAT(read_graph_bytes(model.bytes()).error().message, HasSubstr("tensor 'w' has a negative dimension"));
}

// ONNX divides by strides, and looks behind the dimensions that are there.
TEST_F(ReadGraph, AttributesFromHell) {
  for (const std::int64_t bad : {std::int64_t{0}, std::int64_t{-1}, INT64_MAX, INT64_MIN}) {
    Model model;
    model.input("x", {"1", "8", "4", "4"}).weight("w", {8, 8, 3, 3});
    auto& conv = model.node("Conv", {"x", "w"}, {"y"});
    set(conv, "strides", Dims{bad, bad});
    set(model.node("MaxPool", {"x"}, {"z"}), "kernel_shape", Dims{bad, bad});
    set(model.node("LayerNormalization", {"x", "w"}, {"l"}), "axis", bad);
    set(model.node("Concat", {"x", "x"}, {"c"}), "axis", bad);
    set(model.node("Transpose", {"x"}, {"t"}), "perm", Dims{bad, bad, bad, bad});
    set(model.node("DepthToSpace", {"x"}, {"d"}), "blocksize", bad);
    const ModelGraph graph = read(model);
    EXPECT_EQ(graph.nodes.size(), 6U);
    EXPECT_EQ(shape(graph, "y"), std::nullopt);
  }
}

TEST_F(ReadGraph, DamagedBytesAreReadOrRefused) {
  Model model;
  model.input("x", {"n", "8", "8", "8"}).weight("w", {8, 2, 3, 3}, 16).integers("to", {0, -1});
  set(model.node("Conv", {"x", "w"}, {"y"}), "group", 4);
  set(model.node("LayerNormalization", {"y", "w"}, {"l"}), "axis", 1);
  model.node("Reshape", {"l", "to"}, {"z"});
  set(model.node("Transpose", {"z"}, {"t"}), "perm", Dims{1, 0});
  model.node("MatMul", {"z", "t"}, {"q"});
  const std::string whole = model.bytes();
  std::mt19937 random(7);
  std::size_t refused = 0, read = 0;
  for (int i = 0; i < 2000; ++i) {
    std::string bytes = whole;
    for (auto changes = 1 + random() % 3; changes > 0; --changes) {
      bytes[random() % bytes.size()] = static_cast<char>(random() % 4 == 0 ? 255 : random() % 256);
    }
    if (random() % 8 == 0) bytes.resize(random() % bytes.size());
    read_model_graph(folder_.write("damaged.onnx", bytes), 2, {}).ok() ? ++read : ++refused;
  }
  EXPECT_GT(read, 200U);
  EXPECT_GT(refused, 200U);
}

// Each node makes a shape of the longest kind; a file of a few MB would take some GB.
TEST_F(ReadGraph, ShapesOfShapesAreBounded) {
  Model model;
  model.integers("s", Dims(512, 1));
  constexpr int nodes = 5000;
  for (int i = 0; i < nodes; ++i) set(model.node("Concat", {"s", "s"}, {"c" + std::to_string(i)}), "axis", 0);
  auto& wide = model.node("Concat", {}, {"wide"});
  for (int i = 0; i < 100'000; ++i) wide.add_input("s");
  set(wide, "axis", 0);
  const ModelGraph graph = read(model);
  EXPECT_EQ(shape(graph, "c0"), Dims{1024});
  EXPECT_EQ(graph.nodes.size(), nodes + 1U);
}

}  // namespace
}  // namespace infermeter::read_graph_test
