#include "infermeter/profile/explain/group_facts.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "infermeter/profile/test_profiles.hpp"

namespace infermeter::group_facts_test {
namespace {

using testing::IsEmpty;
using testing::SizeIs;

TEST(KernelSize, IsTheSecondTensorsFromTheThirdDimensionOn) {
  EXPECT_EQ(kernel_size_of("(1, 3, 224, 224), (64, 3, 7, 5) -> (1, 64, 112, 112)"), "7x5");
  EXPECT_EQ(kernel_size_of("(1, 3, 224), (64, 3, 7), (64) -> (1, 64, 112)"), "7");
  EXPECT_EQ(kernel_size_of("(1,3,8,8,8),(64,3,3,3,3)"), "3x3x3");
}

TEST(KernelSize, IsEmptyForWhatHasNone) {
  EXPECT_EQ(kernel_size_of(""), "");
  EXPECT_EQ(kernel_size_of("(1, 3, 224, 224) -> (1, 64, 112, 112)"), "");  // the output is no kernel
  EXPECT_EQ(kernel_size_of("(1, 768), (768, 1000) -> (1, 1000)"), "");
  EXPECT_EQ(kernel_size_of("(1, 2), (3, 4, , 5)"), "");
  EXPECT_EQ(kernel_size_of("(1, 2), (3, 4, 5, 6"), "");
  EXPECT_EQ(kernel_size_of("((((("), "");
  EXPECT_EQ(kernel_size_of("), (1, 2, 999999999999, 3)"), "");
  EXPECT_EQ(kernel_size_of("(), (" + std::string(100000, ',') + ")"), "");
}

TEST(LayoutClass, KnowsTheRuntimesWords) {
  for (const char* word : {"NCHW", "abcd", "plain", "ab"}) EXPECT_EQ(layout_class(word), LayoutClass::plain) << word;
  for (const char* word : {"NHWC", "acdb", "channels_last"})
    EXPECT_EQ(layout_class(word), LayoutClass::channels_last) << word;
  for (const char* word : {"NCHWc", "aBcd16b", "nChw8c", "ABcd16b16a", "NCHW16c", "blocked"})
    EXPECT_EQ(layout_class(word), LayoutClass::blocked) << word;
  for (const char* word : {"", "strided", "\xff\xff"}) EXPECT_EQ(layout_class(word), LayoutClass::unknown) << word;
}

// One operator on each side, of one process.
struct Sides {
  OperatorProfile profile_a = profile_of({"a"}), profile_b = profile_of({"b"});
  Samples samples_a = samples_of(0, {1}), samples_b = samples_of(0, {1});
  CommonGroup group{.nodes = {"node"}, .kind = "Conv", .in_a = {0}, .in_b = {0}, .is_helper = false};

  ProfiledOperator& a() { return profile_a.operators.front(); }
  ProfiledOperator& b() { return profile_b.operators.front(); }

