#include "infermeter/trial/generation/generation_tally.hpp"

#include <gtest/gtest.h>

#include "infermeter/samples/generation/generation_counters.hpp"

namespace infermeter::generation_tally_test {
namespace {

constexpr double ms = 1e-3, tick = 1e-6;

AnswerParts parts_at(std::vector<std::uint64_t> moments, std::optional<std::uint64_t> tokens = {}) {
  return {.moments = std::move(moments), .output_tokens = tokens};
}

double value_of(const GenerationRecord& record, std::string_view name) {
  for (const Counter& counter : generation_counters(record))
    if (counter.name == name) return counter.value;
  return -1;
}

TEST(GenerationTally, TimesOfAnAnswer) {
  const GenerationTimes times = generation_times(1000, 9000, parts_at({3000, 5000, 6000}));
  EXPECT_EQ(times.ttft, 2000U);
  EXPECT_EQ(times.tpot, 3000U) << "from the first piece to the end, two tokens";
  EXPECT_EQ(generation_times(1000, 9000, parts_at({3000, 5000}, 4)).tpot, 2000U) << "the server's count holds";
  EXPECT_FALSE(generation_times(1000, 9000, parts_at({3000}, 1)).tpot);
  EXPECT_FALSE(generation_times(1000, 9000, parts_at({}, 5)).ttft);
  EXPECT_EQ(generation_times(4000, 9000, parts_at({3000})).ttft, 0U) << "never negative";
}

TEST(GenerationTally, FiguresOfAnswers) {
  GenerationTally tally, other;
  EXPECT_FALSE(tally.record(tick, 1));
  for (std::uint64_t i = 0; i < 5; ++i) tally.add(0, 100'000, parts_at({50'000, 60'000, 70'000}, 6));
  for (std::uint64_t i = 0; i < 5; ++i) other.add(0, 100'000, parts_at({50'000, 60'000, 80'000}));
  tally.merge(other);
  const GenerationRecord record = *tally.record(tick, 2);
  EXPECT_EQ(record.answers, 10U);
  EXPECT_EQ(record.parts, 30U);
  EXPECT_EQ(record.counted_by_server, 5U);
  EXPECT_EQ(record.output_tokens, 45U);
  EXPECT_NEAR(value_of(record, "ttft_p50"), 50 * ms, 0.03 * ms);
  EXPECT_NEAR(value_of(record, "ttft_p90"), 50 * ms, 0.03 * ms);
  EXPECT_EQ(value_of(record, "ttft_p99"), -1) << "ten have no p99";
  EXPECT_NEAR(value_of(record, "itl_p50"), 10 * ms, 0.01 * ms);
  EXPECT_NEAR(value_of(record, "tpot_p50"), 10 * ms, 0.01 * ms);
  EXPECT_NEAR(value_of(record, "tpot_p90"), 25 * ms, 0.02 * ms);
  EXPECT_EQ(value_of(record, "output_tokens_mean"), 4.5);
  EXPECT_EQ(value_of(record, "output_tokens_rate"), 22.5);
  EXPECT_EQ(value_of(record, "prompt_tokens_mean"), -1);
}

TEST(GenerationTally, AnswersOfUnknownLengthHaveNoRate) {
  GenerationTally tally;
  tally.add(0, 10, parts_at({}, 5));
  tally.add(0, 10, parts_at({}));
  const GenerationRecord record = *tally.record(tick, 1);
  EXPECT_EQ(value_of(record, "output_tokens_mean"), 5);
  EXPECT_EQ(value_of(record, "output_tokens_rate"), -1);
}

