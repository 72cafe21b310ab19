#include "infermeter/run/results.hpp"

#include <gtest/gtest.h>

#include "infermeter/verdict/judge.hpp"

namespace infermeter::results_test {
namespace {

// A trial of ten equal iterations; three of them with spread 0 would have no width, so each process has its own factor.
Samples trial(double latency_s, int process, std::uint64_t peak_bytes = 1'000'000) {
  Samples samples;
  const double own = latency_s * (1 + 0.01 * process);
  for (int i = 0; i < 10; ++i) {
    samples.begin_s.push_back(i);
    samples.end_s.push_back(i + own);
  }
  samples.memory.rss_peak_inference = peak_bytes;
  samples.executed = {{"runtime", "test"}};
  return samples;
}

std::vector<Samples> trials(double latency_s, std::uint64_t peak_bytes = 1'000'000) {
  return {trial(latency_s, 0, peak_bytes), trial(latency_s, 1, peak_bytes), trial(latency_s, 2, peak_bytes)};
}

TEST(Results, AreGotListedAndCleared) {
  Results results;
  results.add("a", trials(1));
  results.add("b", trials(2));
  results.add("a", {trial(1, 3)});
  ASSERT_EQ(results.all().size(), 2U);
  EXPECT_EQ(results.all()[0].name, "a");
  ASSERT_NE(results.get("a"), nullptr);
  EXPECT_EQ(results.get("a")->trials.size(), 4U);
  EXPECT_EQ(results.get("a")->trials[3].process, 3);
  EXPECT_EQ(results.get("c"), nullptr);
  results.clear();
  EXPECT_TRUE(results.all().empty());
}

TEST(Results, SpeedupIsBaselineOverCandidate) {
  Results results;
  results.add("slow", trials(2, 5'000'000));
  results.add("fast", trials(1, 3'000'000));
  const auto comparison = results.compare("slow", "fast");
  ASSERT_TRUE(comparison.ok());
  EXPECT_NEAR(comparison->speedup.value.value(), 2, 1e-9);
  EXPECT_TRUE(comparison->is_improvement);
  EXPECT_EQ(comparison->memory_change_bytes, -2'000'000);
  const auto back = results.compare("fast", "slow");
  EXPECT_NEAR(back->speedup.value.value(), 0.5, 1e-9);
  EXPECT_FALSE(back->is_improvement);
}

TEST(Results, NothingIsAnImprovementWithoutAnInterval) {
  Results results;
  results.add("slow", {trial(2, 0)});
  results.add("fast", {trial(1, 0)});
  const auto comparison = results.compare("slow", "fast");
  EXPECT_NEAR(comparison->speedup.value.value(), 2, 1e-9);
  EXPECT_FALSE(comparison->speedup.interval);
  EXPECT_FALSE(comparison->is_improvement);
}

TEST(Results, RoundsOfOneProcessTellNoInterval) {
  const auto rounds = [](double latency_s) {
    auto all = trials(latency_s);
    for (Samples& one : all) one.host_process = "4711@1";
    return all;
  };
  Results results;
  results.add("slow", rounds(2));
  results.add("fast", rounds(1));
  const Estimate& p50 = results.get("slow")->summary.metric("latency_p50")->estimate;
  EXPECT_NEAR(p50.value.value(), 2.02, 1e-9);  // the mean of 2, 2.02 and 2.04
  EXPECT_EQ(p50.processes, 1);
  EXPECT_EQ(p50.n, 30);
  EXPECT_FALSE(p50.interval);
  const auto comparison = results.compare("slow", "fast");
  EXPECT_NEAR(comparison->speedup.value.value(), 2, 1e-9);
  EXPECT_FALSE(comparison->speedup.interval);
  EXPECT_FALSE(comparison->is_improvement);
  auto later = rounds(1);
  for (Samples& one : later) one.host_process = "4712@2";  // the program was started again
  results.add("fast", std::move(later));
  EXPECT_EQ(results.get("fast")->summary.metric("latency_p50")->estimate.processes, 2);
  EXPECT_TRUE(results.get("fast")->summary.metric("latency_p50")->estimate.interval);
}

TEST(Results, NamesWhatIsNotThere) {
  Results results;
  results.add("a", trials(1));
  const auto comparison = results.compare("a", "b");
  ASSERT_FALSE(comparison.ok());
  EXPECT_NE(comparison.error().message.find("'b'"), std::string::npos);
}

TEST(Results, BecomeARecordThatCanBeJudged) {
  Results results;
  results.add("slow", trials(2));
  results.add("fast", trials(1));
  const RunRecord record = results.to_record();
  EXPECT_EQ(record.plan.processes, 3);
  EXPECT_EQ(record.plan.stopping.iterations, 10);
  EXPECT_EQ(record.trials.size(), 6U);
  EXPECT_EQ(record.models.size(), 2U);
  const Verdict verdict = judge(record);
  ASSERT_EQ(verdict.subjects.size(), 2U);
  EXPECT_EQ(verdict.subjects[1].baseline, 0);
  EXPECT_EQ(verdict.exit_code, 0);

  Results again;
  again.add(record);
  EXPECT_EQ(again.all().size(), 2U);
  EXPECT_EQ(again.get("fast")->trials.size(), 3U);
}

}  // namespace
}  // namespace infermeter::results_test
