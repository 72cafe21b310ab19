#include "infermeter/profile/stacks/stack_tree.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <deque>
#include <limits>
#include <map>

#include "infermeter/profile/test_profiles.hpp"
#include "infermeter/profile/write/trace_writers.hpp"

namespace infermeter::stack_tree_test {
namespace {

using testing::DoubleNear;
using testing::Optional;

// One subject's trials, which keep what they point to.
struct Seen {
  std::deque<Samples> samples;
  std::deque<OperatorProfile> profiles;
  std::deque<TrialStacks> stacks;
  StackTrials trials;

  // One iteration per wall; frames and samples are filled in afterwards.
  TrialStacks& add(int process, const std::vector<double>& walls, const std::vector<std::string>& operators = {}) {
    samples.push_back(samples_of(process, walls));
    TrialStacks& one = stacks.emplace_back();
    one.method = "perf_event";
    one.stacks.unit = "s";
    one.stacks.threads = {"main thread", "worker"};
    profiles.push_back(profile_of(operators));
    for (ProfiledOperator& op : profiles.back().operators) op.kind = op.name.substr(0, op.name.find('_'));
    trials.trials.push_back({&samples.back(), operators.empty() ? nullptr : &profiles.back(), &one});
    if (!operators.empty() && trials.operators == nullptr) trials.operators = &profiles.back();
    return one;
  }
};

StackFrame named(const std::string& symbol) { return {.symbol = symbol, .module = "/usr/lib/libm.so"}; }
StackFrame address(std::uint64_t offset) { return {.symbol = "", .module = "/usr/lib/libm.so", .offset = offset}; }

void sample(TrialStacks& stacks, std::vector<std::uint32_t> frames, double weight, std::optional<std::uint32_t> op = {},
            std::uint32_t thread = 0) {
  stacks.stacks.samples.push_back({.thread = thread, .frames = std::move(frames), .weight = weight, .op = op});
}

std::string name_of(const StackTree& tree, const StackNode& node) {
  switch (node.level) {
    case StackLevel::kind: return node.kind.empty() ? "(outside)" : node.kind;
    case StackLevel::op: return "op " + std::to_string(*node.op);
    case StackLevel::frame: {
      const StackFrame& frame = tree.functions[*node.function].frame;
      return frame.symbol.empty() ? frame.module + "+" + std::to_string(frame.offset) : frame.symbol;
    }
    case StackLevel::merged: return "(" + std::to_string(node.merged) + " small)";
    default: return std::string(to_string(node.level));
  }
}

// "whole;Conv;op 0;run": mean seconds.
std::map<std::string, double> means(const StackTree& tree) {
  std::vector<std::string> ways;
  std::map<std::string, double> result;
  for (const StackNode& node : tree.nodes) {
    EXPECT_TRUE(!node.parent || *node.parent < ways.size());
    ways.push_back((node.parent ? ways[*node.parent] + ';' : "") + name_of(tree, node));
    EXPECT_FALSE(result.contains(ways.back())) << ways.back();
    result[ways.back()] = node.mean_s;
  }
  return result;
}

// What nothing beneath a node explains is its own time.
void expect_sums(const StackTree& tree) {
  std::vector<double> beneath(tree.nodes.size());
  for (const StackNode& node : tree.nodes) {
    if (node.parent) beneath[*node.parent] += node.mean_s;
  }
  for (std::size_t i = 0; i < tree.nodes.size(); ++i) {
    EXPECT_NEAR(tree.nodes[i].mean_s, beneath[i] + tree.nodes[i].self_s, 1e-12) << i;
  }
}

TEST(StackTree, WeightsInSecondsAreTimePerInferenceAndTheRestIsNotSampled) {
  Seen seen;
  TrialStacks& one = seen.add(0, {0.010, 0.012, 0.011, 0.011});
  one.stacks.frames = {named("main"), named("gemm")};
  sample(one, {0, 1}, 0.032);
  sample(one, {0}, 0.004);
  sample(one, {1}, 0.100, {}, 1);
  const StackTree tree = stack_tree(seen.trials);
  const auto times = means(tree);
  EXPECT_DOUBLE_EQ(tree.wall_s, 0.011);
  EXPECT_NEAR(times.at("whole"), 0.011, 1e-15);
  EXPECT_NEAR(times.at("whole;main"), 0.009, 1e-15);
  EXPECT_NEAR(times.at("whole;main;gemm"), 0.008, 1e-15);
  EXPECT_NEAR(times.at("whole;rest"), 0.002, 1e-15);
  EXPECT_NEAR(times.at("other_threads;gemm"), 0.025, 1e-15);
  EXPECT_EQ(times.size(), 6U);
  EXPECT_EQ(tree.samples, 3U);
  expect_sums(tree);
}

TEST(StackTree, WeightsOfAnotherUnitAreSharesOfTheWallTime) {
  Seen seen;
  TrialStacks& one = seen.add(0, {0.010, 0.010});
  one.stacks.unit = "samples";
  one.stacks.frames = {named("main"), named("gemm")};
  sample(one, {0}, 1);
  sample(one, {1}, 3);
  sample(one, {1}, 8, {}, 1);
  const auto times = means(stack_tree(seen.trials));
  EXPECT_NEAR(times.at("whole;main"), 0.0025, 1e-15);
  EXPECT_NEAR(times.at("whole;gemm"), 0.0075, 1e-15);
  EXPECT_NEAR(times.at("other_threads;gemm"), 0.02, 1e-15);
  EXPECT_FALSE(times.contains("whole;rest"));
}

TEST(StackTree, IntervalsAreOverProcesses) {
  Seen seen;
  for (int process = 0; process < 3; ++process) {
    TrialStacks& one = seen.add(process, {0.010});
    one.stacks.frames = {named("gemm")};
    sample(one, {0}, 0.004 + 0.001 * process);
  }
  const StackTree tree = stack_tree(seen.trials);
  EXPECT_EQ(tree.processes, 3U);
  const StackNode& gemm = tree.nodes[1];
  EXPECT_NEAR(gemm.mean_s, 0.005, 1e-15);
  // 0.005 ± t(0.975, 2) · 0.001 / √3, not the normal distribution's 1.96.
  EXPECT_THAT(gemm.low_s, Optional(DoubleNear(0.005 - 4.302653 * 0.001 / std::sqrt(3.0), 1e-8)));
  EXPECT_THAT(tree.functions[0].high_s, Optional(DoubleNear(0.005 + 4.302653 * 0.001 / std::sqrt(3.0), 1e-8)));
}

TEST(StackTree, OneProcessHasNoInterval) {
  Seen seen;
  TrialStacks& one = seen.add(0, {0.010});
  one.stacks.frames = {named("gemm")};
  sample(one, {0}, 0.004);
  EXPECT_FALSE(stack_tree(seen.trials).nodes[1].low_s);
}

TEST(StackTree, OperatorsStandAboveFramesByTheirIdentityInEachProcess) {
  Seen seen;
  TrialStacks& one = seen.add(0, {0.010}, {"Conv_a", "Gemm_b"});
  TrialStacks& other = seen.add(1, {0.010}, {"Conv_a", "Gemm_b"});
  // The same operators in another order, as runtimes number what is independent.
  std::swap(seen.profiles[1].operators[0], seen.profiles[1].operators[1]);
  for (auto& profile : seen.profiles) {
    for (auto& op : profile.operators) op.nodes = {op.name};
  }
  for (TrialStacks* each : {&one, &other}) each->stacks.frames = {named("run"), named("gemm")};
  sample(one, {0, 1}, 0.006, 0);
  sample(one, {0}, 0.002, 1);
  sample(one, {0}, 0.001);
  sample(other, {0, 1}, 0.006, 1);
  sample(other, {0}, 0.002, 0);
  sample(other, {0}, 0.001);
  const StackTree tree = stack_tree(seen.trials);
  const auto times = means(tree);
  EXPECT_NEAR(times.at("whole;Conv;op 0;run;gemm"), 0.006, 1e-15);
  EXPECT_NEAR(times.at("whole;Gemm;op 1;run"), 0.002, 1e-15);
  EXPECT_NEAR(times.at("whole;(outside);run"), 0.001, 1e-15);
  EXPECT_NEAR(tree.tagged_share, 8.0 / 9, 1e-12);
  expect_sums(tree);
}

TEST(StackTree, TrialsOfOtherOperatorsAreLeftOut) {
  Seen seen;
  for (const char* name : {"Conv_a", "Gemm_b"}) {
    TrialStacks& one = seen.add(static_cast<int>(seen.samples.size()), {0.010}, {name});
    one.stacks.frames = {named("gemm")};
    sample(one, {0}, 0.004, 0);
  }
  seen.add(2, {0.010});                // saw nothing
  seen.add(3, {}).stacks.frames = {};  // has no iteration
  const StackTree tree = stack_tree(seen.trials);
  EXPECT_EQ(tree.processes, 1U);
  EXPECT_EQ(tree.left_out, 3U);
}

TEST(StackTree, FunctionsAreByTheirOwnTimeWithTheOperatorsTheyRanIn) {
  Seen seen;
  TrialStacks& one = seen.add(0, {0.010}, {"Conv_a", "Conv_b", "Gemm_c"});
  one.stacks.frames = {named("run"), named("gemm")};
  sample(one, {0, 1}, 0.003, 0);
  sample(one, {0, 1, 0, 1}, 0.002, 1);  // recursion counts once
  sample(one, {0, 1}, 0.001, 2);
  sample(one, {0}, 0.001);
  sample(one, {1}, 0.050, {}, 1);
  const StackTree tree = stack_tree(seen.trials);
  ASSERT_EQ(tree.functions.size(), 2U);
  const StackFunction& gemm = tree.functions[0];
  EXPECT_EQ(gemm.frame.symbol, "gemm");
  EXPECT_EQ(gemm.frame.module, "libm.so");
  EXPECT_NEAR(gemm.self_s, 0.006, 1e-15);
  EXPECT_NEAR(gemm.total_s, 0.006, 1e-15);
  EXPECT_NEAR(gemm.helper_s, 0.050, 1e-15);
  EXPECT_NEAR(gemm.share, 0.6, 1e-12);
  ASSERT_EQ(gemm.places.size(), 2U);
  EXPECT_EQ(gemm.places[0].kind, "Conv");
  EXPECT_EQ(gemm.places[0].operators, 2U);
  EXPECT_FALSE(gemm.places[0].op);
  EXPECT_THAT(gemm.places[1].op, Optional(2U));
  EXPECT_NEAR(tree.functions[1].total_s, 0.007, 1e-15);
  EXPECT_EQ(tree.functions[1].places[0].kind, "");
}

TEST(StackTree, SmallAddressesOfAModuleAreOne) {
  Seen seen;
  TrialStacks& one = seen.add(0, {1.0});
  for (std::uint64_t i = 0; i < 400; ++i) {
    one.stacks.frames.push_back(address(0x1000 + 16 * i));
    sample(one, {static_cast<std::uint32_t>(i)}, 0.001);
  }
  one.stacks.frames.push_back(address(0x9000));
  sample(one, {400}, 0.300);
  sample(one, {3, 4, 5}, 0.001);  // neighbours within the module
  const StackTree tree = stack_tree(seen.trials);
  const auto times = means(tree);
  EXPECT_NEAR(times.at("whole;libm.so+0"), 0.401, 1e-12);
  EXPECT_NEAR(times.at("whole;libm.so+36864"), 0.300, 1e-12);
  EXPECT_EQ(times.size(), 4U);  // with the whole and the rest
  EXPECT_NEAR(tree.unnamed_share, 1, 1e-12);
}

TEST(StackTree, SmallFramesAreMergedAndNodesAreBounded) {
  Seen seen;
  TrialStacks& one = seen.add(0, {10.0});
  for (std::uint32_t i = 0; i < 4000; ++i) {
    one.stacks.frames.push_back(named("f" + std::to_string(i)));
    sample(one, {i}, i < 2 ? 2.0 : 0.001);
  }
  const StackTree tree = stack_tree(seen.trials);
  const auto times = means(tree);
  EXPECT_NEAR(times.at("whole;(3998 small)"), 3.998, 1e-9);
  EXPECT_EQ(times.size(), 5U);
  for (StackSample& each : one.stacks.samples) each.weight = 0.0025;
  seen.samples[0] = samples_of(0, {0.0026});  // each is a thousandth of the sampled time, and more of the wall's
  EXPECT_LE(stack_tree(seen.trials).nodes.size(), kMostStackNodes);
}

TEST(StackTree, DeepStacksAreCut) {
  Seen seen;
  TrialStacks& one = seen.add(0, {1.0});
  std::vector<std::uint32_t> deep;
  for (std::uint32_t i = 0; i < 1000; ++i) {
    one.stacks.frames.push_back(named("f" + std::to_string(i)));
    deep.push_back(i);
  }
  sample(one, deep, 1.0);
  const StackTree tree = stack_tree(seen.trials);
  EXPECT_EQ(tree.nodes.size(), 1 + kDeepestDrawnStack + 1);
  EXPECT_EQ(tree.nodes.back().level, StackLevel::merged);
  EXPECT_EQ(tree.functions[0].frame.symbol, "f999");  // whose own time it is all the same
}

TEST(StackTree, HostileSamplesAreLeftOut) {
  Seen seen;
  TrialStacks& one = seen.add(0, {0.010});
  one.stacks.frames = {named("gemm")};
  sample(one, {0}, 0.004);
  sample(one, {1}, 0.004);  // no such frame
  sample(one, {0}, std::numeric_limits<double>::quiet_NaN());
  sample(one, {0}, -1);
  sample(one, {0}, std::numeric_limits<double>::infinity());
  sample(one, {0}, 0.001, 7);  // no such operator
  one.stacks.samples.push_back({.frames = {0}, .weight = 1, .iteration = 1});
  const StackTree tree = stack_tree(seen.trials);
  EXPECT_EQ(tree.samples, 2U);
  EXPECT_NEAR(means(tree).at("whole;gemm"), 0.005, 1e-15);
}

TEST(StackTree, NothingSeenIsNoTree) {
  EXPECT_TRUE(stack_tree({}).nodes.empty());
  EXPECT_TRUE(stack_difference({}, {}, {}).nodes.empty());
}

TEST(StackTree, TheMainThreadIsTheOneThatIsCalledSo) {
  StackProfile stacks;
  stacks.threads = {"ThreadPool-1", "MainThread"};
  EXPECT_EQ(main_thread_of(stacks), 1U);
  stacks.threads = {"thread 1", "main", "thread 2"};  // of name_stacks, by their first samples
  EXPECT_EQ(main_thread_of(stacks), 1U);
  stacks.threads = {"python 71", "python 72"};
  EXPECT_EQ(main_thread_of(stacks), 0U);
}

// Two subjects of which b's gemm takes 3 ms more, and a alone reorders.
struct Pair {
  Seen a, b;
  std::vector<GroupDifference> groups{1};

