#include "infermeter/profile/operators/attribution.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cstdint>
#include <set>

namespace infermeter::attribution_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Optional;

// A graph, written down node by node; every tensor has `elements` float32 values.
class Graph {
 public:
  Graph& weight(const std::string& name, std::int64_t elements = 10) {
    graph_.tensors[tensor(name, elements)].is_constant = true;
    return *this;
  }
  Graph& node(const std::string& kind, const std::string& name, const std::vector<std::string>& inputs,
              const std::vector<std::string>& outputs, double flops = 0) {
    GraphNode made{.name = name, .kind = kind, .inputs = {}, .outputs = {}, .flops = flops};
    for (const auto& input : inputs) made.inputs.push_back(tensor(input, 100));
    for (const auto& output : outputs) made.outputs.push_back(tensor(output, 100));
    graph_.nodes.push_back(std::move(made));
    return *this;
  }
  [[nodiscard]] const ModelGraph& graph() const { return graph_; }

 private:
  std::size_t tensor(const std::string& name, std::int64_t elements) {
    for (std::size_t i = 0; i < graph_.tensors.size(); ++i) {
      if (graph_.tensors[i].name == name) return i;
    }
    graph_.tensors.push_back({.name = name, .dtype = "float32", .shape = std::vector{elements}, .is_constant = false});
    return graph_.tensors.size() - 1;
  }

  ModelGraph graph_;
};

ProfiledOperator operator_named(const std::string& kind, const std::string& name,
                                const std::vector<std::string>& inputs = {},
                                const std::vector<std::string>& outputs = {},
                                const std::vector<std::string>& origins = {}) {
  ProfiledOperator op;
  op.kind = kind;
  op.name = name;
  op.inputs = inputs;
  op.outputs = outputs;
  op.origin_names = origins;
  return op;
}

struct Attributed {
  std::vector<ProfiledOperator> operators;
  AttributionCheck check;
};
Attributed attributed(std::vector<ProfiledOperator> operators, const Graph& graph) {
  OperatorProfile profile;
  profile.operators = std::move(operators);
  Attributed result;
  result.check = attribute(profile, graph.graph());
  result.operators = std::move(profile.operators);
  return result;
}

// A residual block: two convolutions, their sum, its activation.
Graph block() {
  Graph graph;
  graph.weight("w1").weight("w2").weight("scale");
  graph.node("Conv", "node_1", {"x", "w1"}, {"conv1"}, 1000);
  graph.node("BatchNormalization", "node_2", {"conv1", "scale"}, {"bn1"});
  graph.node("Relu", "node_3", {"bn1"}, {"relu1"});
  graph.node("Conv", "node_4", {"relu1", "w2"}, {"conv2"}, 2000);
  graph.node("BatchNormalization", "node_5", {"conv2", "scale"}, {"bn2"});
  graph.node("Add", "node_6", {"relu1", "bn2"}, {"sum"});
  graph.node("Relu", "node_7", {"sum"}, {"y"});
  return graph;
}

TEST(Attribution, OnnxRuntimesBlockedConvolutions) {
  const Attributed result = attributed(
      {
          operator_named("Conv", "relu1_nchwc", {"x", "reorder"}, {"reorder_token_0"}),
          operator_named("Conv", "bn2_nchwc", {"reorder_token_0", "reorder_1"}, {"reorder_token_2"}),
          operator_named("ReorderOutput", "ReorderOutput", {"reorder_token_2"}, {"y"}),
      },
      block());
  EXPECT_THAT(result.operators[0].nodes, ElementsAre("node_1", "node_2", "node_3"));
  EXPECT_THAT(result.operators[1].nodes, ElementsAre("node_4", "node_5", "node_6", "node_7"));
  EXPECT_THAT(result.operators[2].nodes, IsEmpty());
  EXPECT_EQ(result.operators[1].rule, OriginRule::suffix);
  EXPECT_EQ(result.operators[2].rule, OriginRule::none);
  EXPECT_THAT(result.operators[1].flops, Optional(2000.0));
  EXPECT_EQ(result.check.owned, 7U);
  EXPECT_EQ(result.check.nodes, 7U);
  EXPECT_THAT(result.check.doubtful, IsEmpty());
}

TEST(Attribution, OpenVinosOrigins) {
  const Attributed result = attributed(
      {
          operator_named("Reorder", "x_abcd_acdb_Multiply_9", {"x"}, {"x_abcd_acdb_Multiply_9"}),
          operator_named("Convolution", "Multiply_9", {"x_abcd_acdb_Multiply_9"}, {"Multiply_9"}, {"node_2", "relu1"}),
          operator_named("Convolution", "Multiply_12", {"Multiply_9"}, {"Multiply_12"}, {"node_5", "node_6", "node_7"}),
      },
      block());
  EXPECT_THAT(result.operators[0].nodes, IsEmpty());
  EXPECT_THAT(result.operators[1].nodes, ElementsAre("node_1", "node_2", "node_3"));
  EXPECT_EQ(result.operators[1].rule, OriginRule::tensor);
  EXPECT_THAT(result.operators[2].nodes, ElementsAre("node_4", "node_5", "node_6", "node_7"));
  EXPECT_EQ(result.operators[2].rule, OriginRule::exact);
}

