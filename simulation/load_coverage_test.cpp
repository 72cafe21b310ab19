// How often the intervals of a load's figures cover the truth: percentiles of each process, and an interval over
// processes, as requests that wait in one queue are not independent.
#include <cmath>
#include <numbers>
#include <vector>

#include <gtest/gtest.h>

#include "infermeter/samples/load/load_counters.hpp"
#include "infermeter/stats/summary/metrics.hpp"
#include "infermeter/stats/test_queue.hpp"

namespace infermeter::load_coverage_test {
namespace {

constexpr int runs = 300, processes = 5;

Samples loaded(int process, const LoadRecord& load) {
  Samples trial;
  trial.process = process;
  trial.begin_s = {0};
  trial.end_s = {1};
  trial.load = load;
  trial.counters = load_counters(load);
  return trial;
}

struct Coverages {
  int p50 = 0, p90 = 0, p99 = 0;
};

template <class MakeLoad>
Coverages covered(const MakeLoad& make_load, double p50, double p90, double p99) {
  Coverages counts;
  std::uint64_t seed = 11;
  for (int run = 0; run < runs; ++run) {
    std::vector<Samples> trials;
    for (int process = 0; process < processes; ++process) trials.push_back(loaded(process, make_load(seed++)));
    const SubjectTimes times = subject_times(trials, {}, Wanted::any_order);
    const auto covers = [&](std::string_view name, double truth) {
      const auto interval = estimate(*metric_kind(name), times, {}).interval;
      return interval && interval->low <= truth && truth <= interval->high ? 1 : 0;
    };
    counts.p50 += covers("response_p50", p50);
    counts.p90 += covers("response_p90", p90);
    counts.p99 += covers("response_p99", p99);
  }
  return counts;
}

// The response time of one server with Poisson arrivals and exponential times is exponential with mean
// 1 / (service rate - rate) (Kleinrock, "Queueing systems I", 1975, 5.6).
TEST(LoadCoverage, OfAQueueAt80PercentLoad) {
  const double mean = 1 / (1 / 0.8 - 1.0);
  const auto percentile = [&](double q) { return -mean * std::log(1 - q); };
  // The first 1000 requests of a process are its warm-up: a queue begins empty. Of the 20,000 that follow p99 is right;
  // of 5000 it is 4 % too low, as the longest waits come in a few spells, and 84 % of its intervals cover
  // (docs/load.md).
  const auto make = [](std::uint64_t seed) {
    TestQueue queue = poisson_queue(1, 0.8, 21'000, seed);
    queue.arrivals.erase(queue.arrivals.begin(), queue.arrivals.begin() + 1000);
    queue.completions.erase(queue.completions.begin(), queue.completions.begin() + 1000);
    return record_of(queue);
  };
  const Coverages counts = covered(make, percentile(0.5), percentile(0.9), percentile(0.99));
  EXPECT_GE(counts.p50, 0.93 * runs);
  EXPECT_GE(counts.p90, 0.93 * runs);
  EXPECT_GE(counts.p99, 0.93 * runs);
}

// Response times whose logarithms follow an autoregression of 0.9: exp(N(0, 0.1²)) in the long run.
TEST(LoadCoverage, OfAnAutoregressionOf09) {
  const auto make = [](std::uint64_t seed) {
    SplitMix noise(seed);
    double log = 0.1 * noise.normal();
    LogHistogram response;
    for (int i = 0; i < 10'000; ++i) {
      log = 0.9 * log + 0.1 * std::sqrt(1 - 0.81) * noise.normal();
      response.add(static_cast<std::uint64_t>(std::exp(log) * 1e9));
    }
    LoadRecord load;
    load.response = {1e-9, response.counts()};
    return load;
  };
  const Coverages counts = covered(make, 1, std::exp(0.1 * 1.2815515655446004), std::exp(0.1 * 2.3263478740408408));
  EXPECT_GE(counts.p50, 0.93 * runs);
  EXPECT_GE(counts.p90, 0.93 * runs);
  EXPECT_GE(counts.p99, 0.93 * runs);
}

}  // namespace
}  // namespace infermeter::load_coverage_test
