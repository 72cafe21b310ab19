#include "infermeter/trial/machine/calibration.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "infermeter/trial/machine/times.hpp"

namespace infermeter::calibration_test {
namespace {

// A reference and a counter that runs at 2.5 GHz beside it; each reading takes the time that the script says.
struct Script {
  std::uint64_t now_ns = 1'000'000;
  std::vector<std::uint64_t> gaps;
  std::size_t reading = 0;
};
struct Reference {
  Script* script;
  std::uint64_t now() const { return script->now_ns; }
};
struct Counter25 {
  Script* script;
  std::uint64_t now() const {
    const std::uint64_t gap = script->gaps[script->reading++ % script->gaps.size()];
    script->now_ns += gap / 2;
    const std::uint64_t ticks = script->now_ns * 5 / 2;
    script->now_ns += gap - gap / 2;
    return ticks;
  }
};

TEST(Calibration, KeepsTheTightestOfSeveralPairs) {
  Script script{.now_ns = 1'000'000, .gaps = {9000, 400, 20, 5000, 800, 60, 7000, 3000}, .reading = 0};
  const ClockPair pair = read_pair(Counter25{&script}, Reference{&script});
  EXPECT_EQ(pair.ticks, pair.monotonic_ns * 5 / 2);
  EXPECT_EQ(pair.monotonic_ns, 1'000'000U + 9000 + 400 + 10);
}

TEST(Calibration, FindsTheRateOfTheCounter) {
  const TickScale scale = scale_between(ClockKind::tsc, {1000, 7'000'000}, {1'001'001'000, 7'000'000 + 2'502'500'000});
  EXPECT_NEAR(scale.tick_s, 0.4e-9, 1e-15);
  EXPECT_NEAR(scale.seconds(7'002'500), 1e-6, 1e-12);
  EXPECT_LT(scale.seconds(6'999'999), 0) << "before the origin";
  EXPECT_EQ(scale.ticks_for(1e-3), 2'500'000U);
  EXPECT_EQ(scale.ticks_for(1e30), UINT64_MAX);
  EXPECT_EQ(scale.ticks_for(0), 0U);
}

TEST(Calibration, FallsBackOnNanosecondsWhenPairsMakeNoSense) {
  EXPECT_DOUBLE_EQ(scale_between(ClockKind::tsc, {5, 100}, {5, 200}).tick_s, 1e-9);
  EXPECT_DOUBLE_EQ(scale_between(ClockKind::tsc, {5, 100}, {9, 100}).tick_s, 1e-9);
  EXPECT_DOUBLE_EQ(scale_between(ClockKind::monotonic, {5, 100}, {9, 300}).tick_s, 1e-9);
}

TEST(Calibration, AgreesWithTheMonotonicClockHere) {
  if (!has_invariant_tsc()) GTEST_SKIP() << "no invariant time stamp counter";
  const ClockPair first = read_pair(ClockKind::tsc);
  while (MonotonicClock{}.now() < first.monotonic_ns + 5'000'000) {
  }
  const ClockPair middle = read_pair(ClockKind::tsc);
  while (MonotonicClock{}.now() < first.monotonic_ns + 10'000'000) {
  }
  const TickScale scale = scale_between(ClockKind::tsc, first, read_pair(ClockKind::tsc));
  const double monotonic = static_cast<double>(middle.monotonic_ns - first.monotonic_ns) * 1e-9;
  EXPECT_NEAR(scale.seconds(middle.ticks), monotonic, 5e-6);
}

TEST(Clock, AReadingCostsSomething) {
  const double cost = read_cost_ticks(MonotonicClock{});
  EXPECT_GT(cost, 0);
  EXPECT_LT(cost, 100'000);
}

class Times : public testing::Test {
 protected:
  Times() : memory_(SampleBlock::bytes_for(capacity) / 8) {}
  SampleBlock make() { return SampleBlock::create(bytes(), capacity, ClockKind::monotonic, {1000, 1000}); }
  std::span<std::byte> bytes() { return std::as_writable_bytes(std::span(memory_)); }
  static constexpr SampleCapacity capacity{.warmup = 2, .timed = 4};
  std::vector<std::uint64_t> memory_;
};

TEST_F(Times, AreSecondsSinceTheStart) {
  const SampleBlock block = make();
  block.timed()[0] = {2000, 2500};
  block.timed()[1] = {3000, 3400};
  block.header().timed_done = 2;
  block.warmup()[0] = {1100, 1200}, block.warmup()[1] = {1200, 1300};
  block.header().warmup_done = 5000;  // of which there is room for two
  block.header().read_cost_ticks = 20;
  Samples samples;
  record_times(block, {9000, 9000}, samples);
  EXPECT_DOUBLE_EQ(samples.begin_s.at(0), 1e-6);
  EXPECT_DOUBLE_EQ(samples.end_s.at(1), 2.4e-6);
  EXPECT_DOUBLE_EQ(samples.ready_s.value(), 1e-6);
  EXPECT_DOUBLE_EQ(samples.clock.read_cost_s, 20e-9);
  EXPECT_EQ(samples.clock.name, "monotonic");
  EXPECT_EQ(samples.warmups(), 5000);
  ASSERT_EQ(samples.diagnostics.size(), 1U) << "450 ns are more than 20 readings of 20 ns";
  EXPECT_EQ(samples.diagnostics[0].id, DiagnosticId::clock_not_tsc);
}

TEST_F(Times, StopAtTheFirstPairThatCannotBe) {
  const TickPair impossible[] = {{500, 600}, {3000, 2900}, {2400, 2600}, {8000, 9001}, {UINT64_MAX - 1, UINT64_MAX}};
  for (const TickPair& pair : impossible) {
    const SampleBlock block = make();
    block.timed()[0] = {2000, 2500};
    block.timed()[1] = pair;
    block.timed()[2] = {8100, 8200};
    block.header().timed_done = 3;
    Samples samples;
    record_times(block, {9000, 9000}, samples);
    EXPECT_EQ(samples.begin_s.size(), 1U) << pair.begin << ' ' << pair.end;
    EXPECT_EQ(samples.end_s.size(), 1U);
  }
}

TEST_F(Times, AWildHeaderIsNotBelieved) {
  const SampleBlock block = make();
  std::memset(static_cast<void*>(&block.header()), 0xff, sizeof(SampleHeader));
  Samples samples;
  record_times(block, {9000, 9000}, samples);
  EXPECT_EQ(samples.iterations(), 0U) << "4 are looked at, not 2^64";
  EXPECT_EQ(samples.warmup_iterations, std::int64_t{1} << 53) << "which JSON can hold";
  EXPECT_EQ(block.timed_done().size(), 4U);
  EXPECT_EQ(block.phase(), Phase::done);
  EXPECT_EQ(samples.clock.read_cost_s, 0) << "NaN";
}

TEST_F(Times, ABlockOfAnotherMakeIsRefused) {
  static_cast<void>(make());
  EXPECT_TRUE(SampleBlock::open(bytes()).ok());
  EXPECT_FALSE(SampleBlock::open(bytes().first(100)).ok());
  EXPECT_FALSE(SampleBlock::open(bytes().first(4096)).ok()) << "cut";
  reinterpret_cast<SampleHeader*>(bytes().data())->timed_capacity = UINT64_MAX / 16;
  EXPECT_FALSE(SampleBlock::open(bytes()).ok());
  static_cast<void>(make());
  reinterpret_cast<SampleHeader*>(bytes().data())->version = 7;
  EXPECT_FALSE(SampleBlock::open(bytes()).ok());
}

TEST(SampleBlock, HasRoomForWhatWasAskedUpToItsBounds) {
  EXPECT_EQ(SampleBlock::capacity_for({.warmup = 3, .iterations = 5, .duration_s = {}}, true).timed, 5U);
  EXPECT_EQ(SampleBlock::capacity_for({.warmup = 3, .iterations = 5, .duration_s = {}}, false).timed, 0U);
  EXPECT_EQ(SampleBlock::capacity_for({.warmup = 9999, .iterations = {}, .duration_s = 1}, true).warmup, 4096U);
  EXPECT_EQ(SampleBlock::capacity_for({.warmup = 0, .iterations = INT64_MAX, .duration_s = {}}, true).timed,
            SampleBlock::max_iterations);
}

}  // namespace
}  // namespace infermeter::calibration_test