TEST(Attribution, RuntimesAdditionBehindASlash) {
  Graph graph;
  graph.weight("w").weight("b");
  graph.node("MatMul", "node_MatMul_11", {"x", "w"}, {"product"}, 500);
  graph.node("Add", "node_Add_12", {"product", "b"}, {"y"});
  const Attributed result =
      attributed({operator_named("Gemm", "node_MatMul_11/MatMulAddFusion/", {"x", "w", "b"}, {"y"})}, graph);
  EXPECT_THAT(result.operators[0].nodes, ElementsAre("node_MatMul_11", "node_Add_12"));
  EXPECT_EQ(result.operators[0].rule, OriginRule::suffix);
}

// OpenVINO transposes a weight under the product's name.
TEST(Attribution, MovingOperatorsExecuteNoProduct) {
  Graph graph;
  graph.weight("w").weight("b");
  graph.node("MatMul", "proj.matmul", {"x", "w"}, {"proj.matmul"}, 500);
  graph.node("Add", "proj", {"proj.matmul", "b"}, {"proj"});
  graph.node("Transpose", "flip", {"proj"}, {"flip"});
  const Attributed result = attributed(
      {
          operator_named("Transpose", "proj.matmul/transpose_b", {"w"}, {"t"}, {"proj.matmul/transpose_b"}),
          operator_named("FullyConnected", "proj", {"x", "t"}, {"proj"}, {"proj"}),
          operator_named("Reorder", "flip", {"proj"}, {"flip"}, {"flip"}),
      },
      graph);
  EXPECT_THAT(result.operators[0].nodes, IsEmpty());
  EXPECT_THAT(result.operators[1].nodes, ElementsAre("proj.matmul", "proj"));
  EXPECT_THAT(result.operators[2].nodes, ElementsAre("flip"));
}

// The nodes of a decomposed function go to what was fused of them, not to the product before them.
TEST(Attribution, WhatLiesBetweenAnOperatorsTensors) {
  Graph graph;
  graph.weight("w").weight("b").weight("two");
  graph.node("MatMul", "m", {"x", "w"}, {"m"}, 500);
  graph.node("Add", "a", {"m", "b"}, {"a"});
  graph.node("Div", "d", {"a", "two"}, {"d"});
  graph.node("Erf", "e", {"d"}, {"e"});
  graph.node("Mul", "g", {"a", "e"}, {"g"});
  const Attributed result = attributed(
      {operator_named("MatMul", "m", {"x", "w"}, {"m"}), operator_named("BiasGelu", "BiasGelu", {"m", "b"}, {"g"})},
      graph);
  EXPECT_THAT(result.operators[0].nodes, ElementsAre("m"));
  EXPECT_THAT(result.operators[1].nodes, ElementsAre("a", "d", "e", "g"));
  EXPECT_EQ(result.operators[1].rule, OriginRule::tensor);
  // In float32: m, b, g, and not what stays inside.
  EXPECT_THAT(result.operators[1].moved_bytes, Optional(4.0 * (100 + 10 + 10 + 100)));
}

// Of two operators that make an orphan's inputs it belongs to the one that executes later.
TEST(Attribution, SumGoesWithItsLaterTerm) {
  Graph graph;
  graph.weight("w");
  graph.node("Conv", "left", {"x", "w"}, {"l"}, 1).node("Conv", "right", {"x", "w"}, {"r"}, 1);
  graph.node("Add", "sum", {"r", "l"}, {"y"});
  const auto owners = [&](const std::string& first, const std::string& second) {
    return attributed({operator_named("Conv", first), operator_named("Conv", second)}, graph).operators[1].nodes;
  };
  EXPECT_THAT(owners("left", "right"), ElementsAre("right", "sum"));
  EXPECT_THAT(owners("right", "left"), ElementsAre("left", "sum"));
}

TEST(Attribution, TheSurerNameWins) {
  Graph graph;
  graph.node("Relu", "act", {"x"}, {"t"}).node("Relu", "t", {"t"}, {"y"});
  const Attributed result = attributed({operator_named("Relu", "act/copy"), operator_named("Relu", "act")}, graph);
  EXPECT_THAT(result.operators[0].nodes, IsEmpty());
  EXPECT_THAT(result.operators[1].nodes, ElementsAre("act", "t"));
  // A node's name goes before a tensor's.
  EXPECT_THAT(attributed({operator_named("Relu", "t")}, graph).operators[0].rule, OriginRule::exact);
}

