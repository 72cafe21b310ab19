#include "infermeter/profile/explain/clauses.hpp"

#include <algorithm>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace infermeter::clauses_test {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

// python: scipy.stats.ttest_1samp(x, 0), .confidence_interval()
TEST(TestedMean, IsStudents) {
  const TestedMean tested = tested_mean(std::vector<double>{0.1, 0.4, 0.2, 0.5});
  EXPECT_NEAR(tested.mean_s, 0.3, 1e-15);
  EXPECT_NEAR(tested.p, 0.046205091353363266, 1e-12);
  EXPECT_NEAR(tested.low_s, 0.009483728424523497, 1e-12);
  EXPECT_NEAR(tested.high_s, 0.5905162715754765, 1e-12);
}

TEST(TestedMean, OfEqualDifferencesIsCertain) {
  EXPECT_EQ(tested_mean(std::vector<double>(5, 0.001)).p, 0);
  EXPECT_EQ(tested_mean(std::vector<double>(5, 0.0)).p, 1);
}

// What sums leave by rounding is the same in all pairs.
TEST(TestedMean, OfLessThanANanosecondIsNone) {
  EXPECT_EQ(tested_mean(std::vector<double>(5, 1e-17)).p, 1);
  EXPECT_EQ(tested_mean(std::vector<double>(5, 9e-10)).p, 1);
  EXPECT_EQ(tested_mean(std::vector<double>(5, 1.1e-9)).p, 0);
}

TEST(TestedMean, OfOneHasNoInterval) {
  const TestedMean tested = tested_mean(std::vector<double>{0.1});
  EXPECT_EQ(tested.p, 1);
  EXPECT_EQ(tested.half_width_s(), 0);
}

// Five groups: three Conv (two 3x3, of another kernel), a helper, the rest. Differences are given pair by pair.
struct Case {
  PairedGroups groups;
  std::vector<GroupFacts> facts;

  void add(const std::string& kind, const std::vector<double>& differences, GroupFacts of = {}) {
    GroupDifference group;
    group.group.kind = kind;
    if (kind != kRestKind) group.group.in_a = group.group.in_b = {groups.groups.size()};
    group.group.nodes = {kind};
    group.group.is_helper = kind == "Reorder";
    of.is_rest = kind == kRestKind;
    const TestedMean tested = tested_mean(differences);
    group.mean_s = tested.mean_s;
    group.p = tested.p;
    groups.groups.push_back(group);
    groups.differences.push_back(differences);
    facts.push_back(of);
    groups.whole.resize(differences.size());
    for (std::size_t i = 0; i < differences.size(); ++i) groups.whole[i] += differences[i];
  }
};

GroupFacts of_size(const std::string& size, bool other_kernel) {
  GroupFacts facts;
  facts.kernel_size = size;
  if (other_kernel) facts.differing.push_back({Fact::kernel, "x", "y", 0});
  return facts;
}

const std::vector<double> kNothing = {1e-5, -1e-5, 2e-5, -2e-5, 1e-5, -1e-5};
const std::vector<double> kSlower = {1e-3, 1.01e-3, 0.99e-3, 1e-3, 1.02e-3, 0.98e-3};

TEST(Classes, AreDistinctSetsOfWhatIsShared) {
  Case c;
  c.add("Conv", kNothing, of_size("3x3", true));
  c.add("Conv", kNothing, of_size("1x1", false));
  c.add("Conv", kNothing, of_size("3x3", true));
  c.add("MatMul", kNothing, of_size("", true));
  c.add("Reorder", kNothing);
  c.add(std::string(kRestKind), kNothing);
  const auto classes = classes_of(c.groups.groups, c.facts);
  EXPECT_THAT(std::set(classes.begin(), classes.end()), SizeIs(classes.size()));
  EXPECT_THAT(classes, Contains(ElementsAre(0u, 1u, 2u)));      // Conv
  EXPECT_THAT(classes, Contains(ElementsAre(0u, 2u)));          // 3x3, and Conv with the other kernel
  EXPECT_THAT(classes, Contains(ElementsAre(0u, 2u, 3u)));      // the other kernel
  EXPECT_THAT(classes, Contains(ElementsAre(0u, 1u, 2u, 3u)));  // all operators
  for (std::size_t i = 0; i < 6; ++i) EXPECT_THAT(classes, Contains(ElementsAre(i)));
  for (const auto& members : classes) {
    EXPECT_TRUE(members.size() == 1 || std::ranges::find(members, 5u) == members.end());
  }
  EXPECT_THAT(classes, SizeIs(10));
}

std::vector<double> times(double factor, std::vector<double> values = kSlower) {
  for (double& value : values) value *= factor;
  return values;
}

// All five Conv are 101 % of what four of them are.
TEST(FindClauses, TakeTheClassThatHasAFactBeforeASlightlyLargerOneThatHasNone) {
  Case c;
  for (int i = 0; i < 4; ++i) c.add("Conv", kSlower, of_size("3x3", true));
  c.add("Conv", times(0.04), of_size("1x1", false));
  const std::vector<Clause> clauses = find_clauses(c.groups, c.facts);
  ASSERT_THAT(clauses, SizeIs(1));
  EXPECT_THAT(clauses[0].groups, ElementsAre(0u, 1u, 2u, 3u));
  EXPECT_EQ(clauses[0].sentence, "4 Conv 3x3: kernel x -> y");
  EXPECT_NEAR(clauses[0].share, 1 / 1.01, 0.001);
}

