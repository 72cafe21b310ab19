#include "infermeter/stats/summary/ratio.hpp"

#include <cmath>

#include <gtest/gtest.h>

#include "infermeter/stats/summary/summary.hpp"
#include "infermeter/stats/test_noise.hpp"
#include "infermeter/stats/test_trials.hpp"

namespace infermeter::ratio_test {
namespace {

std::vector<Samples> constant_processes(const std::vector<double>& durations, std::size_t iterations = 6) {
  std::vector<std::vector<double>> all;
  for (const double duration : durations) all.emplace_back(iterations, duration);
  return trials_of(all);
}

const std::vector<double> slow = {0.0201, 0.0225, 0.0209};
const std::vector<double> fast = {0.0112, 0.0118, 0.0109, 0.0131};

// The reference figures are those of process_interval_test.cpp.
TEST(Ratio, OfTimesSaysHowManyTimesAsFast) {
  const Ratio speedup = ratio(constant_processes(slow), constant_processes(fast), "latency_p50", {});
  EXPECT_EQ(speedup.metric, "latency_p50");
  EXPECT_NEAR(*speedup.estimate.value, 1.8039541617924832, 1e-9);
  EXPECT_NEAR(speedup.estimate.interval->low, 1.5768310115381834, 1e-9);
  EXPECT_NEAR(speedup.estimate.interval->high, 2.0637916137087706, 1e-9);
  EXPECT_EQ(speedup.estimate.processes, 7);
  EXPECT_EQ(speedup.estimate.n, 42);
}

TEST(Ratio, OfThroughputTurnsTheOtherWay) {
  const auto faster = ratio(constant_processes(slow), constant_processes(fast), "throughput", {}).estimate;
  EXPECT_NEAR(*faster.value, 1.8039541617924832, 1e-9);
  const auto slower = ratio(constant_processes(fast), constant_processes(slow), "throughput", {}).estimate;
  EXPECT_NEAR(*slower.value * *faster.value, 1, 1e-12);
  EXPECT_NEAR(slower.interval->low * faster.interval->high, 1, 1e-12);
}

TEST(Ratio, OfMemoryIsAboveOneWhereTheCandidateNeedsLess) {
  auto before = constant_processes({1, 1});
  auto after = constant_processes({1, 1});
  for (Samples& trial : before) trial.memory.rss_peak_inference = 300;
  for (Samples& trial : after) trial.memory.rss_peak_inference = 100;
  EXPECT_NEAR(*ratio(before, after, "memory_peak", {}).estimate.value, 3, 1e-12);
}

TEST(Ratio, OneProcessGivesAValueWithoutAnInterval) {
  const auto estimate = ratio(constant_processes({0.02}), constant_processes(fast), "latency_p50", {}).estimate;
  EXPECT_TRUE(estimate.value);
  EXPECT_FALSE(estimate.interval);
  EXPECT_EQ(estimate.note, "needs 2 processes of each for an interval");
}

TEST(Ratio, SaysWhyThereIsNone) {
  const auto good = constant_processes(fast);
  EXPECT_EQ(ratio(good, good, "latency_p42", {}).estimate.note, "there is no metric 'latency_p42'");
  EXPECT_EQ(ratio({}, good, "latency_p50", {}).estimate.note, "the baseline: no timed iterations");
  EXPECT_EQ(ratio(good, {}, "latency_p50", {}).estimate.note, "no timed iterations");
  EXPECT_EQ(ratio(good, good, "latency_p99", {}).estimate.note, "needs 299 iterations");
  EXPECT_EQ(ratio(good, constant_processes({0, 0}), "latency_p50", {}).estimate.note,
            "no ratio: a value is 0 or the two are too far apart");
  EXPECT_FALSE(ratio(good, constant_processes({0, 0}), "latency_p50", {}).estimate.value);
  EXPECT_FALSE(ratio(good, constant_processes({0, 0}), "latency_min", {}).estimate.value);
}

TEST(Ratio, OfExtremesHasNoInterval) {
  const auto estimate = ratio(constant_processes(slow), constant_processes(fast), "latency_min", {}).estimate;
  EXPECT_NEAR(*estimate.value, 0.0201 / 0.0109, 1e-12);
  EXPECT_FALSE(estimate.interval);
  EXPECT_EQ(estimate.note, "no interval for this metric");
}

TEST(Ratio, OfASubjectWithItselfHoldsOne) {
  const auto trials = constant_processes(fast);
  const auto estimate = ratio(trials, trials, "latency_mean", {}).estimate;
  EXPECT_NEAR(*estimate.value, 1, 1e-15);
  EXPECT_LT(estimate.interval->low, 1);
  EXPECT_GT(estimate.interval->high, 1);
}

TEST(Ratio, OfSidesMadeReadyIsTheSame) {
  const auto before = constant_processes(slow), after = constant_processes(fast);
  for (const char* metric : {"latency_p50", "throughput", "latency_max"}) {
    const MetricKind& kind = *metric_kind(metric);
    const RatioSide baseline = ratio_side(kind, subject_times(before, {}), Coverage{});
    const RatioSide candidate = ratio_side(kind, subject_times(after, {}), Coverage{});
    const Estimate prepared = ratio_of_sides(kind, baseline, candidate, Coverage{}, Pairing::none);
    const Estimate whole = ratio(before, after, metric, {}).estimate;
    EXPECT_EQ(prepared.value, whole.value) << metric;
    EXPECT_EQ(prepared.interval.has_value(), whole.interval.has_value()) << metric;
    EXPECT_EQ(prepared.n, whole.n);
    const Estimate turned = reversed(prepared),
                   other = ratio_of_sides(kind, candidate, baseline, Coverage{}, Pairing::none);
    EXPECT_NEAR(*turned.value, *other.value, 1e-12) << metric;
    if (!other.interval) continue;
    EXPECT_NEAR(turned.interval->low, other.interval->low, 1e-12) << metric;
    EXPECT_NEAR(turned.interval->high, other.interval->high, 1e-12) << metric;
  }
}

TEST(Ratio, ThatIsNotKnownIsNotKnownReversedEither) {
  const Estimate none = reversed(ratio({}, constant_processes(fast), "latency_p50", {}).estimate);
  EXPECT_FALSE(none.value);
  EXPECT_EQ(none.note, "the baseline: no timed iterations");
}

// Both drift by 20 % a block, and the second takes twice as long but for 1 %.
TEST(Ratio, OfOneRunPairsProcessesOfABlock) {
  std::vector<std::vector<double>> before, after;
  for (int block = 0; block < 5; ++block) {
    const double level = 1 + 0.2 * block;
    before.emplace_back(10, level);
    after.emplace_back(10, 2 * level * (1 + 0.01 * (block % 3 - 1)));
  }
  const auto a = trials_of(before), b = trials_of(after);
  const Estimate paired = ratio(a, b, "latency_p50", {}, Pairing::blocks).estimate;
  const Estimate unpaired = ratio(a, b, "latency_p50", {}).estimate;
  EXPECT_NEAR(*paired.value, *unpaired.value, 1e-12);
  EXPECT_LT(paired.interval->high / paired.interval->low, 1.03);
  EXPECT_GT(unpaired.interval->high / unpaired.interval->low, 1.5);
  EXPECT_EQ(paired.method, "ratio of geometric means over processes; paired t interval on logarithms over blocks");
  // Two blocks, and blocks of which one lacks a value, are not paired.
  const auto of_two = std::span(b).first(2);
  EXPECT_EQ(ratio(std::span(a).first(2), of_two, "latency_p50", {}, Pairing::blocks).estimate.method, unpaired.method);
  EXPECT_EQ(ratio(a, std::span(b).last(4), "latency_p50", {}, Pairing::blocks).estimate.method, unpaired.method);
}

TEST(Ratio, OfTailPercentilesJoinsTheirIntervals) {
  SplitMix random(4);
  std::vector<std::vector<double>> before(5), after(5);
  for (std::size_t process = 0; process < 5; ++process) {
    for (int i = 0; i < 200; ++i) {
      before[process].push_back(2 * std::exp(0.1 * random.normal()));
      after[process].push_back(std::exp(0.1 * random.normal()));
    }
  }
  const auto a = trials_of(before), b = trials_of(after);
  const Estimate p95 = ratio(a, b, "latency_p95", {}).estimate;
  const Estimate above = summarise(a, {}).metric("latency_p95")->estimate;
  const Estimate below = summarise(b, {}).metric("latency_p95")->estimate;
  EXPECT_DOUBLE_EQ(*p95.value, *above.value / *below.value);
  ASSERT_TRUE(p95.interval);
  // math.hypot of the distances of the logarithms
  EXPECT_NEAR(std::log(*p95.value / p95.interval->low),
              std::hypot(std::log(*above.value / above.interval->low), std::log(below.interval->high / *below.value)),
              1e-12);
  EXPECT_LT(p95.interval->low, 2);
  EXPECT_GT(p95.interval->high, 2);
}

// Three equal candidates: the level is shared by all, then by those that are open.
TEST(Ratio, FamiliesShareTheLevelAfterHolm) {
  const MetricKind& kind = *metric_kind("latency_p50");
  const auto side = [&](const std::vector<double>& durations) {
    return ratio_side(kind, subject_times(constant_processes(durations), {}), Coverage{});
  };
  const RatioSide first = side({0.0200, 0.0202, 0.0201, 0.0199, 0.0203});
  const RatioSide far = side({0.0100, 0.0101, 0.0102, 0.0100, 0.0099});
  const RatioSide near = side({0.0199, 0.0203, 0.0200, 0.0201, 0.0202});
  std::vector<std::size_t> asked;
  const auto coverage_of = [&](std::size_t open) {
    asked.push_back(open);
    return Coverage{0.95, 1 - 0.05 / static_cast<double>(open)};
  };
  const std::vector<RatioSides> family = {{&first, &near}, {&first, &far}, {&first, &near}};
  const auto ratios = ratios_in_family(kind, family, coverage_of, Pairing::none);
  EXPECT_EQ(asked, (std::vector<std::size_t>{3, 2}));
  const auto alone = [&](const RatioSide& candidate, double level) {
    return ratio_of_sides(kind, first, candidate, {0.95, 1 - level}, Pairing::none).interval->low;
  };
  EXPECT_DOUBLE_EQ(ratios[1].interval->low, alone(far, 0.05 / 3));
  EXPECT_DOUBLE_EQ(ratios[0].interval->low, alone(near, 0.025));
  EXPECT_DOUBLE_EQ(ratios[2].interval->low, alone(near, 0.025));
  EXPECT_EQ(ratios[0].interval->confidence, 0.95);
  EXPECT_TRUE(ratios_in_family(kind, {}, coverage_of, Pairing::none).empty());
}

TEST(Ratio, OfAFigureOfALoadIsThatOfItsProcesses) {
  auto with = [](std::string name, double value) {
    auto trials = trials_of({{1, 1}, {1, 1}, {1, 1}});
    for (std::size_t i = 0; i < trials.size(); ++i) {
      trials[i].counters = {{name, "", value * (1 + 0.01 * static_cast<double>(i))}};
    }
    return trials;
  };
  const auto faster = ratio(with("response_p99", 2), with("response_p99", 1), "response_p99", {}).estimate;
  EXPECT_NEAR(*faster.value, 2, 1e-12);
  ASSERT_TRUE(faster.interval);
  EXPECT_NEAR(*ratio(with("achieved_rate", 1), with("achieved_rate", 2), "achieved_rate", {}).estimate.value, 2, 1e-12);
  EXPECT_EQ(ratio(with("x", 1), with("x", 2), "response_p50", {}).estimate.value, std::nullopt);
}

}  // namespace
}  // namespace infermeter::ratio_test
