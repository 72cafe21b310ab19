#include "infermeter/worker/wall/load_watch.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <new>
#include <vector>

namespace infermeter::load_watch_test {
namespace {

constexpr TickScale kScale{.tick_s = 1e-9, .origin_ticks = 0};
constexpr std::uint64_t kMilli = 1'000'000, kSecond = 1'000'000'000;

// A request every 10 ms, from 0 to `end_s`; each takes as many milliseconds as there are in `responses_ms(its end)`.
template <class Responses>
std::vector<TickPair> requests_until(double end_s, const Responses& responses_ms) {
  std::vector<TickPair> pairs;
  for (std::uint64_t end = kSecond; static_cast<double>(end) * 1e-9 <= end_s; end += 10 * kMilli)
    pairs.push_back({end - responses_ms(end) * kMilli, end});
  return pairs;
}

TEST(LoadWatch, TheRateIsOfTheLastTenSeconds) {
  LoadWatch watch;
  EXPECT_FALSE(watch.look(0, {}, {}, kScale).rate);
  std::uint64_t completed = 0;
  LoadNow now;
  for (int half_seconds = 1; half_seconds <= 80; ++half_seconds) {
    completed += half_seconds <= 40 ? 50 : 5;
    now = watch.look(half_seconds * 0.5, {.issued = completed + 4, .completed = completed, .failed = 1}, {}, kScale);
    if (half_seconds <= 40) {
      EXPECT_NEAR(*now.rate, 100, 1e-9);
    }
  }
  EXPECT_NEAR(*now.rate, 10, 1e-9);
  EXPECT_EQ(now.in_flight, 3U);
  EXPECT_EQ(now.failed, 1U);
}

TEST(LoadWatch, PercentilesAreOfTheLastTenSeconds) {
  const auto slow_at_first = [](std::uint64_t end) {
    return end < 20 * kSecond ? 500U : (end / kMilli) % 100 == 0 ? 90U : 10U;
  };
  const auto pairs = requests_until(40, slow_at_first);
  LoadWatch watch;
  const LoadNow now = watch.look(40, {.issued = 1, .completed = 1}, pairs, kScale);
  EXPECT_NEAR(*now.response_p50_s, 0.010, 1e-9);
  EXPECT_NEAR(*now.response_p99_s, 0.090, 1e-9);
  // Nothing has ended since.
  EXPECT_FALSE(watch.look(60, {.issued = 1}, pairs, kScale).response_p50_s);
}

TEST(LoadWatch, AP99NeedsAHundredRequests) {
  const auto ten = [](std::uint64_t) { return 10U; };
  LoadWatch watch;
  auto pairs = requests_until(1.985, ten);
  ASSERT_EQ(pairs.size(), 99U);
  pairs.push_back({});  // not written yet
  const LoadNow now = watch.look(2, {}, pairs, kScale);
  EXPECT_TRUE(now.response_p50_s);
  EXPECT_FALSE(now.response_p99_s);
  pairs.push_back({2 * kSecond - kMilli, 2 * kSecond});
  EXPECT_NEAR(*watch.look(2, {}, pairs, kScale).response_p99_s, 0.010, 1e-9);
}

TEST(LoadWatch, CountsThatCannotBeAreSurvived) {
  LoadWatch watch;
  EXPECT_EQ(watch.look(1, {.issued = 1, .completed = UINT64_MAX, .failed = 5}, {}, kScale).in_flight, 0U);
  EXPECT_EQ(*watch.look(2, {.issued = 1, .completed = 3}, {}, kScale).rate, 0);
  EXPECT_FALSE(watch.look(2, {}, std::vector<TickPair>{{kSecond, 5}, {UINT64_MAX, 3}}, kScale).response_p50_s);
}

TEST(LoadWatch, ReadsTheBlockOfALoadAlone) {
  const SampleCapacity capacity{.warmup = 0, .timed = 4};
  const std::size_t bytes = SampleBlock::bytes_for(capacity);
  const auto destroy = [](std::byte* memory) { operator delete[](memory, std::align_val_t{4096}); };
  const std::unique_ptr<std::byte[], decltype(destroy)> memory(new (std::align_val_t{4096}) std::byte[bytes](),
                                                               destroy);
  const SampleBlock block = SampleBlock::create({memory.get(), bytes}, capacity, ClockKind::monotonic,
                                                {.monotonic_ns = kSecond, .ticks = kSecond});
  LoadWatch watch;
  const ClockPair now{.monotonic_ns = 3 * kSecond, .ticks = 3 * kSecond};
  EXPECT_FALSE(watch.look(block, now));
  block.header().load.issued = 4;
  block.header().load.completed = 2;
  block.header().load.failed = 1;
  block.timed()[0] = {2 * kSecond, 2 * kSecond + kMilli};
  block.timed()[1] = {2 * kSecond, 2 * kSecond + 2 * kMilli};
  block.header().timed_done = 2;
  const auto seen = watch.look(block, now);
  ASSERT_TRUE(seen);
  EXPECT_EQ(seen->in_flight, 1U);
  EXPECT_EQ(seen->failed, 1U);
  EXPECT_NEAR(*seen->response_p50_s, 1e-3, 1e-9);
}

}  // namespace
}  // namespace infermeter::load_watch_test
