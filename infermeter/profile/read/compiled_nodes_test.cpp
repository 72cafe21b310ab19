#include "infermeter/profile/read/compiled_nodes.hpp"

#include <string>

#include <gtest/gtest.h>

namespace infermeter::compiled_nodes_test {
namespace {

std::string layout_of(const std::string& kind) {
  ProfiledOperator op;
  Shapes inputs;
  describe_by_node(op, {.name = "n", .kind = kind, .inputs = {}, .outputs = {}, .flops = {}}, ModelGraph{}, inputs);
  return op.layout;
}

TEST(CompiledNodes, TellTheLayoutOfConvolutions) {
  EXPECT_EQ(layout_of("com.microsoft.nchwc.Conv"), "NCHWc");
  EXPECT_EQ(layout_of("com.microsoft.nchwc.GlobalAveragePool"), "NCHWc");
  EXPECT_EQ(layout_of("Conv"), "NCHW");
  EXPECT_EQ(layout_of("com.microsoft.FusedConv"), "NCHW");
  EXPECT_EQ(layout_of("com.microsoft.NhwcFusedConv"), "NHWC");
}

// Elementwise operators take any; a com.microsoft.QLinearConv may be either.
TEST(CompiledNodes, TellNoLayoutWhereTheKindHasNone) {
  EXPECT_EQ(layout_of("Add"), "");
  EXPECT_EQ(layout_of("com.microsoft.QLinearConv"), "");
  EXPECT_EQ(layout_of(""), "");
}

}  // namespace
}  // namespace infermeter::compiled_nodes_test
