// What a runtime can do wrong, done by the fake back end in a real worker; and what comes out of it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>

#include "infermeter/trial/machine/clock.hpp"
#include "infermeter/worker/fake_trial.hpp"
#include "infermeter/worker/prepare.hpp"

namespace infermeter::faults_test {
namespace {

using namespace test;
using testing::HasSubstr;

constexpr double hang_s = 20;  // far above what a loaded machine takes, far below the defaults of the limits

struct Case {
  const char* what;
  Pairs options;
  TrialEnd end;
  Phase phase;
  int signal;
  const char* message;
};

class Fault : public testing::TestWithParam<Case> {};

TEST_P(Fault, IsARecord) {
  const Case& c = GetParam();
  const Samples samples = run_fake(c.options);
  EXPECT_EQ(samples.end, c.end) << samples.message;
  EXPECT_EQ(samples.phase, c.phase) << to_string(samples.phase);
  EXPECT_EQ(samples.signal, c.signal);
  EXPECT_THAT(samples.message, HasSubstr(c.message));
  EXPECT_EQ(has(samples, DiagnosticId::samples_partial), samples.iterations() > 0);
}

INSTANTIATE_TEST_SUITE_P(
    Worker, Fault,
    testing::Values(
        Case{"crash at load",
             {{"crash", "load"}},
             TrialEnd::crashed,
             Phase::load,
             SIGSEGV,
             "SIGSEGV while it loaded the model"},
        Case{"abort at compile",
             {{"compile_delay", "1ms"}, {"abort", "compile"}},
             TrialEnd::crashed,
             Phase::compile,
             SIGABRT,
             "SIGABRT while it compiled"},
        Case{"kill at load", {{"kill", "load"}}, TrialEnd::crashed, Phase::load, SIGKILL, "SIGKILL while it loaded"},
        Case{"exit at load", {{"exit", "load"}}, TrialEnd::crashed, Phase::load, 0, "it ended with status 0"},
        Case{"error at load", {{"fail", "load"}}, TrialEnd::load_failed, Phase::load, 0, ""},
        Case{"error at compile", {{"fail", "compile"}}, TrialEnd::load_failed, Phase::compile, 0, ""},
        Case{"error at the first inference",
             {{"fail", "run:1"}},
             TrialEnd::run_failed,
             Phase::first_inference,
             0,
             "the first inference failed"},
        Case{"error in warm-up", {{"fail", "run:2"}}, TrialEnd::run_failed, Phase::warmup, 0, "warm-up failed"},
        Case{"error when timed", {{"fail", "run:8"}}, TrialEnd::run_failed, Phase::timed, 0, "timed inference failed"},
        Case{"crash when timed",
             {{"crash", "run:8"}},
             TrialEnd::crashed,
             Phase::timed,
             SIGSEGV,
             "SIGSEGV while it was timed, after 4 iterations"},
        Case{"crash at outputs",
             {{"crash", "outputs:2"}},
             TrialEnd::crashed,
             Phase::outputs,
             SIGSEGV,
             "while its outputs were collected"},
        Case{"memory at load", {{"out_of_memory", "load"}}, TrialEnd::out_of_memory, Phase::load, 0, ""},
        Case{"memory when timed", {{"out_of_memory", "run:8"}}, TrialEnd::out_of_memory, Phase::timed, 0, ""}),
    [](const auto& parameter) {
      std::string name = parameter.param.what;
      for (char& c : name)
        if (c == ' ' || c == '-') c = '_';
      return name;
    });

TEST(Faults, WhatWasMeasuredBeforeACrashIsKept) {
  const Samples samples = run_fake({{"latency", "constant:1ms"}, {"load_delay", "100ms"}, {"crash", "run:8"}});
  ASSERT_EQ(samples.iterations(), 4U);  // 1 first, 2 warm-up, 4 timed, then the eighth
  EXPECT_GE(latencies_s(samples).back(), 0.001);
  EXPECT_GT(samples.ready_s.value_or(0), 0);
  EXPECT_TRUE(samples.load_s.has_value()) << "the facts from before the loop";
  EXPECT_FALSE(samples.executed_value("runtime").empty());
  EXPECT_FALSE(samples.memory_timeline.empty());
}

TEST(Faults, AHangAtLoadEndsAtTheLoadLimit) {
  TrialJob job = fake_job({{"hang", "load"}});
  job.limits.load_timeout_s = 0.3;
  const Samples samples = run_trial(fake_launcher(), job, hooks_with()).samples;
  EXPECT_EQ(samples.end, TrialEnd::timeout);
  EXPECT_EQ(samples.phase, Phase::load);
  EXPECT_EQ(samples.signal, SIGKILL);
  EXPECT_THAT(samples.message, HasSubstr("--load-timeout"));
  ASSERT_FALSE(samples.memory_timeline.empty());
  EXPECT_EQ(samples.memory_timeline.back().phase, Phase::load);
  EXPECT_GE(samples.memory_timeline.back().at_s, 0.3);
  EXPECT_GE(samples.wall_s, 0.3);
  EXPECT_LT(samples.wall_s, hang_s);
}

TEST(Faults, AHangInTheLoopEndsAtTheRunLimit) {
  TrialJob job = fake_job({{"hang", "run:10"}});
  job.limits.run_timeout_s = 0.3;
  const Samples samples = run_trial(fake_launcher(), job, hooks_with()).samples;
  EXPECT_EQ(samples.end, TrialEnd::timeout);
  EXPECT_EQ(samples.phase, Phase::timed);
  EXPECT_EQ(samples.iterations(), 6U);
  EXPECT_THAT(samples.message, HasSubstr("--run-timeout"));
  EXPECT_LT(samples.wall_s, hang_s);
}

TEST(Faults, TheLaunchersOwnTimeForDataIsNotTheWorkers) {
  TrialJob job = fake_job({});
  job.limits.load_timeout_s = 1.0;
  TrialHooks hooks = hooks_with();
  hooks.data = [](std::span<const Port> inputs) {
    for (const double until_s = monotonic_s() + 1.2; monotonic_s() < until_s;) {
    }
    return zeros_for(inputs);
  };
  EXPECT_EQ(run_trial(fake_launcher(), job, hooks).samples.end, TrialEnd::ok);
}

TEST(Faults, AWorkerThatTakesTooMuchMemoryIsKilled) {
  TrialJob job = fake_job({{"memory_per_run", "8MiB"}, {"latency", "constant:2ms"}});
  job.stopping.iterations = 100'000;
  job.limits.memory_limit_bytes = 200U << 20U;
  const Samples samples = run_trial(fake_launcher(), job, hooks_with()).samples;
  EXPECT_EQ(samples.end, TrialEnd::out_of_memory);
  EXPECT_THAT(samples.message, HasSubstr("MiB in memory while it was timed, the limit is 200 MiB; --memory-limit"));
  ASSERT_GE(samples.memory_timeline.size(), 3U) << "how it came to that";
  EXPECT_LT(samples.memory_timeline.front().rss_bytes, 200U << 20U);
  EXPECT_GT(samples.memory_timeline.back().rss_bytes, 190U << 20U) << "page tables are in the limit's sum alone";
  EXPECT_GT(samples.iterations(), 0U);
}

TEST(Faults, APreparationThatTakesTooMuchMemoryIsKilled) {
  TrialJob job = fake_job({{"memory", "300MiB"}, {"compile_delay", "60s"}});
  job.cache_folder = testing::TempDir() + "prepare-greedy";
  job.limits.memory_limit_bytes = 200U << 20U;
  const auto prepared = prepare_backend(fake_launcher(), job, nullptr);
  ASSERT_FALSE(prepared.ok());
  EXPECT_THAT(prepared.error().message, HasSubstr("the limit is 200 MiB; --memory-limit sets it"));
}

TEST(Faults, EndlessOutputEndsAtTheLoadLimitAndLeavesItsTail) {
  TrialJob job = fake_job({{"stderr", "endless"}});
  job.limits.load_timeout_s = 0.3;
  const Samples samples = run_trial(fake_launcher(), job, hooks_with()).samples;
  EXPECT_EQ(samples.end, TrialEnd::timeout);
  EXPECT_LT(samples.wall_s, hang_s);
  EXPECT_EQ(samples.stderr_tail.size(), 16U * 1024U);
}

TEST(Faults, MuchOutputBlocksNobody) {
  const Samples samples = run_fake({{"stderr", "8MB"}});
  EXPECT_EQ(samples.end, TrialEnd::ok) << samples.message;
  EXPECT_EQ(samples.stderr_tail.size(), 16U * 1024U);
}

TEST(Faults, ErrorsOfDataEndTheTrialWithTheirOwnSentence) {
  TrialHooks hooks;
  hooks.data = [](std::span<const Port>) -> Result<DataSet> { return usage_error("input 'x' needs something else"); };
  const Samples samples = run_trial(fake_launcher(), fake_job({}), hooks).samples;
  EXPECT_EQ(samples.end, TrialEnd::load_failed);
  EXPECT_EQ(samples.message, "input 'x' needs something else");
  EXPECT_TRUE(samples.usage);
}

TEST(Faults, TooFewValuesAreRefusedBeforeARuntimeSeesThem) {
  TrialHooks hooks;
  hooks.data = [](std::span<const Port>) -> Result<DataSet> {
    return DataSet{.items = {DataItem{}}, .class_names = {}};
  };
  const Samples samples = run_trial(fake_launcher(), fake_job({}), hooks).samples;
  EXPECT_EQ(samples.end, TrialEnd::load_failed);
  EXPECT_TRUE(samples.usage);
  EXPECT_THAT(samples.message, HasSubstr("the data give 0 values for a model with 1 inputs"));
}

TEST(Interrupt, OnceEndsAfterTheCurrentIteration) {
  std::atomic<int> interrupt{0};
  TrialJob job = fake_job({{"latency", "constant:5ms"}});
  job.stopping.iterations = 10'000;
  TrialHooks hooks = hooks_with();
  hooks.interrupt = &interrupt;
  hooks.on_progress = [&](const TrialProgress& progress) {
    if (progress.iterations_done > 0) interrupt = 1;
  };
  const Samples samples = run_trial(fake_launcher(), job, hooks).samples;
  EXPECT_EQ(samples.end, TrialEnd::interrupted);
  EXPECT_EQ(samples.signal, 0) << "it ended by itself";
  EXPECT_GT(samples.iterations(), 0U);
  EXPECT_LT(samples.iterations(), 10'000U);
  EXPECT_TRUE(samples.memory.rss_peak_inference.has_value());
  EXPECT_TRUE(has(samples, DiagnosticId::samples_partial));
}

TEST(Interrupt, TwiceEndsAtOnce) {
  std::atomic<int> interrupt{0};
  TrialJob job = fake_job({{"hang", "run:8"}});
  TrialHooks hooks = hooks_with();
  hooks.interrupt = &interrupt;
  hooks.on_progress = [&](const TrialProgress& progress) {
    if (progress.iterations_done > 0) interrupt = 2;
  };
  const Samples samples = run_trial(fake_launcher(), job, hooks).samples;
  EXPECT_EQ(samples.end, TrialEnd::interrupted);
  EXPECT_EQ(samples.signal, SIGKILL);
  EXPECT_EQ(samples.iterations(), 4U);
}

TEST(Interrupt, OnceBeforeTheLoopLeavesNoSamples) {
  const std::atomic<int> interrupt{1};
  TrialHooks hooks = hooks_with();
  hooks.interrupt = &interrupt;
  const Samples samples = run_trial(fake_launcher(), fake_job({{"load_delay", "100ms"}}), hooks).samples;
  EXPECT_EQ(samples.end, TrialEnd::interrupted);
  EXPECT_EQ(samples.iterations(), 0U);
}

TEST(Interrupt, EndsThePreparationOfAWorkload) {
  const std::atomic<int> interrupt{1};
  TrialJob job = fake_job({{"hang", "load"}});
  job.cache_folder = testing::TempDir() + "prepare-interrupted";
  const auto prepared = prepare_backend(fake_launcher(), job, &interrupt);
  ASSERT_FALSE(prepared.ok());
  EXPECT_THAT(prepared.error().message, HasSubstr("interrupted"));
}

TEST(Faults, NothingIsLeftBehind) {
  // Others may be using the same temporary folder: ours is a private one.
  const std::string own = testing::TempDir() + "faults-test";
  std::filesystem::create_directories(own);
  setenv("TMPDIR", own.c_str(), 1);
  static_cast<void>(run_fake({{"crash", "run:8"}}));
  EXPECT_TRUE(std::filesystem::is_empty(own));
  unsetenv("TMPDIR");
}

}  // namespace
}  // namespace infermeter::faults_test
