#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <map>
#include <queue>
#include <set>
#include <string>
#include <vector>

#include "infermeter/profile/operators/attribution.hpp"

namespace infermeter::common_groups_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

ProfiledOperator owner_of(const std::string& kind, std::vector<std::string> nodes, double flops = 0) {
  ProfiledOperator op;
  op.kind = kind;
  op.nodes = std::move(nodes);
  op.flops = flops;
  return op;
}

TEST(CommonGroups, UnionOfBothSides) {
  const auto groups = common_groups(
      {owner_of("Conv", {"c", "bn"}, 5), owner_of("Add", {"add"}), owner_of("Relu", {"relu"}),
       owner_of("Conv", {"d"}, 2)},
      {owner_of("Convolution", {"c", "bn", "add"}, 5), owner_of("Relu", {"relu"}), owner_of("Convolution", {"d"}, 2)});
  ASSERT_EQ(groups.size(), 3U);
  EXPECT_THAT(groups[0].nodes, ElementsAre("c", "bn", "add"));
  EXPECT_THAT(groups[0].in_a, ElementsAre(0, 1));
  EXPECT_THAT(groups[0].in_b, ElementsAre(0));
  EXPECT_EQ(groups[0].kind, "Conv");
  EXPECT_THAT(groups[1].nodes, ElementsAre("relu"));
  EXPECT_EQ(groups[2].kind, "Conv");
}

TEST(CommonGroups, HelpersAreOneGroupPerKind) {
  const auto groups =
      common_groups({owner_of("ReorderInput", {}), owner_of("Relu", {"r"}), owner_of("ReorderOutput", {})},
                    {owner_of("Relu", {"r"}), owner_of("Reorder", {}), owner_of("Reshape", {})});
  ASSERT_EQ(groups.size(), 3U);
  EXPECT_FALSE(groups[0].is_helper);
  EXPECT_TRUE(groups[1].is_helper);
  EXPECT_EQ(groups[1].kind, "Reorder");
  EXPECT_THAT(groups[1].nodes, IsEmpty());
  EXPECT_THAT(groups[1].in_a, ElementsAre(0, 2));
  EXPECT_THAT(groups[1].in_b, ElementsAre(1));
  EXPECT_EQ(groups[2].kind, "Reshape");
  EXPECT_THAT(groups[2].in_a, IsEmpty());
}

TEST(CommonGroups, KindIsThatOfTheHeaviestThatSaysSomething) {
  const auto groups = common_groups({owner_of("Softmax", {"s"}), owner_of("FusedMatMul", {"q"}, 5)},
                                    {owner_of("Subgraph", {"s", "q"}, 10)});
  ASSERT_EQ(groups.size(), 1U);
  EXPECT_EQ(groups[0].kind, "MatMul");
}

// Any ownership of nodes n0..n39; some nodes have no owner, some operators no nodes.
using Side = std::vector<ProfiledOperator>;
Side drawn_side() {
  const auto operators = *rc::gen::inRange<std::size_t>(0, 20);
  Side side(operators);
  for (std::size_t op = 0; op < operators; ++op) {
    side[op].kind = *rc::gen::elementOf(std::vector<std::string>{"Conv", "Reorder", "Add", "Subgraph"});
  }
  for (int node = 0; node < 40; ++node) {
    const auto owner = *rc::gen::inRange<std::size_t>(0, operators + 5);
    if (owner < operators) side[owner].nodes.push_back("n" + std::to_string(node));
  }
  return side;
}

// What the groups have to be, found by walking from node to node along operators.
std::map<std::string, std::set<std::string>> reached(const Side& a, const Side& b) {
  std::multimap<std::string, const ProfiledOperator*> owners;
  std::set<std::string> nodes;
  for (const Side* side : {&a, &b}) {
    for (const auto& op : *side) {
      for (const auto& node : op.nodes) owners.emplace(node, &op), nodes.insert(node);
    }
  }
  std::map<std::string, std::set<std::string>> components;
  for (const std::string& start : nodes) {
    std::set<std::string>& seen = components[start];
    std::queue<std::string> waiting({start});
    seen.insert(start);
    for (; !waiting.empty(); waiting.pop()) {
      const auto [first, last] = owners.equal_range(waiting.front());
      for (auto owner = first; owner != last; ++owner) {
        for (const auto& next : owner->second->nodes) {
          if (seen.insert(next).second) waiting.push(next);
        }
      }
    }
  }
  return components;
}

RC_GTEST_PROP(CommonGroupsOfAnyOwnership, AreTheFinestPartitionThatBothSidesRespect, ()) {
  const Side a = drawn_side(), b = drawn_side();
  const auto components = reached(a, b);
  std::set<std::string> covered;
  for (const CommonGroup& group : common_groups(a, b)) {
    if (group.is_helper) continue;
    RC_ASSERT(!group.nodes.empty());
    const std::set<std::string> nodes(group.nodes.begin(), group.nodes.end());
    RC_ASSERT(nodes.size() == group.nodes.size());
    RC_ASSERT(nodes == components.at(group.nodes.front()));
    for (const std::string& node : nodes) RC_ASSERT(covered.insert(node).second);
  }
  RC_ASSERT(covered.size() == components.size());
}

RC_GTEST_PROP(CommonGroupsOfAnyOwnership, HaveEveryOperatorOnce, ()) {
  const Side a = drawn_side(), b = drawn_side();
  std::multiset<std::size_t> in_a, in_b;
  std::set<std::string> helper_kinds;
  for (const CommonGroup& group : common_groups(a, b)) {
    in_a.insert(group.in_a.begin(), group.in_a.end());
    in_b.insert(group.in_b.begin(), group.in_b.end());
    RC_ASSERT(!group.kind.empty());
    if (group.is_helper) RC_ASSERT(helper_kinds.insert(group.kind).second);
    const auto fits = [&](const ProfiledOperator& op) {
      if (group.is_helper) return op.nodes.empty();
      return std::ranges::all_of(
          op.nodes, [&](const std::string& node) { return std::ranges::find(group.nodes, node) != group.nodes.end(); });
    };
    for (const std::size_t op : group.in_a) RC_ASSERT(fits(a.at(op)));
    for (const std::size_t op : group.in_b) RC_ASSERT(fits(b.at(op)));
  }
  RC_ASSERT(in_a.size() == a.size() && std::set(in_a.begin(), in_a.end()).size() == a.size());
  RC_ASSERT(in_b.size() == b.size() && std::set(in_b.begin(), in_b.end()).size() == b.size());
}

}  // namespace
}  // namespace infermeter::common_groups_test