TEST(FindClauses, TakeAMuchLargerClassBeforeOneThatHasAFact) {
  Case c;
  for (int i = 0; i < 6; ++i) c.add("Conv", kSlower, of_size("3x3", i < 2));
  const std::vector<Clause> clauses = find_clauses(c.groups, c.facts);
  ASSERT_THAT(clauses, SizeIs(1));
  EXPECT_THAT(clauses[0].groups, SizeIs(6));
  EXPECT_EQ(clauses[0].sentence, "6 Conv 3x3: slower here, cause not visible");
}

// What the first clause leaves is no more than noise as a whole, but a part of it is known well.
TEST(FindClauses, NameWhatIsSeparableBesideNoise) {
  Case c;
  c.add("Conv", times(2));
  c.add("MatMul", times(-1));
  c.add(std::string(kRestKind), times(200, kNothing));
  const std::vector<Clause> clauses = find_clauses(c.groups, c.facts);
  ASSERT_THAT(clauses, SizeIs(2));
  EXPECT_EQ(clauses[0].sentence, "Conv 'Conv': slower here, cause not visible");
  EXPECT_EQ(clauses[1].sentence, "MatMul 'MatMul': faster here, cause not visible");
}

// 20 of which none is separable for itself are so together; beside them what is separable is next to nothing.
TEST(FindClauses, WeighClassesBesideWhatIsSeparable) {
  Case c;
  for (std::size_t i = 0; i < 20; ++i) {
    std::vector<double> unsure = kSlower;
    unsure[i % 6] += 2e-3;
    unsure[(i + 2) % 6] -= 1.4e-3;
    c.add("Conv", unsure, of_size("3x3", true));
  }
  c.add("Add", times(0.01));
  const std::vector<Clause> clauses = find_clauses(c.groups, c.facts);
  ASSERT_FALSE(c.groups.groups[0].separable);
  ASSERT_TRUE(c.groups.groups[20].separable);
  ASSERT_THAT(clauses, SizeIs(1));
  EXPECT_THAT(clauses[0].groups, SizeIs(20));
}

// The one that is separable is half of the whole, by chance; the other half is not known.
TEST(FindClauses, DoNotGoOnForNoise) {
  Case c;
  c.add("Conv", times(2));
  c.add("MatMul", times(0.05));
  c.add(std::string(kRestKind), {0.01, -0.004, 0.008, -0.003, 0.005, -0.001});
  EXPECT_THAT(find_clauses(c.groups, c.facts), SizeIs(1));
  EXPECT_TRUE(c.groups.groups[1].separable);
}

// Two of eight differ: what all eight have in common is not the news.
TEST(FindClauses, DoNotBlameAClassForAFewOfItsMembers) {
  Case c;
  for (int i = 0; i < 8; ++i) c.add("Conv", i < 2 ? kSlower : kNothing, of_size("3x3", true));
  const std::vector<Clause> clauses = find_clauses(c.groups, c.facts);
  ASSERT_THAT(clauses, SizeIs(2));
  EXPECT_THAT(clauses[0].groups, ElementsAre(0u));
  EXPECT_THAT(clauses[1].groups, ElementsAre(1u));
}

// One that is 40 times as much slower as the others: first it, then the others.
TEST(FindClauses, NameTheOneBeforeTheOthers) {
  Case c;
  for (int i = 0; i < 12; ++i) c.add("Conv", i == 5 ? times(40) : kSlower, of_size("3x3", true));
  const std::vector<Clause> clauses = find_clauses(c.groups, c.facts);
  ASSERT_THAT(clauses, SizeIs(2));
  EXPECT_THAT(clauses[0].groups, ElementsAre(5u));
  EXPECT_THAT(clauses[1].groups, SizeIs(11));
}

TEST(FindClauses, StopWhereEnoughIsCovered) {
  Case c;
  c.add("Conv", times(5), of_size("3x3", true));
  c.add("MatMul", kSlower);
  EXPECT_THAT(find_clauses(c.groups, c.facts), SizeIs(1));  // 83 %
  EXPECT_TRUE(c.groups.groups[0].separable);
  EXPECT_TRUE(c.groups.groups[1].separable);
  c.add("Gemm", kSlower);
  EXPECT_THAT(find_clauses(c.groups, c.facts), SizeIs(2));  // 71 %, then more
}

// p of what the first clause leaves of its class is 0.008: below 5 %, above the bound for twelve classes.
TEST(FindClauses, AskAsMuchOfWhatIsLeftOfAClass) {
  Case c;
  c.add("Conv", times(2), of_size("3x3", true));
  const std::vector<double> unsure = {4.6e-4, 1.4e-4, 4.6e-4, 1.4e-4, 4.6e-4, 1.4e-4};
  for (int i = 0; i < 3; ++i) c.add("Conv", unsure, of_size("3x3", true));
  for (const char* kind : {"Add", "Mul", "Div", "Sub", "Exp", "Log"}) c.add(kind, kNothing);
  EXPECT_THAT(find_clauses(c.groups, c.facts), SizeIs(1));
}

TEST(FindClauses, OfNothingAreNone) {
  Case c;
  c.add(std::string(kRestKind), kNothing);
  EXPECT_THAT(find_clauses(c.groups, c.facts), IsEmpty());
  EXPECT_FALSE(c.groups.groups[0].separable);
}

}  // namespace
}  // namespace infermeter::clauses_test
