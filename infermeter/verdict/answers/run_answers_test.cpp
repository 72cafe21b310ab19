#include "infermeter/verdict/answers/run_answers.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "infermeter/verdict/judge.hpp"
#include "infermeter/verdict/test_pairs.hpp"

namespace infermeter::run_answers_test {
namespace {

using testing::ElementsAre;

std::vector<AnswerKind> kinds(const std::vector<Answer>& answers) {
  std::vector<AnswerKind> all;
  for (const Answer& answer : answers) all.push_back(answer.kind);
  return all;
}

// Two subjects: `ratio` baseline by candidate.
struct Judged {
  RunRecord record;
  Verdict verdict;

  explicit Judged(const Interval& ratio) {
    record.plan.subjects.resize(2);
    record.trials.resize(6);
    for (Samples& trial : record.trials) trial.wall_s = 2;
    verdict.subjects.resize(2);
    for (int i = 0; i < 2; ++i) verdict.subjects[static_cast<std::size_t>(i)].subject = i;
    for (SubjectVerdict& subject : verdict.subjects) subject.summary.trials_ok = 3;
    SubjectVerdict& candidate = verdict.subjects[1];
    candidate.baseline = 0;
    candidate.ratios.resize(1);
    candidate.ratios[0].metric = "latency_p50";
    Estimate& estimate = candidate.ratios[0].estimate;
    estimate.value = (ratio.low + ratio.high) / 2;
    estimate.interval = ratio;
    estimate.processes = 6;
  }

  [[nodiscard]] Answer answer() const { return run_answers(record, verdict).at(0); }
};

TEST(RunAnswers, SayWhatTheIntervalSays) {
  EXPECT_EQ(Judged({1.1, 1.2, 0.95}).answer().kind, AnswerKind::faster);
  EXPECT_EQ(Judged({0.8, 0.9, 0.95}).answer().kind, AnswerKind::slower);
  EXPECT_EQ(Judged({0.999, 1.001, 0.95}).answer().kind, AnswerKind::equivalent);
  EXPECT_EQ(Judged({0.9, 1.2, 0.95}).answer().kind, AnswerKind::undecided);
}

TEST(RunAnswers, HaveTheFigureThatTheyStandOn) {
  const Answer answer = Judged({1.1, 1.2, 0.95}).answer();
  EXPECT_EQ(answer.topic, AnswerTopic::speed);
  EXPECT_THAT(answer.subjects, ElementsAre(1));
  EXPECT_EQ(answer.baseline, 0);
  EXPECT_EQ(answer.metric, "latency_p50");
  EXPECT_EQ(answer.unit, "x");
  EXPECT_DOUBLE_EQ(*answer.value, 1.15);
  EXPECT_DOUBLE_EQ(answer.interval->low, 1.1);
}

TEST(RunAnswers, SayWhatWouldSettleThem) {
  const Answer answer = Judged({0.98, 1.08, 0.95}).answer();
  ASSERT_TRUE(answer.needed);
  EXPECT_EQ(answer.needed->what, "processes");
  EXPECT_EQ(answer.needed->total, 3 + answer.needed->more);
  EXPECT_DOUBLE_EQ(*answer.needed->seconds, 4.0 * static_cast<double>(answer.needed->more));  // two processes of 2 s
  EXPECT_FALSE(Judged({1.1, 1.2, 0.95}).answer().needed);
}

TEST(RunAnswers, CallNothingFasterThatGivesOtherOutputs) {
  Judged judged({1.1, 1.2, 0.95});
  const SubjectOutputs outputs{.subject = 1, .comparison = {.agree = false}};
  judged.verdict.subjects[1].outputs = &outputs;
  const Answer answer = judged.answer();
  EXPECT_EQ(answer.kind, AnswerKind::outputs_differ);
  EXPECT_EQ(answer.tone, Tone::bad);
  EXPECT_EQ(answer.direction, Direction::faster);
}

TEST(RunAnswers, BeginWithWhatWentWrong) {
  Judged judged({1.1, 1.2, 0.95});
  judged.verdict.subjects[0].leak = LeakEstimate{.verdict = LeakVerdict::leak, .reason = "it grows"};
  judged.record.trials[3].end = TrialEnd::crashed;
  EXPECT_THAT(kinds(run_answers(judged.record, judged.verdict)),
              ElementsAre(AnswerKind::failed, AnswerKind::leak, AnswerKind::faster));
}

TEST(RunAnswers, AreInTheVerdict) {
  const RunRecord record;
  EXPECT_TRUE(judge(record).answers.empty());
  EXPECT_FALSE(judge(record).checks.empty());
}

TEST(Answers, HaveNamesOfTheirOwn) {
  EXPECT_EQ(to_string(AnswerKind::faster), "faster");
  EXPECT_EQ(to_string(AnswerKind::outputs_differ), "outputs_differ");
  EXPECT_EQ(to_string(AnswerKind::predicted), "predicted");
  EXPECT_EQ(to_string(AnswerTopic::speed), "speed");
  EXPECT_EQ(to_string(AnswerTopic::prediction), "prediction");
}

}  // namespace
}  // namespace infermeter::run_answers_test