// Gaps and first tokens that take longer, the further in and the longer the prompt is.
TEST(GenerationTally, TimesByPositionAndByLengthOfThePrompt) {
  GenerationTally tally, other;
  for (std::uint64_t answer = 0; answer < 12; ++answer) {
    AnswerParts parts{.output_tokens = 18, .prompt_tokens = answer < 4 ? 100 : 208 + answer};
    const std::uint64_t first = answer < 4 ? 5'000 : 9'000;
    parts.moments = {first};
    for (std::uint64_t gap = 1; gap < 18; ++gap)
      parts.moments.push_back(parts.moments.back() + 1'000 + 10 * gap + (answer == 11 ? 500 : 0));
    (answer % 2 == 0 ? tally : other).add(0, parts.moments.back(), parts);
  }
  tally.merge(other);
  const GenerationRecord record = *tally.record(tick, 1);
  ASSERT_EQ(record.itl_by_position.size(), 16U) << "one of each position up to 15, 16 and 17 together";
  const TimesOfTokens& sixth = record.itl_by_position[5];
  EXPECT_EQ(sixth.first, 6U);
  EXPECT_EQ(sixth.last, 6U);
  EXPECT_EQ(sixth.count, 12U);
  EXPECT_NEAR(sixth.p50_s, 1.06 * ms, 0.001 * ms);
  EXPECT_NEAR(*sixth.p90_s, 1.06 * ms, 0.001 * ms) << "one of twelve is not a p90";
  EXPECT_EQ(record.itl_by_position[15].first, 16U);
  EXPECT_EQ(record.itl_by_position[15].last, 17U);
  EXPECT_DOUBLE_EQ(record.itl_by_position[15].tokens_mean, 16.5);
  EXPECT_EQ(record.itl_by_position[15].count, 24U);
  ASSERT_EQ(record.ttft_by_prompt.size(), 2U);
  EXPECT_EQ(record.ttft_by_prompt[0].first, 96U);
  EXPECT_EQ(record.ttft_by_prompt[0].last, 103U);
  EXPECT_EQ(record.ttft_by_prompt[0].count, 4U);
  EXPECT_DOUBLE_EQ(record.ttft_by_prompt[0].tokens_mean, 100);
  EXPECT_NEAR(record.ttft_by_prompt[0].p50_s, 5 * ms, 0.01 * ms);
  EXPECT_FALSE(record.ttft_by_prompt[0].p90_s) << "of four there is none";
  EXPECT_DOUBLE_EQ(record.ttft_by_prompt[1].tokens_mean, 215.5);
  EXPECT_NEAR(record.ttft_by_prompt[1].p50_s, 9 * ms, 0.01 * ms);
  EXPECT_FALSE(wrong_in_generation_record(record));
}

TEST(GenerationTally, NobodyKnowsTheLengthOfAPromptThatIsNotTold) {
  GenerationTally tally;
  tally.add(0, 10'000, parts_at({5'000, 6'000}));
  const GenerationRecord record = *tally.record(tick, 1);
  EXPECT_TRUE(record.ttft_by_prompt.empty());
  EXPECT_EQ(record.itl_by_position.size(), 1U);
}

TEST(GenerationTally, RecordsFromOutsideAreChecked) {
  GenerationRecord record{.answers = 1, .duration_s = 1};
  EXPECT_FALSE(wrong_in_generation_record(record));
  record.ttft = {.tick_s = 1e-9, .counts = {{5, 1}, {4, 1}}};
  EXPECT_EQ(wrong_in_generation_record(record), "'generation.ttft.counts' is not in ascending order at bucket 4");
  record.ttft = {};
  record.duration_s = -1;
  EXPECT_TRUE(wrong_in_generation_record(record));
  record.duration_s = 1;
  record.parts = UINT64_MAX;
  EXPECT_TRUE(wrong_in_generation_record(record));
  record.parts = 0;
  record.itl_by_position = {{1, 1, 1, 1, 0.01, {}}, {1, 2, 2, 1, 0.01, {}}};
  EXPECT_EQ(wrong_in_generation_record(record), "'generation.itl_by_position' is not in ascending order at 1");
  record.itl_by_position.resize(1);
  record.ttft_by_prompt = {{8, 8, 9, 1, 0.01, {}}};
  EXPECT_EQ(wrong_in_generation_record(record), "'generation.ttft_by_prompt[0]' has a figure that is none");
  record.ttft_by_prompt.clear();
  record.itl_by_position.assign(kMostTimesOfTokens + 1, {});
  EXPECT_TRUE(wrong_in_generation_record(record));
}

}  // namespace
}  // namespace infermeter::generation_tally_test
