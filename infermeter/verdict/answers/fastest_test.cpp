#include "infermeter/verdict/answers/fastest.hpp"

#include <gmock/gmock.h>

#include "infermeter/verdict/judge.hpp"
#include "infermeter/verdict/test_pairs.hpp"

namespace infermeter::fastest_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

RunRecord measured(const std::vector<double>& slowdowns) {
  RunRecord record = test::record_with_question(static_cast<int>(slowdowns.size()), 5);
  record.plan.question.reset();
  test::add_pairs(record, 5, slowdowns);
  record.finished = true;
  return record;
}

std::vector<GroupAnswer> answers_of(const RunRecord& record) { return answer_groups(record, judge(record)); }

TEST(Fastest, IsTheOneThatAllOthersAreSlowerThan) {
  const auto answers = answers_of(measured({0.3, 0, 0.2}));
  ASSERT_EQ(answers.size(), 1);
  EXPECT_EQ(answers[0].first, 0);
  EXPECT_THAT(answers[0].fastest, ElementsAre(1));
}

TEST(Fastest, NamesThoseThatAreNotToldApart) {
  const RunRecord record = measured({0.3, 0, 0.0001});
  const auto fastest = answers_of(record)[0].fastest;
  EXPECT_THAT(fastest, testing::UnorderedElementsAre(1, 2));
  EXPECT_THAT(answers_of(record)[0].least_memory, testing::SizeIs(3));  // all the same
}

TEST(Fastest, IsNotAskedOfTwo) { EXPECT_THAT(answers_of(measured({0.3, 0})), IsEmpty()); }

TEST(Fastest, AreNotThoseThatAnswerSomethingElseOrFail) {
  RunRecord record = measured({0.3, 0, 0.2, 0.4});
  record.outputs.push_back({.subject = 1, .comparison = {.agree = false}});
  EXPECT_THAT(answers_of(record)[0].fastest, ElementsAre(2));
  record.trials[2].end = TrialEnd::crashed;
  record.trials[2].begin_s.clear();
  record.trials[2].end_s.clear();
  EXPECT_EQ(record.trials[2].subject, 2);
  EXPECT_THAT(answers_of(record), IsEmpty());  // two are left
}

}  // namespace
}  // namespace infermeter::fastest_test