TEST(Attribution, NumberOfProductsThatTheKindDoesNotSay) {
  Graph graph;
  graph.weight("w");
  graph.node("MatMul", "one", {"x", "w"}, {"a"}, 10).node("MatMul", "two", {"a", "w"}, {"y"}, 10);
  graph.node("Relu", "act", {"y"}, {"z"});
  const auto doubtful = [&](const std::string& kind, const std::vector<std::string>& origins) {
    return attributed({operator_named(kind, "op", {}, {}, origins)}, graph).check.doubtful;
  };
  EXPECT_THAT(doubtful("MatMul", {"one", "two"}), ElementsAre("op"));
  EXPECT_THAT(doubtful("Relu", {"one", "act"}), ElementsAre("op"));
  EXPECT_THAT(doubtful("com.microsoft.Attention", {"one", "two"}), IsEmpty());
  EXPECT_THAT(doubtful("Subgraph", {"one", "two"}), IsEmpty());
  EXPECT_THAT(doubtful("TensorRT_main_graph", {"one", "two", "act"}), IsEmpty());
  EXPECT_EQ(attributed({operator_named("Relu", "op", {}, {}, {"one", "act"})}, graph).operators[0].rule,
            OriginRule::inferred);
}

// Shapes computed from known ones, and constants, are folded: nobody executes them, and nobody has to.
TEST(Attribution, FoldedNodesNeedNoOwner) {
  Graph graph;
  graph.weight("two");
  graph.node("Relu", "act", {"x"}, {"t"}).node("Shape", "shape", {"t"}, {"s"});
  graph.node("Mul", "half", {"s", "two"}, {"h"}).node("Reshape", "flat", {"t", "h"}, {"y"});
  const Attributed result = attributed({operator_named("Relu", "act"), operator_named("Reshape", "flat")}, graph);
  EXPECT_EQ(result.check.nodes, 2U);
  EXPECT_EQ(result.check.owned, 2U);
  EXPECT_THAT(result.check.unowned, IsEmpty());
  // One that executes them all the same owns them.
  EXPECT_THAT(attributed({operator_named("Shape", "shape")}, graph).operators[0].nodes, testing::Contains("shape"));
}

TEST(Attribution, NobodyNearMeansUnowned) {
  Graph graph;
  graph.node("Relu", "here", {"x"}, {"t"}).node("Relu", "apart", {"z"}, {"y"});
  const Attributed result = attributed({operator_named("Relu", "here")}, graph);
  EXPECT_THAT(result.check.unowned, ElementsAre("apart"));
  EXPECT_EQ(result.check.owned, 1U);
}

// OpenVINO executes a normalisation as MVN, which says nothing of it, and as what has its name.
TEST(Attribution, PartOfANode) {
  Graph graph;
  graph.weight("w");
  graph.node("LayerNormalization", "ln", {"x", "w"}, {"ln"});
  const Attributed result = attributed(
      {
          operator_named("MVN", "MVN_7", {"x"}, {"MVN_7"}, {"MVN_7"}),
          operator_named("Subgraph", "ln", {"MVN_7"}, {"ln"}, {"Multiply_3", "ln"}),
          operator_named("Reorder", "ln_f32_bf16", {"ln"}, {"out"}),
      },
      graph);
  EXPECT_THAT(result.operators[0].nodes, ElementsAre("ln"));
  EXPECT_EQ(result.operators[0].rule, OriginRule::inferred);
  EXPECT_EQ(result.operators[0].flops, std::nullopt);
  EXPECT_EQ(result.operators[1].rule, OriginRule::exact);
  EXPECT_THAT(result.operators[2].nodes, IsEmpty());
}

TEST(Attribution, BytesInTheExecutedPrecision) {
  Graph graph = block();
  auto convolution = operator_named("Convolution", "c", {}, {}, {"node_1", "node_2", "node_3"});
  auto rest = operator_named("Convolution", "d", {}, {}, {"node_4", "node_5", "node_6", "node_7"});
  // x, w1, scale, relu1; then relu1 (once, though read twice), w2, scale, y.
  const double elements = 100 + 10 + 10 + 100;
  for (const auto& [precision, bytes] : {std::pair{"", 4.0}, {"float32", 4.0}, {"bfloat16", 2.0}, {"int8", 1.0}}) {
    convolution.precision = rest.precision = precision;
    const Attributed result = attributed({convolution, rest}, graph);
    EXPECT_THAT(result.operators[0].moved_bytes, Optional(bytes * elements)) << precision;
    EXPECT_THAT(result.operators[1].moved_bytes, Optional(bytes * elements)) << precision;
  }
}

