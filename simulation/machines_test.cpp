// Machines that are compared by independent processes: how often equal ones are called different, and how often the
// interval covers the truth where they are not equal.
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "infermeter/samples/node_facts.hpp"
#include "infermeter/stats/test_noise.hpp"
#include "infermeter/verdict/apart/compare_apart.hpp"
#include "infermeter/verdict/apart/join_machines.hpp"

namespace infermeter::machines_test {
namespace {

constexpr int runs = 2000, blocks = 20;

// One run over two nodes: log times of processes are normal, with these means and standard deviations.
RunRecord run_over_nodes(SplitMix& noise, double slower, double spread_of_first, double spread_of_second) {
  RunRecord record;
  record.id = "run";
  record.finished = true;
  record.plan.processes = blocks;
  record.plan.subjects.push_back({.label = "a", .model = "mlp", .backend = "fake"});
  for (int block = 0; block < blocks; ++block) {
    const bool second = block >= blocks / 2;
    const double log = noise.normal() * (second ? spread_of_second : spread_of_first) + (second ? slower : 0);
    Samples trial;
    trial.process = trial.position = block;
    trial.executed.emplace_back(kNodeKey, second ? "n2" : "n1");
    trial.executed.emplace_back(kMachineKey, second ? "bbbb" : "aaaa");
    for (int i = 0; i < 3; ++i) {
      trial.begin_s.push_back(i);
      trial.end_s.push_back(i + 0.01 * std::exp(log));
    }
    record.trials.push_back(std::move(trial));
  }
  return record;
}

struct Rates {
  double different = 0, covered = 0;
};

Rates rates_of(double slower, double spread_of_first, double spread_of_second) {
  SplitMix noise(29);
  Question question;
  question.margin = 0;
  int different = 0, covered = 0;
  for (int i = 0; i < runs; ++i) {
    const RunRecord run = run_over_nodes(noise, slower, spread_of_first, spread_of_second);
    const auto joined = join_machines(std::span(&run, 1), question);
    EXPECT_TRUE(joined.ok());
    const ComparisonVerdict verdict = compare_apart(*joined);
    const PairedComparison& one = verdict.primary.at(0);
    different += one.direction == Direction::slower || one.direction == Direction::faster ? 1 : 0;
    covered += one.interval && one.interval->low <= slower && slower <= one.interval->high ? 1 : 0;
  }
  return {static_cast<double>(different) / runs, static_cast<double>(covered) / runs};
}

TEST(Machines, EqualOnesAreCalledDifferentInOneOfTwentyAtMost) {
  EXPECT_LE(rates_of(0, 0.01, 0.01).different, 0.05);
  EXPECT_LE(rates_of(0, 0.01, 0.03).different, 0.055);  // Welch's test, whatever their spreads
}

TEST(Machines, IntervalsCoverAndRealDifferencesAreFound) {
  const Rates rates = rates_of(0.02, 0.01, 0.02);
  EXPECT_GE(rates.covered, 0.94);
  EXPECT_LE(rates.covered, 0.97);
  EXPECT_GE(rates_of(0.03, 0.01, 0.01).different, 0.99);
}

}  // namespace
}  // namespace infermeter::machines_test
