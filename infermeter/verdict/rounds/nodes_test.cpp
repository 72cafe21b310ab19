#include "infermeter/verdict/rounds/nodes.hpp"

#include <gmock/gmock.h>

#include <cmath>

#include "infermeter/samples/node_facts.hpp"
#include "infermeter/verdict/judge.hpp"
#include "infermeter/verdict/test_pairs.hpp"

namespace infermeter::nodes_test {
namespace {

using testing::Each;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

// Twelve pairs, six on each node, whose machine is `slower_machine` times as slow on the second; there the candidate is
// slower by `apart` more.
RunRecord on_two_nodes(double apart, double slower_machine = 1.2) {
  RunRecord record = test::record_with_question(2, 12);
  test::add_pairs(record, 12, {0, 0.05});
  for (Samples& trial : record.trials) {
    const bool second = trial.process >= 6;
    trial.executed.emplace_back(kNodeKey, second ? "n2" : "n1");
    if (!second) continue;
    const double factor = slower_machine * (trial.subject == 1 ? std::exp(apart) : 1);
    for (std::size_t i = 0; i < trial.end_s.size(); ++i)
      trial.end_s[i] = trial.begin_s[i] + (trial.end_s[i] - trial.begin_s[i]) * factor;
  }
  for (const char* name : {"n1", "n2"}) record.environment.nodes.emplace_back().hostname = name;
  record.finished = true;
  return record;
}

TEST(Nodes, ThatAreSlowerChangeNoDifference) {
  const RunRecord record = on_two_nodes(0), alone = on_two_nodes(0, 1);
  EXPECT_THAT(node_diagnostics(record), IsEmpty());
  const auto nodes = pairs_by_node(record, 0, 1, "latency_p50");
  ASSERT_THAT(nodes, SizeIs(2));
  EXPECT_THAT(nodes[1].differences, SizeIs(6));
  const Verdict verdict = judge(record), of_one = judge(alone);
  const PairedComparison &here = verdict.comparison->primary[0], &there = of_one.comparison->primary[0];
  EXPECT_EQ(here.direction, there.direction);
  EXPECT_NEAR(*here.estimate, *there.estimate, 1e-9);
  EXPECT_NEAR(here.interval->low, there.interval->low, 1e-9);
}

TEST(Nodes, ThatDisagreeAreSaid) {
  const RunRecord record = on_two_nodes(0.2);
  const Verdict verdict = judge(record);
  const auto found = node_diagnostics(record);
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].id, DiagnosticId::nodes_disagree);
  EXPECT_THAT(found[0].message, HasSubstr("depends on the node: +"));
  EXPECT_THAT(found[0].message, HasSubstr("% on n1 (6 blocks), +"));
  EXPECT_THAT(verdict.diagnostics, testing::Contains(Field(&Diagnostic::id, DiagnosticId::nodes_disagree)));
}

TEST(Nodes, OfOtherKindsAreNamed) {
  RunRecord record = on_two_nodes(0);
  record.environment.nodes[1].processor = "another";
  const auto found = node_diagnostics(record);
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].id, DiagnosticId::machines_differ);
  record.environment.nodes[1].hostname = "n2\n\x1b[31m";
  EXPECT_THAT(node_diagnostics(record)[0].message, Not(HasSubstr("\x1b")));
}

TEST(Nodes, OneMachineHasNone) {
  RunRecord record = on_two_nodes(0.2);
  record.environment.nodes.clear();
  EXPECT_THAT(node_diagnostics(record), IsEmpty());
}

}  // namespace
}  // namespace infermeter::nodes_test