  [[nodiscard]] static SubjectOperatorTimes times(const OperatorProfile& profile, const Samples& samples) {
    const ProfileTrial trial{&samples, &profile};
    return subject_operator_times({&trial, 1});
  }
  GroupFacts facts() {
    for (OperatorProfile* profile : {&profile_a, &profile_b}) {
      if (profile->has_events()) continue;
      for (std::uint32_t op = 0; op < profile->operators.size(); ++op) add_event(*profile, 0, op, op * 0.1, 0.1);
    }
    const SubjectOperatorTimes of_a = times(profile_a, samples_a);
    const SubjectOperatorTimes of_b = times(profile_b, samples_b);
    return group_facts(group, {of_a, subject_facts(of_a)}, {of_b, subject_facts(of_b)});
  }
};

TEST(GroupFacts, AreWhatDiffers) {
  Sides sides;
  sides.a().precision = "float32";
  sides.b().precision = "int8";
  sides.a().layout = sides.b().layout = "NCHW";
  sides.a().kernel = "x";
  sides.b().kernel = "y";
  const GroupFacts facts = sides.facts();
  ASSERT_THAT(facts.differing, SizeIs(2));
  EXPECT_EQ(facts.differing[0].fact, Fact::precision);
  EXPECT_EQ(facts.differing[0].from, "float32");
  EXPECT_EQ(facts.differing[0].to, "int8");
  EXPECT_EQ(facts.differing[1].fact, Fact::kernel);
}

TEST(GroupFacts, AreNoneWhereOneSideTellsNothing) {
  Sides sides;
  sides.a().precision = "float32";
  sides.b().layout = "NCHW";
  sides.b().kernel = "y";
  sides.a().provider = "CPUExecutionProvider";
  sides.samples_b.executed = {{"dtype", "bfloat16"}};
  EXPECT_THAT(sides.facts().differing, IsEmpty());
}

TEST(GroupFacts, KnowOneLayoutUnderTwoNames) {
  Sides sides;
  sides.a().layout = "NCHWc";
  sides.b().layout = "aBcd16b";
  EXPECT_THAT(sides.facts().differing, IsEmpty());
  sides.b().layout = "abcd";
  EXPECT_NE(sides.facts().find(Fact::layout), nullptr);
  sides.a().layout = "one";
  sides.b().layout = "other";
  EXPECT_NE(sides.facts().find(Fact::layout), nullptr);
}

TEST(GroupFacts, CompareProvidersOfOneRuntimeOnly) {
  Sides sides;
  sides.a().provider = "CPUExecutionProvider";
  sides.b().provider = "XnnpackExecutionProvider";
  sides.samples_a.executed = sides.samples_b.executed = {{"runtime", "onnxruntime"}};
  EXPECT_NE(sides.facts().find(Fact::provider), nullptr);
  sides.samples_b.executed = {{"runtime", "openvino"}};
  EXPECT_EQ(sides.facts().find(Fact::provider), nullptr);
}

TEST(GroupFacts, TakeKindsForKernelsWhereOneRuntimeTellsNone) {
  Sides sides;
  sides.a().kind = "Conv";
  sides.b().kind = "FusedConv";
  ASSERT_NE(sides.facts().find(Fact::kernel), nullptr);
  EXPECT_EQ(sides.facts().find(Fact::kernel)->to, "FusedConv");
  sides.samples_b.executed = {{"runtime", "another"}};
  EXPECT_EQ(sides.facts().find(Fact::kernel), nullptr);
  sides.samples_b.executed.clear();
  sides.b().kernel = "gemm";
  EXPECT_EQ(sides.facts().find(Fact::kernel), nullptr);
}

TEST(GroupFacts, TakeTheSubjectsPrecisionForOperatorsNotForHelpers) {
  Sides sides;
  sides.samples_a.executed = {{"dtype", "float32"}};
  sides.samples_b.executed = {{"dtype", "float16"}};
  ASSERT_NE(sides.facts().find(Fact::precision), nullptr);
  EXPECT_EQ(sides.facts().find(Fact::precision)->to, "float16");
  sides.group.is_helper = true;
  EXPECT_EQ(sides.facts().find(Fact::precision), nullptr);
}

// The activation takes longer, but it is the convolution that the group is about.
TEST(GroupFacts, AreOfTheOperatorWithTheMostWork) {
  Sides sides;
  sides.profile_b = profile_of({"activation", "conv"});
  sides.group.in_b = {0, 1};
  sides.profile_b.operators[0].kernel = "eltwise";
  sides.profile_b.operators[1].kernel = "gemm";
  sides.profile_b.operators[1].flops = 1e9;
  sides.a().kernel = "direct";
  add_event(sides.profile_b, 0, 0, 0, 0.6);
  add_event(sides.profile_b, 0, 1, 0.6, 0.1);
  const GroupFacts facts = sides.facts();
  ASSERT_NE(facts.find(Fact::kernel), nullptr);
  EXPECT_EQ(facts.find(Fact::kernel)->to, "gemm");
  ASSERT_NE(facts.find(Fact::fusion), nullptr);
  EXPECT_EQ(facts.find(Fact::fusion)->slower, 1);
  // The work is unknown: then it is the longest.
  sides.profile_b.operators[1].flops.reset();
  EXPECT_EQ(sides.facts().find(Fact::kernel)->to, "eltwise");
}

TEST(GroupFacts, KnowFewerThreadsAtWork) {
  Sides sides;
  add_event(sides.profile_a, 0, 0, 0, 0.3);
  add_event(sides.profile_a, 0, 0, 0, 0.3, 1);  // 2 at work
  add_event(sides.profile_b, 0, 0, 0, 0.5);
  add_event(sides.profile_b, 0, 0, 0, 0.25, 1);  // 1.5
  const GroupFacts facts = sides.facts();
  ASSERT_NE(facts.find(Fact::parallel), nullptr);
  EXPECT_EQ(facts.find(Fact::parallel)->slower, 1);
  add_event(sides.profile_b, 0, 0, 0.25, 0.15, 2);  // 1.8: about the same
  EXPECT_EQ(sides.facts().find(Fact::parallel), nullptr);
}

TEST(GroupFacts, ReadThreadsAsNumbers) {
  Sides sides;
  sides.samples_a.executed = {{"threads", "8"}};
  sides.samples_b.executed = {{"threads", "16"}};
  ASSERT_NE(sides.facts().find(Fact::parallel), nullptr);
  EXPECT_EQ(sides.facts().find(Fact::parallel)->slower, -1);
  sides.samples_b.executed = {{"threads", "many"}};
  EXPECT_EQ(sides.facts().find(Fact::parallel), nullptr);
}

TEST(GroupFacts, CountHelpersAndOperatorsOfOneSide) {
  Sides sides;
  sides.group.in_b.clear();
  ASSERT_THAT(sides.facts().differing, SizeIs(1));
  EXPECT_EQ(sides.facts().differing[0].fact, Fact::one_side);
  EXPECT_EQ(sides.facts().differing[0].slower, -1);
  sides.group.is_helper = true;
  EXPECT_EQ(sides.facts().differing[0].fact, Fact::conversions);
}

}  // namespace
}  // namespace infermeter::group_facts_test