  explicit Pair(int processes) {
    groups[0].group = {.nodes = {"conv"}, .kind = "Conv", .in_a = {0}, .in_b = {1}};
    for (int i = 0; i < processes; ++i) {
      const double jitter = 1e-5 * i;
      TrialStacks& of_a = a.add(i, {0.010 + jitter}, {"Conv_a"});
      of_a.stacks.frames = {named("gemm"), named("reorder")};
      sample(of_a, {0}, 0.005 + jitter, 0);
      sample(of_a, {1}, 0.002);
      TrialStacks& of_b = b.add(i, {0.011 + 2 * jitter}, {"Convolution_x", "Convolution_y"});
      of_b.stacks.frames = {{.symbol = "gemm", .module = "/opt/libother.so.2"}};
      sample(of_b, {0}, 0.008 + 2 * jitter, 1);
    }
  }
};

TEST(StackDifference, IsOfPairsAndAddsUp) {
  const Pair pair(4);
  const StackTree tree = stack_difference(pair.a.trials, pair.b.trials, pair.groups);
  const auto times = means(tree);
  EXPECT_EQ(tree.processes, 4U);
  EXPECT_NEAR(times.at("whole"), 0.001015, 1e-12);
  EXPECT_NEAR(times.at("whole;Conv;op 0;gemm"), 0.003015, 1e-12);
  EXPECT_NEAR(times.at("whole;(outside);reorder"), -0.002, 1e-12);
  EXPECT_NEAR(times.at("whole;rest"), 0, 1e-12);
  expect_sums(tree);
  const auto found =
      std::ranges::find_if(tree.nodes, [&](const StackNode& node) { return name_of(tree, node) == "reorder"; });
  ASSERT_NE(found, tree.nodes.end());
  EXPECT_DOUBLE_EQ(found->a_s, 0.002);
  EXPECT_DOUBLE_EQ(found->b_s, 0);
  EXPECT_TRUE(found->separable);
}

TEST(StackDifference, LeavesOutProcessesWithoutAPartner) {
  Pair pair(3);
  pair.b.trials.trials.pop_back();
  const StackTree tree = stack_difference(pair.a.trials, pair.b.trials, pair.groups);
  EXPECT_EQ(tree.processes, 2U);
  EXPECT_EQ(tree.left_out, 1U);
}

TEST(StackDifference, NoiseIsNotSeparable) {
  Pair pair(4);
  const double noise[] = {0.004, -0.004, 0.003, -0.003};
  for (std::size_t i = 0; i < 4; ++i) pair.b.stacks[i].stacks.samples[0].weight = 0.005 + noise[i];
  const StackTree tree = stack_difference(pair.a.trials, pair.b.trials, pair.groups);
  for (const StackNode& node : tree.nodes) {
    if (node.level == StackLevel::op) {
      EXPECT_FALSE(node.separable);
      EXPECT_LT(*node.low_s, 0);
      EXPECT_GT(*node.high_s, 0);
    }
  }
}

TEST(CollapsedStacks, OfTrialsHaveSubjectThreadAndOperator) {
  Seen seen;
  TrialStacks& one = seen.add(0, {0.010, 0.010}, {"Conv_a;b"});
  one.stacks.frames = {named("run"), address(0x10)};
  sample(one, {0, 1}, 0.004, 0);
  sample(one, {0}, 0.001);
  sample(one, {1}, 0.002, {}, 1);
  const std::vector<StackSource> sources{{.subject = "my model", .trial = seen.trials.trials[0]}};
  EXPECT_EQ(collapsed_stacks(sources),
            "my model;main thread;Conv;Conv_a:b;run;[libm.so+0x10] 4000\n"
            "my model;main thread;run 1000\n"
            "my model;worker;[libm.so+0x10] 2000\n");
}

}  // namespace
}  // namespace infermeter::stack_tree_test
