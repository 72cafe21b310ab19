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
}

}  // namespace
}  // namespace infermeter::generation_tally_test
