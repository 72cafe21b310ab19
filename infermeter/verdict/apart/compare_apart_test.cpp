#include "infermeter/verdict/apart/compare_apart.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "infermeter/verdict/apart/join_runs.hpp"
#include "infermeter/verdict/judge.hpp"
#include "infermeter/verdict/test_pairs.hpp"

namespace infermeter::apart_test {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

// A finished run of `labels`, each slower than 10 ms by `slowdown` (log scale), so many processes of each.
RunRecord run_of(const std::string& id, const std::vector<std::string>& labels, double slowdown, int processes = 6) {
  RunRecord record = test::record_with_question(static_cast<int>(labels.size()), processes);
  test::add_pairs(record, processes, std::vector<double>(labels.size(), slowdown));
  record.id = id;
  record.created_at = 1'763'000'000;
  record.finished = true;
  record.plan.question.reset();
  for (std::size_t i = 0; i < labels.size(); ++i) record.plan.subjects[i].label = labels[i];
  for (Samples& trial : record.trials) trial.input_digest = trial.output_digest = 7;
  return record;
}

Question by_latency(double margin = 0.01) {
  Question question;
  question.margin = margin;
  return question;
}

RunRecord joined(const RunRecord& before, const RunRecord& after, double margin = 0.01) {
  return join_runs(before, after, by_latency(margin)).value();
}

TEST(JoinRuns, PairsTheSubjectsThatBothHaveAndNamesTheOthers) {
  const RunRecord record = joined(run_of("one", {"x", "y"}, 0), run_of("two", {"y", "z"}, 0));
  ASSERT_EQ(record.plan.subjects.size(), 2U);
  EXPECT_EQ(record.plan.subjects[0].label, "y (one)");
  EXPECT_EQ(record.plan.subjects[1].label, "y (two)");
  EXPECT_THAT(record.joined.front().unmatched, testing::ElementsAre("x"));
  EXPECT_THAT(record.joined.back().unmatched, testing::ElementsAre("z"));
  EXPECT_EQ(record.trials.size(), 12U);
}

TEST(JoinRuns, TakesTheOnlySubjectOfEachWhateverItIsCalled) {
  EXPECT_EQ(joined(run_of("one", {"x"}, 0), run_of("two", {"z"}, 0)).plan.subjects.size(), 2U);
}

TEST(JoinRuns, OfTwoRacesIsNoRace) {
  RunRecord one = run_of("one", {"x"}, 0), two = run_of("two", {"x"}, 0.5);
  one.plan.tuning.emplace();
  two.plan.tuning.emplace();
  const RunRecord record = joined(one, two);
  EXPECT_FALSE(record.plan.tuning);
  EXPECT_FALSE(judge(record).tuning);
}

TEST(JoinRuns, RefusesWhatHasNothingInCommon) {
  RunRecord one = run_of("one", {"x", "y"}, 0), two = run_of("two", {"v", "w"}, 0);
  for (Subject& subject : two.plan.subjects) subject.model = "vit";
  const auto none = join_runs(one, two, by_latency());
  ASSERT_FALSE(none);
  EXPECT_THAT(none.error().message, HasSubstr("no subject in common: 'x', 'y' there, 'v', 'w' here"));
  EXPECT_THAT(join_runs(one, one, by_latency()).error().message, HasSubstr("both are run one"));
}

TEST(JoinRuns, TellsEqualOutputsByTheirDigestsAndOthersNot) {
  RunRecord after = run_of("two", {"x"}, 0);
  EXPECT_TRUE(joined(run_of("one", {"x"}, 0), after).outputs.at(0).comparison.agree);
  for (Samples& trial : after.trials) trial.output_digest = 8;
  const RunRecord other = joined(run_of("one", {"x"}, 0), after);
  EXPECT_TRUE(other.outputs.at(0).comparison.undecided);
  for (Samples& trial : after.trials) trial.input_digest = 8;
  EXPECT_THAT(joined(run_of("one", {"x"}, 0), after).outputs, IsEmpty());
}

TEST(Apart, FindsWhatIsSlowerByWelch) {
  const RunRecord record = joined(run_of("one", {"x"}, 0), run_of("two", {"x"}, std::log(1.05), 8));
  const Verdict verdict = judge(record);
  const PairedComparison& found = verdict.comparison->primary.at(0);
  EXPECT_FALSE(verdict.comparison->paired);
  EXPECT_EQ(found.direction, Direction::slower);
  EXPECT_NEAR(*found.estimate, std::log(1.05), 0.005);
  EXPECT_EQ(found.baseline_processes, 6);
  EXPECT_EQ(found.candidate_processes, 8);
  EXPECT_LT(found.p, 0.001);
  EXPECT_THAT(found.differences, IsEmpty());
  // One report, one answer: the table's ratio is the same.
  EXPECT_NEAR(*verdict.subjects[1].ratios[0].estimate.value, std::exp(-*found.estimate), 1e-12);
  EXPECT_NEAR(verdict.subjects[1].ratios[0].estimate.interval->low, std::exp(-found.interval->high), 1e-12);
}

TEST(Apart, CallsEqualOnlyWhatLiesWithinTheMargin) {
  const RunRecord before = run_of("one", {"x"}, 0), after = run_of("two", {"x"}, 0.0005);
  EXPECT_EQ(compare_apart(joined(before, after, 0.02)).primary[0].direction, Direction::equivalent);
  EXPECT_EQ(compare_apart(joined(before, after, 0.001)).primary[0].direction, Direction::unresolved);
}

TEST(Apart, SharesAlphaAmongSubjects) {
  const RunRecord one = joined(run_of("one", {"x"}, 0), run_of("two", {"x"}, 0.01));
  const RunRecord two = joined(run_of("one", {"x", "y"}, 0), run_of("two", {"x", "y"}, 0.01));
  const auto width = [](const RunRecord& record) {
    const Interval interval = *compare_apart(record).primary[0].interval;
    return interval.high - interval.low;
  };
  EXPECT_GT(width(two), 1.05 * width(one));
  EXPECT_DOUBLE_EQ(compare_apart(two).primary[1].interval->confidence, 0.975);
  EXPECT_EQ(compare_apart(two).primary[1].baseline, 2);
}

TEST(Apart, IsWiderForARunThatEndedByWhatItShowed) {
  RunRecord after = run_of("two", {"x"}, 0.01, 5);
  const auto interval = [&] { return *compare_apart(joined(run_of("one", {"x"}, 0), after)).primary[0].interval; };
  const Interval fixed = interval();
  after.plan.automatic.processes = true;
  after.plan.processes = 20;
  EXPECT_LT(interval().low, fixed.low);
  EXPECT_DOUBLE_EQ(interval().confidence, 0.95);
}

TEST(Apart, TellsNoDirectionAcrossMachinesAndInputs) {
  RunRecord after = run_of("two", {"x"}, 0.1);
  after.environment.processor = "another";
  const auto machines = compare_apart(joined(run_of("one", {"x"}, 0), after));
  EXPECT_EQ(machines.primary[0].direction, Direction::unresolved);
  EXPECT_EQ(machines.primary[0].withheld, "the runs are of two machines");
  EXPECT_FALSE(machines.resolved);
  after.environment.processor.clear();
  for (Samples& trial : after.trials) trial.input_digest = 8;
  const auto inputs = compare_apart(joined(run_of("one", {"x"}, 0), after));
  EXPECT_EQ(inputs.primary[0].direction, Direction::unresolved);
  EXPECT_THAT(inputs.primary[0].withheld, HasSubstr("the input bytes are not those of"));
}

TEST(Apart, SaysThatTheRunsWereNotInterleaved) {
  RunRecord after = run_of("two", {"x"}, 0);
  after.created_at += 3 * 86400;
  const RunRecord record = joined(run_of("one", {"x"}, 0), after);
  const Verdict verdict = judge(record);
  const auto reported = std::ranges::find(verdict.diagnostics, DiagnosticId::runs_not_interleaved, &Diagnostic::id);
  ASSERT_NE(reported, verdict.diagnostics.end());
  EXPECT_THAT(reported->message, HasSubstr("3 days apart"));
}

TEST(Apart, ExitsAsComparisonsDo) {
  Question question = by_latency();
  question.fail_slower = question.fail_inconclusive = true;
  const auto code = [&](double slowdown) {
    const RunRecord record = join_runs(run_of("one", {"x"}, 0), run_of("two", {"x"}, slowdown), question).value();
    return judge(record).exit_code;
  };
  EXPECT_EQ(code(0.05), 1);
  EXPECT_EQ(code(-0.05), 0);
  question.margin = 0.0001;
  EXPECT_EQ(code(0), 5);
}

}  // namespace
}  // namespace infermeter::apart_test
