// Trials whose stacks are sampled, in a real worker: by the kernel, from within, and not at all.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <seccomp.h>
#include <sys/prctl.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <thread>

#include "infermeter/worker/fake_trial.hpp"

namespace infermeter::stack_trial_test {
namespace {

using namespace test;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

// 20 inferences of 10 ms of sums, and 2 of warm-up.
const Pairs busy = {{"compute", "5000000"}};

TrialResult sampled(StackSampling how, Pairs options) {
  TrialJob job = fake_job(std::move(options));
  job.profile = true;
  job.stacks = how;
  return run_trial(fake_launcher(), job, hooks_with());
}

// In a thread of its own, for which (and for the worker that it starts) the kernel refuses these calls.
TrialResult sampled_without(std::vector<int> calls, StackSampling how, Pairs options) {
  TrialResult result;
  std::thread([&] {
    const scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ALLOW);
    for (const int call : calls) seccomp_rule_add(filter, SCMP_ACT_ERRNO(EACCES), call, 0);
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    ASSERT_EQ(seccomp_load(filter), 0);
    seccomp_release(filter);
    result = sampled(how, std::move(options));
  }).join();
  return result;
}

// Samples of the timed iterations.
std::vector<RawSample> timed_samples(const TrialResult& result) {
  std::vector<RawSample> found;
  for (const RawSample& sample : result.raw_stacks->samples) {
    const double t_s = static_cast<double>(sample.monotonic_ns - result.raw_stacks->origin_ns) * 1e-9;
    for (std::size_t i = 0; i < result.samples.iterations(); ++i)
      if (t_s >= result.samples.begin_s[i] && t_s < result.samples.end_s[i]) found.push_back(sample);
  }
  return found;
}

bool lies_in(const RawStacks& stacks, std::uint64_t address, std::string_view file) {
  return std::ranges::any_of(stacks.code, [&](const MappedCode& code) {
    return code.begin <= address && address < code.end && code.path.find(file) != std::string::npos;
  });
}

bool may_sample() {
  const auto result = sampled(StackSampling::automatic, busy);
  return result.raw_stacks && result.raw_stacks->reason.empty();
}

// The fake back end does sums nearly all of the time.
void expect_busy(const TrialResult& result) {
  ASSERT_TRUE(result.raw_stacks.has_value());
  const RawStacks& stacks = *result.raw_stacks;
  const auto timed = timed_samples(result);
  ASSERT_THAT(timed, Not(IsEmpty()));
  std::size_t in_fake = 0;
  for (const RawSample& sample : timed) {
    EXPECT_EQ(sample.thread, stacks.process);
    const std::uint64_t at = sample.addresses.at(0);
    in_fake += lies_in(stacks, at, "infermeter_backend_fake") ? 1U : 0U;
  }
  EXPECT_GE(2 * in_fake, timed.size());
}

TEST(StackTrial, IsSampledByTheKernel) {
  if (!may_sample()) GTEST_SKIP() << "perf_event_open is refused here";
  const TrialResult result = sampled(StackSampling::automatic, busy);
  EXPECT_EQ(result.samples.end, TrialEnd::ok) << result.samples.message;
  expect_busy(result);
  EXPECT_EQ(result.raw_stacks->method, "perf_event");
  EXPECT_FALSE(result.raw_stacks->cut);
  for (const RawSample& sample : result.raw_stacks->samples) EXPECT_THAT(sample.registers, IsEmpty());
}

TEST(StackTrial, IsSampledWithItsStack) {
  if (kSampledRegisters == 0 || !may_sample()) GTEST_SKIP() << "no registers, or perf_event_open is refused here";
  const TrialResult result = sampled(StackSampling::dwarf, busy);
  expect_busy(result);
  EXPECT_EQ(result.raw_stacks->method, "perf_event_dwarf");
  for (const RawSample& sample : timed_samples(result)) {
    EXPECT_THAT(sample.registers, Not(IsEmpty()));
    EXPECT_THAT(sample.stack, Not(IsEmpty()));
  }
}

TEST(StackTrial, IsNotSampledWhereItIsNotAskedFor) {
  EXPECT_FALSE(sampled(StackSampling::off, busy).raw_stacks.has_value());
  TrialJob job = fake_job(busy);
  job.stacks = StackSampling::automatic;
  EXPECT_FALSE(run_trial(fake_launcher(), job, hooks_with()).raw_stacks.has_value()) << "it is not a profile trial";
}

TEST(StackTrial, SamplesItselfWhereTheKernelRefuses) {
  const TrialResult result = sampled_without({SCMP_SYS(perf_event_open)}, StackSampling::dwarf, busy);
  EXPECT_EQ(result.samples.end, TrialEnd::ok) << result.samples.message;
  expect_busy(result);
  EXPECT_EQ(result.raw_stacks->method, "sigprof");
  EXPECT_THAT(result.raw_stacks->reason, HasSubstr("perf_event_open was refused (EACCES"));
  EXPECT_FALSE(has(result.samples, DiagnosticId::no_stack_profile));
}

TEST(StackTrial, SaysWhyNothingCouldBeSampled) {
  const TrialResult result =
      sampled_without({SCMP_SYS(perf_event_open), SCMP_SYS(setitimer)}, StackSampling::automatic, busy);
  EXPECT_EQ(result.samples.end, TrialEnd::ok) << result.samples.message;
  EXPECT_EQ(result.samples.iterations(), 20U);
  EXPECT_TRUE(has(result.samples, DiagnosticId::no_stack_profile));
  EXPECT_THAT(timed_samples(result), IsEmpty());
}

TEST(StackTrial, KeepsWhatWasSampledOfAWorkerThatDies) {
  for (const bool refused : {false, true}) {
    const Pairs options = {{"compute", "5000000"}, {"crash", "run:15"}};
    const TrialResult result = refused ? sampled_without({SCMP_SYS(perf_event_open)}, StackSampling::automatic, options)
                                       : sampled(StackSampling::automatic, options);
    EXPECT_EQ(result.samples.end, TrialEnd::crashed);
    ASSERT_TRUE(result.raw_stacks.has_value());
    EXPECT_THAT(timed_samples(result), Not(IsEmpty())) << refused;
  }
}

TEST(StackTrial, LeavesNoMapOfGeneratedCodeBehind) {
  const TrialResult result = sampled(StackSampling::automatic, busy);
  ASSERT_TRUE(result.raw_stacks.has_value());
  EXPECT_FALSE(std::filesystem::exists("/tmp/perf-" + std::to_string(result.raw_stacks->process) + ".map"));
}

TEST(StackTrial, MayWriteToItsMapOfGeneratedCodeOnly) {
  const TrialResult result =
      sampled(StackSampling::automatic, {{"compute", "1000"}, {"write_file", "/tmp/perf-1.map"}});
  const auto& counters = result.samples.counters;
  const auto written = std::ranges::find(counters, "write_error", &Counter::name);
  ASSERT_NE(written, counters.end());
  if (!has(result.samples, DiagnosticId::no_landlock)) {
    EXPECT_THAT(written->value, testing::AnyOf(EACCES, EROFS));
  }
}

}  // namespace
}  // namespace infermeter::stack_trial_test
