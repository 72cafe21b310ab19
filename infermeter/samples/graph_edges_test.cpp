#include "infermeter/samples/graph_edges.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace infermeter::graph_edges_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

ProfiledOperator op(const std::string& name, std::vector<std::string> inputs, std::vector<std::string> outputs) {
  ProfiledOperator made;
  made.name = name;
  made.inputs = std::move(inputs);
  made.outputs = std::move(outputs);
  return made;
}

TEST(GraphEdges, AnOperatorReadsWhatAnotherOneMakes) {
  const std::vector<ProfiledOperator> operators{op("conv", {"x", "w"}, {"a"}), op("relu", {"a"}, {"b"}),
                                                op("add", {"b", "a", "b"}, {"c"})};
  const GraphEdges edges = edges_of(operators);
  EXPECT_THAT(edges.from, ElementsAre(0, 1, 0));
  EXPECT_THAT(edges.to, ElementsAre(1, 2, 2)) << "each pair once";
  EXPECT_EQ(edges.left_out, 0U);
}

TEST(GraphEdges, WhatIsNotToldIsNoEdge) {
  const std::vector<ProfiledOperator> operators{op("a", {""}, {""}), op("b", {""}, {""}), op("c", {"c"}, {"c"})};
  EXPECT_THAT(edges_of(operators).from, IsEmpty()) << "neither tensors without a name nor an operator's own";
}

TEST(GraphEdges, TheFirstOfTwoMakersCounts) {
  const std::vector<ProfiledOperator> operators{op("a", {}, {"t"}), op("b", {}, {"t"}), op("c", {"t"}, {})};
  EXPECT_THAT(edges_of(operators).from, ElementsAre(0));
}

TEST(GraphEdges, MoreThanAreKeptAreCounted) {
  std::vector<std::string> tensors;
  std::vector<ProfiledOperator> operators;
  for (int i = 0; i < 400; ++i) {
    tensors.push_back("t" + std::to_string(i));
    operators.push_back(op("maker", {}, {tensors.back()}));
  }
  for (int i = 0; i < 300; ++i) operators.push_back(op("reader", tensors, {}));
  const GraphEdges edges = edges_of(operators);
  EXPECT_THAT(edges.from, SizeIs(kMostGraphEdges));
  EXPECT_THAT(edges.to, SizeIs(kMostGraphEdges));
  EXPECT_EQ(edges.left_out, 400U * 300U - kMostGraphEdges);
}

TEST(GraphEdges, ConstantsOfAModelHaveNone) {
  ModelGraph graph;
  graph.tensors = {{.name = "x", .dtype = {}, .shape = {}, .is_constant = false},
                   {.name = "scale", .dtype = {}, .shape = {}, .is_constant = true},
                   {.name = "y", .dtype = {}, .shape = {}, .is_constant = false}};
  graph.nodes = {{.name = "constant", .kind = "Constant", .inputs = {}, .outputs = {1}, .flops = {}},
                 {.name = "mul", .kind = "Mul", .inputs = {0, 1, SIZE_MAX}, .outputs = {2}, .flops = {}},
                 {.name = "relu", .kind = "Relu", .inputs = {2}, .outputs = {7}, .flops = {}}};
  const GraphEdges edges = edges_of(graph);
  EXPECT_THAT(edges.from, ElementsAre(1)) << "an index that leads nowhere counts as absent";
  EXPECT_THAT(edges.to, ElementsAre(2));
}

}  // namespace
}  // namespace infermeter::graph_edges_test
