#include "infermeter/worker/trial_here.hpp"
#include "infermeter/diagnostics/test_paths.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "infermeter/worker/fake_trial.hpp"
#include "infermeter/worker/plugin.hpp"

namespace infermeter::trial_here_test {
namespace {

using test::fake_job;
using test::has;
using test::hooks_with;

const imb_backend& fake() {
  static const imb_backend* const backend =
      load_plugin(std::filesystem::path(test::fake_folder) / "infermeter_backend_fake.so").value();
  return *backend;
}

TEST(TrialHere, LeavesTheRecordOfATrialAndSaysThatItHadNoProcess) {
  TrialJob job = fake_job({});
  job.keep_outputs = true;
  const TrialResult result = run_trial_here(fake(), job, hooks_with());
  EXPECT_EQ(result.samples.end, TrialEnd::ok) << result.samples.message;
  EXPECT_EQ(result.samples.iterations(), 20u);
  EXPECT_EQ(result.samples.warmup_begin_s.size(), 2u);
  EXPECT_TRUE(has(result.samples, DiagnosticId::not_isolated));
  EXPECT_EQ(result.samples.diagnostics.back().about, "the fake");
  EXPECT_FALSE(result.samples.ready_s);
  EXPECT_FALSE(result.samples.host_process.empty());
  EXPECT_GT(result.samples.memory.rss_peak_inference.value_or(0), 0u);
  // What a worker says of the same subject.
  const TrialResult in_worker = run_trial(test::fake_launcher(), job, hooks_with());
  EXPECT_EQ(result.samples.output_digest, in_worker.samples.output_digest);
  EXPECT_TRUE(std::ranges::equal(result.output_block.span(), in_worker.output_block.span()));
  EXPECT_EQ(result.outputs.size(), in_worker.outputs.size());
  EXPECT_FALSE(has(in_worker.samples, DiagnosticId::not_isolated));
  EXPECT_EQ(in_worker.samples.host_process, "");
}

TEST(TrialHere, AFailureIsARecordToo) {
  const TrialResult result = run_trial_here(fake(), fake_job({{"fail", "run:7"}}), hooks_with());
  EXPECT_EQ(result.samples.end, TrialEnd::run_failed);
  EXPECT_FALSE(result.samples.message.empty());
  EXPECT_TRUE(has(result.samples, DiagnosticId::not_isolated));
}

TEST(TrialHere, AnInterruptThatCameBeforeTheLoopEndsIt) {
  const std::atomic<int> interrupt = 1;
  TrialHooks hooks = hooks_with();
  hooks.interrupt = &interrupt;
  const TrialResult result = run_trial_here(fake(), fake_job({}), hooks);
  EXPECT_EQ(result.samples.end, TrialEnd::interrupted);
  EXPECT_EQ(result.samples.iterations(), 0u);
}

}  // namespace
}  // namespace infermeter::trial_here_test
