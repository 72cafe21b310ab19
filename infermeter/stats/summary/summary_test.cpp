#include "infermeter/stats/summary/summary.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "infermeter/stats/test_trials.hpp"

namespace infermeter::summary_test {
namespace {

using testing::HasSubstr;

std::vector<std::vector<double>> noisy(std::size_t processes, std::size_t iterations, std::uint64_t seed,
                                       double middle = 0.01) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> process(0, 0.01);
  std::normal_distribution<double> iteration(0, 0.02);
  std::vector<std::vector<double>> durations(processes, std::vector<double>(iterations));
  for (auto& one : durations) {
    const double shift = process(random);
    for (double& value : one) value = middle * std::exp(shift + iteration(random));
  }
  return durations;
}

const Diagnostic* find(const Summary& summary, DiagnosticId id) {
  const auto found = std::ranges::find(summary.diagnostics, id, &Diagnostic::id);
  return found == summary.diagnostics.end() ? nullptr : &*found;
}

std::string message(const Summary& summary, DiagnosticId id) {
  const Diagnostic* found = find(summary, id);
  return found == nullptr ? "(none)" : found->message;
}

void expect_finite(const Summary& summary) {
  for (const Metric& metric : summary.metrics) {
    const Estimate& e = metric.estimate;
    EXPECT_TRUE(std::isfinite(e.value.value_or(0))) << metric.name;
    EXPECT_EQ(e.value.has_value() || !e.note.empty(), true) << metric.name;
    const Interval interval = e.interval.value_or(Interval{});
    EXPECT_TRUE(std::isfinite(interval.low) && std::isfinite(interval.high)) << metric.name;
    EXPECT_FALSE(e.method.empty()) << metric.name;
  }
}

TEST(Summary, HasEveryMetricInTheOrderOfReports) {
  const Summary summary = summarise({}, {});
  std::vector<std::string> names;
  for (const Metric& metric : summary.metrics) names.push_back(metric.name);
  EXPECT_THAT(names, testing::ElementsAre("latency_p50", "latency_p90", "latency_p95", "latency_p99", "latency_mean",
                                          "latency_std", "latency_min", "latency_max", "throughput", "memory_peak",
                                          "device_memory_peak", "load_time", "compile_time", "first_inference_time"));
  EXPECT_EQ(summary.metric("latency_p42"), nullptr);
  EXPECT_FALSE(summary.metric("throughput")->lower_is_better);
  EXPECT_TRUE(summary.metric("memory_peak")->lower_is_better);
  EXPECT_EQ(summary.metric("throughput")->unit, "items/s");
}

// Medians 2 and 6 by process: their geometric mean is √12 = 3.46; the pooled median would be 3, the mean 4.
TEST(Summary, MedianIsTheGeometricMeanOverProcesses) {
  const Summary summary = summarise(trials_of({{1, 2, 3, 2, 2}, {6, 6, 6, 3, 9}}), {});
  const Metric& median = *summary.metric("latency_p50");
  EXPECT_NEAR(*median.estimate.value, std::sqrt(12.0), 1e-12);
  EXPECT_EQ(median.estimate.n, 10);
  EXPECT_EQ(median.estimate.processes, 2);
  // l = np.log([2, 6]); np.exp(scipy.stats.t.interval(0.95, 1, l.mean(), scipy.stats.sem(l)))
  EXPECT_NEAR(median.estimate.interval->low, 0.0032239659756456572, 1e-6);
  EXPECT_NEAR(median.estimate.interval->high, 3722.123648527891, 1e-3);
  // Within the ten iterations: ranks 2 and 9, np.sort(...)[[1, 8]]
  ASSERT_TRUE(median.within);
  EXPECT_EQ(median.within->low, 2);
  EXPECT_EQ(median.within->high, 6);
}

TEST(Summary, OtherFiguresOfIterations) {
  const Summary summary = summarise(trials_of({{1, 2, 4}, {10, 13}}), {});
  EXPECT_EQ(*summary.metric("latency_min")->estimate.value, 1);
  EXPECT_EQ(*summary.metric("latency_max")->estimate.value, 13);
  // np.sqrt((np.var([1, 2, 4], ddof=1) * 2 + np.var([10, 13], ddof=1)) / 3); over all five it would be 5.24
  EXPECT_NEAR(*summary.metric("latency_std")->estimate.value, 1.7480147469502525, 1e-12);
  EXPECT_NEAR(*summary.metric("latency_mean")->estimate.value, std::sqrt(7.0 / 3 * 11.5), 1e-12);
  EXPECT_FALSE(summary.metric("latency_std")->estimate.interval);
  EXPECT_EQ(summary.metric("latency_max")->estimate.n, 5);
}

TEST(Summary, ThroughputIsItemsOverTime) {
  auto trials = trials_of({{0.5, 0.5, 1}, {1, 1, 2}});
  for (Samples& trial : trials) trial.items_per_iteration = 8;
  const Summary summary = summarise(trials, {});
  // 24 items in 2 s and in 4 s: 12 and 6 per second
  EXPECT_NEAR(*summary.metric("throughput")->estimate.value, std::sqrt(72.0), 1e-12);
  EXPECT_TRUE(summary.metric("throughput")->estimate.interval);
}

TEST(Summary, ValuesRecordedOncePerProcess) {
  auto trials = trials_of({{1, 1}, {1, 1}, {1, 1}});
  for (std::size_t i = 0; i < 3; ++i) {
    trials[i].load_s = 0.5;
    trials[i].memory.rss_peak_inference = std::uint64_t{100} << i;
    trials[i].memory.rss_peak_load = 999;  // not what is asked for
  }
  trials[0].first_inference_s = 0.25;
  trials[0].memory.device_peak = trials[1].memory.device_peak = 3'000'000;
  const Summary summary = summarise(trials, {});
  EXPECT_EQ(summary.metric("device_memory_peak")->estimate.value, 3e6);
  EXPECT_EQ(summary.metric("device_memory_peak")->estimate.processes, 2);
  EXPECT_NEAR(*summary.metric("memory_peak")->estimate.value, 200,
              1e-9);  // geometric; the mean is 233, the largest 400
  EXPECT_EQ(summary.metric("memory_peak")->estimate.n, 3);
  EXPECT_NEAR(summary.metric("load_time")->estimate.interval->high, 0.5, 1e-12);
  EXPECT_EQ(summary.metric("first_inference_time")->estimate.processes, 1);
  EXPECT_EQ(summary.metric("first_inference_time")->estimate.note, "needs 2 processes for an interval");
  EXPECT_EQ(summary.metric("compile_time")->estimate.value, std::nullopt);
  EXPECT_EQ(summary.metric("compile_time")->estimate.note, "not measured");
}

TEST(Summary, PercentilesNeedEnoughIterations) {
  const Summary few = summarise(trials_of(noisy(3, 10, 1)), {});
  EXPECT_TRUE(few.metric("latency_p90")->estimate.value);
  EXPECT_EQ(few.metric("latency_p95")->estimate.value, std::nullopt);
  EXPECT_EQ(few.metric("latency_p95")->estimate.note, "needs 59 iterations");
  EXPECT_EQ(few.metric("latency_p99")->estimate.note, "needs 299 iterations");
  EXPECT_FALSE(few.metric("latency_p99")->within);
  EXPECT_EQ(message(few, DiagnosticId::too_few_samples),
            "there are 30 iterations, but latency_p95 needs 59 iterations, latency_p99 needs 299 iterations");
  const Summary enough = summarise(trials_of(noisy(3, 100, 1)), {});
  EXPECT_TRUE(enough.metric("latency_p99")->estimate.value);
  EXPECT_TRUE(enough.metric("latency_p99")->within);
  EXPECT_EQ(find(enough, DiagnosticId::too_few_samples), nullptr);
}

TEST(Summary, OneProcessHasNoInterval) {
  const Summary summary = summarise(trials_of(noisy(1, 50, 2)), {});
  EXPECT_TRUE(summary.metric("latency_p50")->estimate.value);
  EXPECT_FALSE(summary.metric("latency_p50")->estimate.interval);
  EXPECT_TRUE(find(summary, DiagnosticId::too_few_processes));
  EXPECT_FALSE(find(summarise(trials_of(noisy(2, 50, 2)), {}), DiagnosticId::too_few_processes));
}

TEST(Summary, ZeroOneAndTwoIterations) {
  for (const auto& durations : std::vector<std::vector<std::vector<double>>>{{}, {{}}, {{1}}, {{1}, {2}}, {{1, 2}}}) {
    const Summary summary = summarise(trials_of(durations), {});
    expect_finite(summary);
    EXPECT_EQ(summary.metric("latency_p50")->estimate.value, std::nullopt);
  }
  const Summary none = summarise(trials_of({{}, {}}), {});
  EXPECT_EQ(none.trials_failed, 2);
  EXPECT_EQ(none.metric("latency_mean")->estimate.note, "no timed iterations");
  EXPECT_EQ(summarise(trials_of({{1}}), {}).metric("latency_std")->estimate.note, "needs 2 iterations in a process");
  EXPECT_EQ(summarise(trials_of({{1}}), {}).metric("latency_p50")->estimate.note, "needs 6 iterations");
}

TEST(Summary, ConstantLatenciesAreSaid) {
  const Summary summary = summarise(trials_of({{0.5, 0.5, 0.5}, {0.5, 0.5, 0.5}}), {});
  expect_finite(summary);
  EXPECT_EQ(*summary.metric("latency_std")->estimate.value, 0);
  EXPECT_EQ(message(summary, DiagnosticId::constant_latencies), "all 6 iterations took exactly 0.5 s");
  EXPECT_FALSE(find(summarise(trials_of({{0.5, 0.5, 0.6}}), {}), DiagnosticId::constant_latencies));
}

TEST(Summary, DurationsOfZeroGiveNoThroughput) {
  const Summary summary = summarise(trials_of({{0, 0, 0, 0}, {0, 0, 0, 0}}), {});
  expect_finite(summary);
  EXPECT_EQ(*summary.metric("latency_p50")->estimate.value, 0);
  EXPECT_EQ(summary.metric("throughput")->estimate.note, "the iterations took no time that the clock can see");
}

TEST(Summary, NonFiniteAndNegativeDurationsAreLeftOutAndCounted) {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  constexpr double inf = std::numeric_limits<double>::infinity();
  const Summary summary = summarise(trials_of({{1, nan, 2, inf, -1}, {nan}}), {});
  expect_finite(summary);
  EXPECT_EQ(message(summary, DiagnosticId::non_finite_latencies),
            "4 iterations without a finite duration are left out");
  EXPECT_EQ(*summary.metric("latency_max")->estimate.value, 2);
  EXPECT_EQ(*summary.metric("latency_min")->estimate.value, 1);
  EXPECT_EQ(summary.trials_failed, 1);
  expect_finite(summarise(trials_of({{1e308, 1e308, 1e308}, {1e308}}), {}));  // their sum is infinite
}

// Requests overlap, and those that wait long are what a load is about.
TEST(Summary, UnderLoadThroughputIsWhatWasCompletedAndNothingIsAnOutlier) {
  std::vector<double> responses(50, 1.0);
  for (std::size_t i = 0; i < responses.size(); ++i) responses[i] += 0.001 * static_cast<double>(i);
  responses.back() = 90;
  auto trials = trials_of({responses, responses});
  for (Samples& trial : trials) {
    LoadRecord& load = trial.load.emplace();
    load.completed = 50, load.duration_s = 10, load.samples = 4;
    trial.items_per_iteration = 2;
  }
  const Summary summary = summarise(trials, {"iqr", 3});
  EXPECT_EQ(*summary.metric("throughput")->estimate.value, 40);
  EXPECT_EQ(*summary.metric("latency_max")->estimate.value, 90);
  EXPECT_EQ(summary.outliers.total, 0);
  EXPECT_FALSE(find(summary, DiagnosticId::outliers_removed));
  EXPECT_FALSE(find(summary, DiagnosticId::outliers_marked));
  EXPECT_FALSE(find(summary, DiagnosticId::too_few_samples));
}

TEST(Summary, PartialTrialsAreUsedOnlyWhereThereIsNothingElse) {
  std::vector<Samples> trials = trials_of({{1, 1, 1}, {1, 1, 1}});
  trials.push_back(trial_of(2, {50, 50}, TrialEnd::crashed));
  trials.push_back(trial_of(3, {}, TrialEnd::load_failed));
  trials[3].load_s = 7;
  const Summary summary = summarise(trials, {});
  EXPECT_EQ(summary.trials_ok, 2);
  EXPECT_EQ(summary.trials_partial, 1);
  EXPECT_EQ(summary.trials_failed, 1);
  EXPECT_EQ(*summary.metric("latency_max")->estimate.value, 1);
  EXPECT_EQ(message(summary, DiagnosticId::samples_partial),
            "1 process ended early; the figures are from the 2 that ended as planned");

  const Summary rest = summarise(std::span(trials).subspan(2), {});
  EXPECT_EQ(*rest.metric("latency_max")->estimate.value, 50);
  EXPECT_EQ(message(rest, DiagnosticId::samples_partial),
            "1 process ended early and none as planned; the figures are from what there is");
  EXPECT_EQ(*summarise(std::span(trials).subspan(3), {}).metric("load_time")->estimate.value, 7);
}

TEST(Summary, OutliersAreMarkedAndKept) {
  auto durations = noisy(2, 60, 3);
  durations[0][7] = 0.1;
  durations[1][0] = 0.2;
  const Summary summary = summarise(trials_of(durations), {});
  EXPECT_EQ(summary.outliers.severe, 2);
  EXPECT_EQ(summary.outliers.removed, 0);
  EXPECT_EQ(summary.outliers.total, 120);
  EXPECT_EQ(*summary.metric("latency_max")->estimate.value, 0.2);
  EXPECT_THAT(message(summary, DiagnosticId::outliers_marked), HasSubstr("all are kept"));
}

TEST(Summary, OutliersAreRemovedOnlyByRuleAndNeverSilently) {
  auto durations = noisy(2, 60, 3);
  durations[0][7] = 0.1;
  durations[1][0] = 0.2;
  const Summary summary = summarise(trials_of(durations), {"iqr", 3});
  EXPECT_EQ(summary.outliers.removed, 2);
  EXPECT_LT(*summary.metric("latency_max")->estimate.value, 0.02);
  EXPECT_EQ(summary.metric("latency_p50")->estimate.n, 118);
  EXPECT_EQ(message(summary, DiagnosticId::outliers_removed),
            "the rule iqr:3 removed 2 of 120 iterations: 98.3 % are kept");
  EXPECT_FALSE(find(summary, DiagnosticId::many_outliers_removed));
  EXPECT_FALSE(find(summary, DiagnosticId::outliers_marked));
}

TEST(Summary, RemovingMoreThanAFifthIsAWarningOfItsOwn) {
  const std::vector<double> ten = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
  // mean 5.5, standard deviation 3.03: 1.2 of it keeps 2 … 9, eight of ten; 1.1 keeps 3 … 8
  EXPECT_FALSE(find(summarise(trials_of({ten}), {"sigma", 1.2}), DiagnosticId::many_outliers_removed));
  EXPECT_TRUE(find(summarise(trials_of({ten}), {"sigma", 1.1}), DiagnosticId::many_outliers_removed));
}

TEST(Summary, ARuleThatWouldRemoveAllIsIgnoredAndSaid) {
  const Summary summary = summarise(trials_of({{1, 3}, {1, 3}}), {"sigma", 0.1});
  EXPECT_EQ(summary.outliers.removed, 0);
  EXPECT_EQ(*summary.metric("latency_min")->estimate.value, 1);
  EXPECT_THAT(message(summary, DiagnosticId::outlier_rule_ignored),
              HasSubstr("the rule sigma:0.1 would have removed every iteration"));
  EXPECT_THAT(message(summary, DiagnosticId::outlier_rule_ignored), HasSubstr("in 2 processes"));
}

TEST(Summary, TheConfidenceAskedForIsUsed) {
  const auto trials = trials_of(noisy(5, 200, 4));
  const Interval narrow = *summarise(trials, {"none", 0, {0.8, 0.8}}).metric("latency_p50")->estimate.interval;
  const Interval wide = *summarise(trials, {"none", 0, {0.99, 0.99}}).metric("latency_p50")->estimate.interval;
  EXPECT_EQ(wide.confidence, 0.99);
  EXPECT_LT(wide.low, narrow.low);
  EXPECT_GT(wide.high, narrow.high);
}

// Independent iterations would give an interval that is too narrow by far: processes differ by 1 %, iterations by 2 %.
TEST(SummarySimulation, IntervalOfTheMedianCoversTheTruth) {
  constexpr int runs = 2000;
  for (const std::size_t processes : {3U, 8U, 16U}) {
    int covered = 0;
    for (int run = 0; run < runs; ++run) {
      const auto durations = noisy(processes, 11, 1000 * processes + static_cast<std::uint64_t>(run));
      const Interval interval = *summarise(trials_of(durations), {}).metric("latency_p50")->estimate.interval;
      covered += interval.low <= 0.01 && 0.01 <= interval.high ? 1 : 0;
    }
    EXPECT_GE(covered, runs * 0.93) << processes;
    EXPECT_LE(covered, runs * 0.97) << processes;
  }
}

RC_GTEST_PROP(SummaryProperty, TheOrderOfTrialsDoesNotMatter, ()) {
  const auto processes = *rc::gen::inRange<std::size_t>(1, 6);
  const auto seed = *rc::gen::arbitrary<std::uint64_t>();
  auto trials = trials_of(noisy(processes, 12, seed));
  const Summary before = summarise(trials, {});
  std::shuffle(trials.begin(), trials.end(), std::mt19937_64(seed));
  const Summary after = summarise(trials, {});
  for (std::size_t i = 0; i < before.metrics.size(); ++i) {
    const Estimate& one = before.metrics[i].estimate;
    const Estimate& other = after.metrics[i].estimate;
    RC_ASSERT(one.value == other.value);  // to the last bit
    RC_ASSERT(one.interval.has_value() == other.interval.has_value());
    if (one.interval) RC_ASSERT(one.interval->low == other.interval->low && one.interval->high == other.interval->high);
  }
}

RC_GTEST_PROP(SummaryProperty, AnotherUnitOfTimeScalesEveryFigure, ()) {
  const auto seed = *rc::gen::arbitrary<std::uint64_t>();
  const double factor = std::ldexp(1.0, *rc::gen::inRange(-20, 20));
  auto durations = noisy(3, 12, seed);
  const Summary before = summarise(trials_of(durations), {});
  for (auto& one : durations) {
    for (double& value : one) value *= factor;
  }
  const Summary after = summarise(trials_of(durations), {});
  for (const char* name : {"latency_p50", "latency_mean", "latency_std", "latency_min", "latency_max"}) {
    const double ratio = *after.metric(name)->estimate.value / *before.metric(name)->estimate.value;
    RC_ASSERT(std::abs(ratio / factor - 1) < 1e-9);
  }
  RC_ASSERT(
      std::abs(*after.metric("throughput")->estimate.value * factor / *before.metric("throughput")->estimate.value -
               1) < 1e-9);
}

}  // namespace
}  // namespace infermeter::summary_test
