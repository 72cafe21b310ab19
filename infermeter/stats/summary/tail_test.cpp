#include "infermeter/stats/summary/tail.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "infermeter/stats/summary/quantile.hpp"
#include "infermeter/stats/test_noise.hpp"
#include "infermeter/stats/test_trials.hpp"

namespace infermeter::tail_test {
namespace {

using Times = std::vector<std::vector<double>>;

// The same iterations over so many processes, dealt like cards.
Times dealt(const std::vector<double>& all, std::size_t processes) {
  Times times(processes);
  for (std::size_t i = 0; i < all.size(); ++i) times[i % processes].push_back(all[i]);
  return times;
}

const Metric& metric(const Summary& summary, const std::string& name) { return *summary.metric(name); }

// 3 % of the iterations take three times as long.
std::vector<double> with_slow_ones() {
  SplitMix random(5);
  std::vector<double> all;
  for (int i = 0; i < 300; ++i) all.push_back((i % 31 == 30 ? 0.006 : 0.002) * (1 + 1e-3 * random.normal()));
  return all;
}

TEST(TailPercentile, IsTheSameHoweverIterationsAreSpreadOverProcesses) {
  const std::vector<double> all = with_slow_ones();
  std::vector<double> sorted = all;
  std::ranges::sort(sorted);
  for (const std::size_t processes : {1U, 3U, 10U, 40U}) {
    const Summary summary = summarise(trials_of(dealt(all, processes)), {});
    for (const auto& [name, q] : {std::pair("latency_p90", 0.9), {"latency_p95", 0.95}, {"latency_p99", 0.99}}) {
      EXPECT_EQ(*metric(summary, name).estimate.value, quantile(sorted, q)) << name << " of " << processes;
      EXPECT_EQ(metric(summary, name).estimate.n, 300);
    }
  }
}

TEST(TailPercentile, IsNeverNarrowerThanThatOfIndependentIterations) {
  const std::vector<double> all = with_slow_ones();
  for (const std::size_t processes : {3U, 10U, 40U}) {
    const Summary summary = summarise(trials_of(dealt(all, processes)), {});
    for (const char* name : {"latency_p90", "latency_p95"}) {
      const Metric& percentile = metric(summary, name);
      ASSERT_TRUE(percentile.estimate.interval) << name << " of " << processes;
      EXPECT_LE(percentile.estimate.interval->low, percentile.within->low);
      EXPECT_GE(percentile.estimate.interval->high, percentile.within->high);
    }
  }
}

TEST(TailPercentile, HasNoIntervalWhereOneProcessHasAllSlowIterations) {
  Times times(4, std::vector<double>(500, 1.0));
  for (std::size_t i = 0; i < 100; ++i) times[2][i] = 2 + 0.001 * static_cast<double>(i);
  const Estimate p99 = metric(summarise(trials_of(times), {}), "latency_p99").estimate;
  EXPECT_TRUE(p99.value);
  EXPECT_FALSE(p99.interval);
  EXPECT_EQ(p99.note, "the slow iterations lie in too few of the processes for an interval");
}

TEST(TailPercentile, SaysHowManyIterationsAnIntervalTakes) {
  Times times(3, std::vector<double>(100));
  SplitMix random(3);
  for (auto& process : times) {
    for (double& time : process) time = 1 + 0.01 * random.uniform();
  }
  times[0][0] = times[0][1] = times[0][2] = 2;  // p99 lies among them: those of one process
  const Estimate p99 = metric(summarise(trials_of(times), {}), "latency_p99").estimate;
  EXPECT_TRUE(p99.value);
  EXPECT_FALSE(p99.interval);
  EXPECT_EQ(p99.note, "needs about 896 iterations for an interval");
  const Estimate of_one = metric(summarise(trials_of(dealt(with_slow_ones(), 1)), {}), "latency_p99").estimate;
  EXPECT_EQ(of_one.note, "needs 2 processes for an interval");
}

TEST(TailPercentile, ProcessesMayHaveUnequalNumbersOfIterations) {
  const std::vector<double> all = with_slow_ones();
  Times times = {
      {all.begin(), all.begin() + 20}, {all.begin() + 20, all.begin() + 200}, {all.begin() + 200, all.end()}};
  const Estimate p90 = metric(summarise(trials_of(times), {}), "latency_p90").estimate;
  ASSERT_TRUE(p90.interval);
  EXPECT_LE(p90.interval->low, *p90.value);
  EXPECT_GE(p90.interval->high, *p90.value);
}

TEST(TailIterations, AreEnoughForAnIntervalInMostSamplesOfEqualProcesses) {
  EXPECT_EQ(tail_iterations(0.99, 1), 299);
  EXPECT_EQ(tail_iterations(0.99, 3), 896);  // 299 × scipy.stats.chi2.ppf(.95, 2) / 2
  EXPECT_EQ(tail_iterations(0.99, 8), 601);
  EXPECT_EQ(tail_iterations(0.90, 40), 41);
  for (const int processes : {3, 8}) {
    int found = 0;
    for (int run = 0; run < 400; ++run) {
      SplitMix random(1000 * static_cast<std::uint64_t>(processes) + static_cast<std::uint64_t>(run));
      std::vector<double> all(static_cast<std::size_t>(tail_iterations(0.99, processes)));
      for (double& time : all) time = 1 + random.uniform();
      const Samples none;
      const auto trials = trials_of(dealt(all, static_cast<std::size_t>(processes)));
      found += tail_percentile(subject_times(trials, {}), 0.99, 0.95).interval ? 1 : 0;
    }
    EXPECT_GE(found, 370) << processes;
  }
}

// --- coverage -------------------------------------------------------------------------------------------------------

struct Tail {
  std::string name;
  std::function<double(SplitMix&)> one;  // a latency
  std::function<double(double q)> truth;
  bool discrete = false;
};

double normal_quantile(double q) {
  return q == 0.9 ? 1.2815515655446004 : q == 0.95 ? 1.6448536269514722 : 2.3263478740408408;
}

std::vector<Tail> tails(double q) {
  const double often = 1.5 * (1 - q), seldom = 0.6 * (1 - q);
  return {
      {"smooth", [](SplitMix& random) { return std::exp(0.02 * random.normal()); },
       [](double p) { return std::exp(0.02 * normal_quantile(p)); }},
      {"heavy", [](SplitMix& random) { return std::pow(1 - random.uniform(), -1 / 1.5); },
       [](double p) { return std::pow(1 - p, -1 / 1.5); }},
      {"two values, the percentile is the slow one",
       [often](SplitMix& random) { return random.uniform() < often ? 3.0 : 1.0; }, [](double) { return 3.0; }, true},
      {"two values, the percentile is the fast one",
       [seldom](SplitMix& random) { return random.uniform() < seldom ? 3.0 : 1.0; }, [](double) { return 1.0; }, true},
  };
}

struct Coverage {
  int shown = 0, covered = 0;
  [[nodiscard]] double share() const { return static_cast<double>(covered) / shown; }
};

Coverage coverage(int processes, std::size_t iterations, double q, double truth, int runs,
                  const std::function<void(SplitMix&, std::vector<double>&)>& fill) {
  Coverage result;
  for (int run = 0; run < runs; ++run) {
    SplitMix random(100'000 * static_cast<std::uint64_t>(processes) + static_cast<std::uint64_t>(run));
    Times times(static_cast<std::size_t>(processes), std::vector<double>(iterations));
    for (auto& process : times) fill(random, process);
    const auto trials = trials_of(times);
    const auto interval = tail_percentile(subject_times(trials, {}), q, 0.95).interval;
    if (!interval) continue;
    ++result.shown;
    result.covered += interval->low <= truth && truth <= interval->high ? 1 : 0;
  }
  return result;
}

// Nominal 95 %. With few processes the wider of two intervals is taken, so that it is more; of two values an interval
// holds one or both, and is always at least as wide.
TEST(TailPercentileSimulation, IntervalsCoverTheTruthOfEqualProcesses) {
  constexpr int runs = 300;
  for (const double q : {0.9, 0.95, 0.99}) {
    for (const int processes : {3, 8, 20, 40}) {
      const auto iterations = static_cast<std::size_t>(tail_iterations(q, processes) / processes + 1);
      for (const Tail& tail : tails(q)) {
        const Coverage found =
            coverage(processes, iterations, q, tail.truth(q), runs, [&](SplitMix& random, auto& process) {
              for (double& time : process) time = tail.one(random);
            });
        EXPECT_GE(found.shown, 0.9 * runs) << tail.name << ", p" << 100 * q << " of " << processes;
        EXPECT_GE(found.share(), 0.94) << tail.name << ", p" << 100 * q << " of " << processes;
      }
    }
  }
}

// Processes differ by 1 %, iterations by 2 %: the truth is that of normal(0, √5 %).
TEST(TailPercentileSimulation, IntervalsCoverTheTruthOfProcessesThatDiffer) {
  constexpr int runs = 400;
  for (const double q : {0.9, 0.95, 0.99}) {
    const double truth = 0.01 * std::sqrt(5.0) * normal_quantile(q);
    for (const int processes : {8, 20, 40}) {
      const auto iterations = static_cast<std::size_t>(2 * tail_iterations(q, processes) / processes + 1);
      const Coverage found = coverage(processes, iterations, q, 1 + truth, runs, [&](SplitMix& random, auto& process) {
        const double level = 1 + 0.01 * random.normal();
        for (double& time : process) time = level + 0.02 * random.normal();
      });
      EXPECT_GE(found.shown, 0.7 * runs) << "p" << 100 * q << " of " << processes;
      EXPECT_GE(found.share(), 0.91) << "p" << 100 * q << " of " << processes;
    }
  }
}

}  // namespace
}  // namespace infermeter::tail_test
