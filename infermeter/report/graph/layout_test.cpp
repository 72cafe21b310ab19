#include "infermeter/report/graph/layout.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <random>
#include <utility>

#include "infermeter/report/graph/layers.hpp"

namespace infermeter::graph_layout_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

GraphEdges edges(std::initializer_list<std::pair<std::size_t, std::size_t>> pairs) {
  GraphEdges made;
  for (const auto& [from, to] : pairs) {
    made.from.push_back(from);
    made.to.push_back(to);
  }
  return made;
}

// A network of residual blocks: a chain in which every third node reads what came three before as well.
GraphEdges residual(std::size_t nodes) {
  GraphEdges made;
  for (std::size_t i = 1; i < nodes; ++i) {
    made.from.push_back(i - 1);
    made.to.push_back(i);
    if (i % 3 != 0) continue;
    made.from.push_back(i - 3);
    made.to.push_back(i);
  }
  return made;
}

void expect_no_overlap(const GraphLayout& layout) {
  std::map<std::uint32_t, std::vector<double>> rows;
  for (std::size_t node = 0; node < layout.x.size(); ++node) rows[layout.layer[node]].push_back(layout.x[node]);
  for (auto& [layer, row] : rows) {
    std::ranges::sort(row);
    for (std::size_t i = 1; i < row.size(); ++i) EXPECT_GE(row[i] - row[i - 1], 1.1) << "in layer " << layer;
    EXPECT_GE(row.front(), 0.5);
    EXPECT_LE(row.back(), layout.width - 0.49);
  }
}

TEST(GraphLayout, AChainIsALine) {
  const GraphLayout layout = layout_graph(4, edges({{0, 1}, {1, 2}, {2, 3}}));
  EXPECT_THAT(layout.layer, ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(layout.x, ElementsAre(0.5, 0.5, 0.5, 0.5));
  EXPECT_EQ(layout.layers, 4U);
  EXPECT_EQ(layout.width, 1.0);
}

TEST(GraphLayout, TheLongestPathDecidesAndLongEdgesHavePlaces) {
  const GraphLayout layout = layout_graph(4, edges({{0, 1}, {1, 2}, {2, 3}, {0, 3}}));
  EXPECT_THAT(layout.layer, ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(layout.bends[0], SizeIs(2)) << "one in each layer that the edge passes";
  EXPECT_EQ(layout.bends[0][0], layout.bends[0][1]) << "a long edge is straight";
  EXPECT_GT(std::abs(layout.bends[0][0] - layout.x[1]), 0.5) << "and beside the nodes there";
}

TEST(GraphLayout, LongEdgesOfOneNodeShareTheirPlaces) {
  const GraphLayout layout = layout_graph(5, edges({{0, 1}, {1, 2}, {2, 3}, {3, 4}, {0, 3}, {0, 4}}));
  EXPECT_THAT(layout.bends[0], SizeIs(3));
}

TEST(GraphLayout, TheLongestWayIsStraightWhateverStandsBesideIt) {
  // A chain of 40 with a skip over every second pair, each node of which has a conversion of its own to read as well.
  GraphEdges made = residual(40);
  for (std::size_t i = 1; i < 40; ++i) {
    made.from.push_back(40 + i - 1);
    made.to.push_back(i);
  }
  const GraphLayout layout = layout_graph(79, made);
  const auto [least, most] = std::minmax_element(layout.x.begin(), layout.x.begin() + 40);
  EXPECT_LT(*most - *least, 1.5);
  EXPECT_LT(layout.width, 5);
}

TEST(GraphLayout, WhatIsReadLateStandsAboveItsReader) {
  const GraphLayout layout = layout_graph(5, edges({{0, 1}, {1, 2}, {2, 3}, {4, 3}}));
  EXPECT_EQ(layout.layer[4], 2U);
}

TEST(GraphLayout, BranchesDoNotCross) {
  // Two chains that are reported in the other order after each node.
  const GraphLayout layout = layout_graph(6, edges({{0, 3}, {1, 2}, {2, 5}, {3, 4}}));
  const bool first_is_left = layout.x[0] < layout.x[1];
  EXPECT_EQ(layout.x[3] < layout.x[2], first_is_left);
  EXPECT_EQ(layout.x[4] < layout.x[5], first_is_left);
}

TEST(GraphLayout, CyclesEnd) {
  const GraphLayout layout = layout_graph(3, edges({{0, 1}, {1, 2}, {2, 0}, {1, 1}}));
  EXPECT_THAT(layout.layer, ElementsAre(0, 1, 2));
  const LayeredGraph graph = layered(3, edges({{0, 1}, {1, 2}, {2, 0}}));
  EXPECT_THAT(graph.targets[2], IsEmpty()) << "it points upwards";
}

TEST(GraphLayout, NodesWithoutEdgesStandApart) {
  const GraphLayout layout = layout_graph(8, edges({{0, 7}, {9, 1}}));
  EXPECT_EQ(layout.apart, 6U) << "an edge of a node that is not there is none";
  EXPECT_THAT(layout.layer, ElementsAre(0, 3, 3, 3, 3, 4, 4, 1));
  expect_no_overlap(layout);
}

TEST(GraphLayout, NoNodesAndNoEdges) {
  EXPECT_EQ(layout_graph(0, {}).layers, 0U);
  EXPECT_EQ(layout_graph(3, {}).apart, 3U);
}

TEST(GraphLayout, IsTheSameEachTime) {
  std::mt19937 random(7);
  GraphEdges made;
  for (std::size_t i = 0; i < 900; ++i) {
    const std::size_t to = 1 + random() % 499;
    made.from.push_back(random() % to);
    made.to.push_back(to);
  }
  const GraphLayout a = layout_graph(500, made), b = layout_graph(500, made);
  EXPECT_EQ(a.x, b.x);
  EXPECT_EQ(a.layer, b.layer);
  EXPECT_EQ(a.bends, b.bends);
  for (std::size_t i = 0; i < made.from.size(); ++i) EXPECT_LT(a.layer[made.from[i]], a.layer[made.to[i]]);
  expect_no_overlap(a);
}

TEST(GraphLayout, FiveThousandNodes) {
  const GraphLayout layout = layout_graph(5000, residual(5000));
  EXPECT_EQ(layout.layers, 5000U);
  EXPECT_EQ(layout.straight, 0U);
  EXPECT_LT(layout.width, 3.0) << "a skip beside a chain";
}

TEST(GraphLayout, HostileSizesAreBounded) {
  // Every node is read by the last one, so that each edge passes all layers.
  constexpr std::size_t nodes = kMostDrawnNodes + 5;
  GraphEdges made;
  for (std::size_t i = 1; i < nodes; ++i) {
    made.from.push_back(i - 1);
    made.to.push_back(i);
    made.from.push_back(i - 1);
    made.to.push_back(kMostDrawnNodes - 1);
  }
  const GraphLayout layout = layout_graph(nodes, made);
  EXPECT_EQ(layout.left_out, 5U);
  EXPECT_THAT(layout.x, SizeIs(kMostDrawnNodes));
  EXPECT_GT(layout.straight, 0U);
}

}  // namespace
}  // namespace infermeter::graph_layout_test