TEST(Attribution, UnknownWorkAndShapesAreNotGuessed) {
  ModelGraph graph = block().graph();
  graph.nodes[0].flops.reset();
  graph.tensors[graph.nodes[3].inputs[1]].shape.reset();
  OperatorProfile profile;
  profile.operators = {operator_named("Conv", "relu1_nchwc"), operator_named("Conv", "bn2_nchwc")};
  (void)attribute(profile, graph);
  EXPECT_EQ(profile.operators[0].flops, std::nullopt);
  EXPECT_TRUE(profile.operators[0].moved_bytes);
  EXPECT_THAT(profile.operators[1].flops, Optional(2000.0));
  EXPECT_EQ(profile.operators[1].moved_bytes, std::nullopt);
}

TEST(Attribution, NamesFromHell) {
  std::vector<ProfiledOperator> operators;
  const std::vector<std::string> names = {"", "/", "//", "_nchwc", "/_nchwc", std::string(1'000'000, '/')};
  for (const std::string& name : names) {
    operators.push_back(operator_named("", name, {name}, {name}, {name, ""}));
  }
  const Attributed result = attributed(operators, block());
  EXPECT_EQ(result.check.owned, 0U);
  EXPECT_EQ(attributed({}, block()).check.unowned.size(), 7U);
  EXPECT_EQ(attributed(operators, Graph()).check.nodes, 0U);
}

// Graphs and operators of any kind, with names and edges that lead nowhere or anywhere.
std::string drawn_name() {
  const auto number = *rc::gen::inRange(0, 30);
  return *rc::gen::elementOf(std::vector<std::string>{"n", "t", "unknown"}) + std::to_string(number) +
         *rc::gen::elementOf(std::vector<std::string>{"", "", "", "_nchwc", "/Fusion/"});
}

ModelGraph drawn_graph() {
  ModelGraph graph;
  for (int i = 0; i < 30; ++i) {
    graph.tensors.push_back({.name = "t" + std::to_string(i),
                             .dtype = "float32",
                             .shape = std::vector<std::int64_t>{8},
                             .is_constant = *rc::gen::inRange(0, 8) == 0});
  }
  const auto nodes = *rc::gen::inRange(0, 25);
  const auto kinds = std::vector<std::string>{"Conv", "Add", "Relu", "Reshape", "Shape"};
  for (int i = 0; i < nodes; ++i) {
    GraphNode node{
        .name = "n" + std::to_string(i), .kind = *rc::gen::elementOf(kinds), .inputs = {}, .outputs = {}, .flops = {}};
    if (*rc::gen::inRange(0, 8) != 0) node.flops = node.kind == "Conv" ? 100 : 0;
    for (auto left = *rc::gen::inRange(0, 3); left > 0; --left) {
      const auto tensor = *rc::gen::inRange<std::size_t>(0, 33);
      node.inputs.push_back(tensor == 32 ? SIZE_MAX : tensor);
    }
    for (auto left = *rc::gen::inRange(0, 3); left > 0; --left) {
      node.outputs.push_back(*rc::gen::inRange<std::size_t>(0, 31));
    }
    graph.nodes.push_back(std::move(node));
  }
  return graph;
}

RC_GTEST_PROP(AttributionOfAnything, OwnsEveryNodeOnceAtMost, ()) {
  const ModelGraph graph = drawn_graph();
  OperatorProfile profile;
  const auto kinds = std::vector<std::string>{"Conv", "Add", "Reorder", "Reshape", "Subgraph", "MVN"};
  for (auto left = *rc::gen::inRange(0, 20); left > 0; --left) {
    const auto names = [] { return std::vector<std::string>{drawn_name(), drawn_name()}; };
    profile.operators.push_back(operator_named(*rc::gen::elementOf(kinds), drawn_name(), names(), names(), names()));
  }
  const AttributionCheck check = attribute(profile, graph);
  RC_ASSERT(check.owned + check.unowned.size() == check.nodes);
  RC_ASSERT(check.nodes <= graph.nodes.size());
  std::set<std::string> owned;
  for (const ProfiledOperator& op : profile.operators) {
    RC_ASSERT((op.rule == OriginRule::none) == op.nodes.empty());
    // All shapes are known here: only operators that do a part of a node have no bytes.
    if (!op.moved_bytes) continue;
    for (const std::string& node : op.nodes) RC_ASSERT(owned.insert(node).second);
  }
  RC_ASSERT(owned.size() == check.owned);
  for (const std::string& node : check.unowned) RC_ASSERT(!owned.contains(node));
  // Attribution of what has been attributed is the same.
  const auto once = profile.operators;
  (void)attribute(profile, graph);
  for (std::size_t op = 0; op < once.size(); ++op) RC_ASSERT(once[op].nodes == profile.operators[op].nodes);
}

}  // namespace
}  // namespace infermeter::attribution_test
