#include "infermeter/profile/explain/explain.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "infermeter/profile/explain/test_simulated.hpp"

namespace infermeter::explain_test {
namespace {

using testing::SizeIs;

// From trials to words: A's convolution and activation are one operator, B's two; B converts in between.
TEST(Explain, GroupsWhatExecutesTheSameNodes) {
  SimulatedSide a;
  SimulatedSide b;
  a.operators = b.operators = convolutions(20, 0.03);
  for (std::size_t i = 0; i < 5; ++i) {
    const std::string node = "conv" + std::to_string(i);
    a.operators[i].op.nodes = {node, node + "_relu"};
    SimulatedOperator relu;
    relu.op.name = node + "_relu";
    relu.op.kind = "Relu";
    relu.op.nodes = {node + "_relu"};
    relu.seconds = 0.0006;
    b.operators.push_back(relu);
  }
  Normal normal(4);
  const Noise noise;
  for (int process = 0; process < 8; ++process) {
    a.run_process(process, 6, noise, normal);
    b.run_process(process, 6, noise, normal);
  }
  const std::vector<ProfileTrial> of_a = a.trials();
  const std::vector<ProfileTrial> of_b = b.trials();
  const Explanation explanation = explain(of_a, of_b, {}, {});
  EXPECT_EQ(explanation.reason, "");
  EXPECT_THAT(explanation.groups, SizeIs(21));  // and the rest
  ASSERT_THAT(explanation.clauses, SizeIs(1));
  EXPECT_EQ(explanation.clauses[0].cause, Cause::lost_fusion);
  EXPECT_EQ(explanation.clauses[0].sentence, "5 Conv: 5 -> 10 operators");
}

TEST(Explain, SaysWhoHasNoProfile) {
  SimulatedSide a;
  a.operators = convolutions(3, 0.03);
  Normal normal(4);
  a.run_process(0, 2, Noise{}, normal);
  const std::vector<ProfileTrial> of_a = a.trials();
  EXPECT_EQ(explain(of_a, {}, {}, {}).reason, "the second has no profile of its operators");
  EXPECT_EQ(explain({}, of_a, {}, {}).reason, "the first has no profile of its operators");
  EXPECT_EQ(explain({}, {}, {}, {}).reason, "neither has a profile of its operators");
  EXPECT_EQ(explain(of_a, of_a, {}, {}).reason, "needs 3 pairs of profiled processes, there is 1");
  a.profiles[0] = profile_of({"a"});
  EXPECT_EQ(explain(a.trials(), {}, {}, {}).left_out, 1u);
}

}  // namespace
}  // namespace infermeter::explain_test
