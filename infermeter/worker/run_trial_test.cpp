#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "infermeter/worker/fake_trial.hpp"

namespace infermeter::run_trial_test {
namespace {

using namespace test;
using testing::HasSubstr;

TEST(RunTrial, MeasuresTheFakeBackEnd) {
  const TrialResult result =
      run_trial(fake_launcher(), fake_job({{"latency", "constant:2ms"}, {"memory", "8MB"}}), hooks_with());
  const Samples& samples = result.samples;
  EXPECT_EQ(samples.end, TrialEnd::ok) << samples.message << samples.stderr_tail;
  EXPECT_EQ(samples.phase, Phase::done);
  ASSERT_EQ(samples.iterations(), 20U);
  EXPECT_EQ(samples.warmup_begin_s.size(), 2U);
  for (const double latency : latencies_s(samples)) {
    EXPECT_GE(latency, 0.002);
    EXPECT_LT(latency, 0.2);
  }
  EXPECT_TRUE(std::is_sorted(samples.begin_s.begin(), samples.begin_s.end()));
  EXPECT_GT(samples.warmup_begin_s.front(), 0);
  EXPECT_DOUBLE_EQ(samples.ready_s.value(), samples.begin_s.front());
  EXPECT_LT(samples.end_s.back(), samples.wall_s);
  EXPECT_GE(samples.first_inference_s.value(), 0.002);
  EXPECT_TRUE(samples.open_s && samples.load_s);
  EXPECT_GT(samples.memory.rss_before_load.value(), 0U);
  EXPECT_GE(samples.memory.rss_after_load.value(), *samples.memory.rss_before_load + 8'000'000U);
  EXPECT_GE(samples.memory.rss_peak_inference.value(), 8'000'000U);
  EXPECT_GT(samples.memory.pss_after_load.value(), 8'000'000U);
  EXPECT_LE(*samples.memory.pss_after_load, *samples.memory.rss_after_load + 2'000'000U);
  EXPECT_GT(samples.memory.pss_after_inference.value(), 8'000'000U);
  EXPECT_EQ(samples.executed_value("threads"), "1");
  EXPECT_FALSE(samples.executed_value("runtime").empty());
  EXPECT_GT(samples.clock.read_cost_s, 0);
  EXPECT_FALSE(result.inputs.empty());
  EXPECT_FALSE(result.outputs.empty());
  EXPECT_FALSE(samples.outputs.empty());
}

TEST(RunTrial, TellsMemoryOverTheWorkersLife) {
  TrialJob job = fake_job({{"latency", "constant:10ms"}, {"memory", "64MiB"}, {"load_delay", "100ms"}});
  job.limits.memory_limit_bytes = 0;  // none is needed for it
  const Samples samples = run_trial(fake_launcher(), job, hooks_with()).samples;
  ASSERT_EQ(samples.end, TrialEnd::ok) << samples.message << samples.stderr_tail;
  const auto& points = samples.memory_timeline;
  ASSERT_GE(points.size(), 2U);
  EXPECT_TRUE(std::ranges::is_sorted(points, {}, &MemoryPoint::at_s));
  EXPECT_TRUE(std::ranges::is_sorted(points, {}, &MemoryPoint::phase));
  EXPECT_NE(std::ranges::find(points, Phase::load, &MemoryPoint::phase), points.end());
  const auto timed = std::ranges::find(points, Phase::timed, &MemoryPoint::phase);
  ASSERT_NE(timed, points.end());
  EXPECT_GE(timed->rss_bytes, 64U << 20U);
  EXPECT_LE(timed->rss_bytes, samples.memory.rss_peak_inference.value() + (1U << 20U));
  EXPECT_GT(timed->at_s, samples.warmup_begin_s.front()) << "both count from the trial's origin";
  EXPECT_LT(points.back().at_s, samples.wall_s + 0.1);
}

}  // namespace
}  // namespace infermeter::run_trial_test
