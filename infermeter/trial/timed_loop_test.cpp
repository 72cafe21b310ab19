#include "infermeter/trial/timed_loop.hpp"

#include <gtest/gtest.h>
#include <malloc.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <new>

#include "infermeter/trial/measure.hpp"
#include "infermeter/trial/simulated_subject.hpp"

namespace {
std::atomic<std::uint64_t> allocations{0};
}  // namespace

// Every allocation of this program is counted: those of C++ here, those of C by the allocator's own figures.
[[gnu::noinline]] void* operator new(std::size_t size) {
  allocations.fetch_add(1, std::memory_order_relaxed);
  if (void* const memory = std::malloc(size)) return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace infermeter::timed_loop_test {
namespace {

using namespace test;

struct Block {
  explicit Block(const Stopping& stopping)
      : capacity(SampleBlock::capacity_for(stopping, true)),
        memory((SampleBlock::bytes_for(capacity) + 7) / 8),
        block(SampleBlock::create(std::as_writable_bytes(std::span(memory)), capacity, ClockKind::monotonic, {})) {}
  SampleCapacity capacity;
  std::vector<std::uint64_t> memory;
  SampleBlock block;
};

struct CountingStep {
  std::uint64_t prepared = 0;
  bool prepare(std::uint64_t) { return ++prepared > 0; }
  bool run() { return true; }
};

TEST(TimedLoop, AllocatesNothing) {
  Block memory({.warmup = 0, .iterations = 100'000, .duration_s = {}});
  SampleHeader& header = memory.block.header();
  CountingStep step;
  static_cast<void>(memory.block.touch(100'000));
  const std::uint64_t before = allocations.load();
  const auto c_before = mallinfo2().uordblks;
  const LoopEnd end = timed_loop(MonotonicClock{}, step, {.iterations = 100'000}, memory.block.timed(),
                                 header.timed_done, header.interrupt);
  const auto c_after = mallinfo2().uordblks;
  EXPECT_EQ(allocations.load(), before);
  EXPECT_EQ(c_after, c_before);
  EXPECT_EQ(end, LoopEnd::complete);
  EXPECT_EQ(step.prepared, 100'000U);
}

TEST(TimedLoop, AllocatesNothingAroundARequestEither) {
  SimulatedTrial trial;
  trial.request.stopping.iterations = 1000;
  trial.own_world.bound.reserve(10'000);
  std::uint64_t first = 0, last = 0;
  static std::uint64_t *first_seen, *last_seen;
  first_seen = &first;
  last_seen = &last;
  trial.items = 2;  // binds between iterations
  trial.backend.run = [](imb_request* request, imb_message message) {
    if (world->runs == 1 + 3) *first_seen = allocations.load();
    if (world->runs == 1 + 3 + 999) *last_seen = allocations.load();
    return table::run(request, message);
  };
  EXPECT_EQ(trial.run().samples.end, TrialEnd::ok);
  EXPECT_GT(first, 0U);
  EXPECT_EQ(last, first);
}

TEST(TimedLoop, NeverWritesBeyondItsRoom) {
  Block memory({.warmup = 0, .iterations = 5, .duration_s = {}});
  CountingStep step;
  SampleHeader& header = memory.block.header();
  static_cast<void>(timed_loop(MonotonicClock{}, step, {.iterations = 1000}, memory.block.timed(), header.timed_done,
                               header.interrupt));
  EXPECT_EQ(step.prepared, 5U);
}

TEST(LimitsFor, ACountIsACount) {
  Block memory({.warmup = 0, .iterations = 7, .duration_s = {}});
  const LoopLimits limits = limits_for({.warmup = 0, .iterations = 7, .duration_s = {}}, memory.block, {}, 100);
  EXPECT_EQ(limits.iterations, 7U);
  EXPECT_EQ(limits.expected, 7U);
  EXPECT_EQ(limits.budget_ticks, UINT64_MAX);
}

TEST(LimitsFor, AnInferenceOfNoTimeStillHasALimit) {
  const Stopping stopping{.warmup = 0, .iterations = {}, .duration_s = 1e-3};
  const Block memory({.warmup = 0, .iterations = 1, .duration_s = {}});
  const SampleBlock& block = memory.block;
  const LoopLimits limits = limits_for(stopping, block, {}, 0);
  EXPECT_EQ(limits.iterations, block.timed().size());
  EXPECT_EQ(limits.budget_ticks, 1'000'000U);
}

// Every inference of the warm-up was interrupted: many more than guessed fit into the time.
TEST(LimitsFor, ADurationEndsWhenItsTimeIsSpent) {
  Block memory({.warmup = 1, .iterations = 10'000, .duration_s = {}});
  const SampleBlock& block = memory.block;
  SampleHeader& header = block.header();
  block.warmup()[0] = {0, 20'000'000};
  header.warmup_done = 1;
  const LoopLimits limits = limits_for({.warmup = 1, .iterations = {}, .duration_s = 0.05}, block, {}, 0);
  EXPECT_EQ(limits.expected, 1024U);
  CountingStep step;
  std::uint64_t ticks = 0;
  const struct {
    std::uint64_t* ticks;
    std::uint64_t now() const { return *ticks += 10'000; }
  } clock{&ticks};
  EXPECT_EQ(timed_loop(clock, step, limits, block.timed(), header.timed_done, header.interrupt), LoopEnd::complete);
  EXPECT_EQ(block.timed_done().size(), 5000U);
}

TEST(Measure, TimesACallable) {
  int calls = 0;
  const Samples samples = measure([&] { ++calls; }, {.warmup = 5, .iterations = 50, .duration_s = {}});
  EXPECT_EQ(samples.end, TrialEnd::ok);
  EXPECT_EQ(calls, 1 + 5 + 50);
  EXPECT_EQ(samples.iterations(), 50U);
  EXPECT_EQ(samples.warmup_begin_s.size(), 5U);
  EXPECT_TRUE(samples.noise.involuntary_switches.has_value());
  EXPECT_GT(samples.memory.rss_peak_inference.value(), 0U);
  for (const double latency : latencies_s(samples)) EXPECT_GE(latency, 0);
  EXPECT_GT(samples.begin_s.front(), 0);
}

TEST(Measure, CountsTheFirstCallWhereItIsAskedTo) {
  int calls = 0;
  const Samples samples =
      measure([&] { ++calls; }, {.warmup = 0, .iterations = 3, .duration_s = {}, .count_first = true});
  EXPECT_EQ(calls, 3);
  EXPECT_EQ(samples.iterations(), 3U);
}

TEST(Measure, MeasuresForADuration) {
  const auto spin = [] {
    for (const double until_s = monotonic_s() + 0.5e-3; monotonic_s() < until_s;) {
    }
  };
  const Samples samples = measure(spin, {.warmup = 2, .iterations = {}, .duration_s = 0.02});
  double sum_s = 0;
  for (const double latency : latencies_s(samples)) sum_s += latency;
  EXPECT_GE(sum_s, 0.0199);
  EXPECT_LE(samples.iterations(), 40U);
}

TEST(Measure, ThePeakIsThatOfTheCallableAlone) {
  constexpr std::size_t size = 256U << 20U;
  void* const earlier = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  std::memset(earlier, 1, size);
  munmap(earlier, size);
  const Samples samples = measure([] {}, {.warmup = 2, .iterations = 5, .duration_s = {}});
  if (!samples.memory.peak_reset) GTEST_SKIP() << "clear_refs cannot be written here";
  EXPECT_LT(samples.memory.rss_peak_inference.value(), size / 2 + *MemoryProbe().resident());
}

TEST(Measure, ACallableThatSaysFalseHasFailed) {
  int calls = 0;
  const Samples samples = measure([&] { return ++calls < 10; }, {.warmup = 2, .iterations = 50, .duration_s = {}});
  EXPECT_EQ(samples.end, TrialEnd::run_failed);
  EXPECT_EQ(samples.iterations(), 6U);
}

TEST(Measure, StopsWhenItIsInterrupted) {
  std::atomic<int> interrupt{0};
  int calls = 0;
  const auto callable = [&] { interrupt = ++calls == 10 ? 1 : 0; };
  const Samples samples = measure(callable, {.warmup = 2, .iterations = 50, .duration_s = {}},
                                  {.items_per_iteration = 1, .interrupt = &interrupt});
  EXPECT_EQ(samples.end, TrialEnd::interrupted);
  EXPECT_EQ(samples.iterations(), 7U);
}

struct PreparedCallable {
  std::uint64_t prepared = 0, called = 0;
  bool prepare(std::uint64_t) { return ++prepared <= 10; }
  void operator()() { ++called; }
};

TEST(Measure, PreparesACallableThatWantsIt) {
  PreparedCallable callable;
  const Samples samples = measure(callable, {.warmup = 2, .iterations = 50, .duration_s = {}});
  EXPECT_EQ(samples.end, TrialEnd::run_failed);
  EXPECT_EQ(callable.prepared, 11U);
  EXPECT_EQ(callable.called, 10U);
  EXPECT_EQ(samples.iterations(), 7U);
}

TEST(Measure, SaysWhenTheClockIsTooCoarseForIt) {
  const Samples samples = measure([] {}, {.warmup = 2, .iterations = 500, .duration_s = {}});
  EXPECT_TRUE(std::any_of(samples.diagnostics.begin(), samples.diagnostics.end(),
                          [](const Diagnostic& d) { return d.id == DiagnosticId::timer_resolution; }));
}

// Without a file descriptor to be had, nothing in /proc can be opened.
TEST(Measure, SaysThatThePeakCannotBeReset) {
  rlimit files{};
  getrlimit(RLIMIT_NOFILE, &files);
  const rlimit none{0, files.rlim_max};
  setrlimit(RLIMIT_NOFILE, &none);
  const Samples samples = measure([] {}, {.warmup = 1, .iterations = 3, .duration_s = {}});
  setrlimit(RLIMIT_NOFILE, &files);
  EXPECT_FALSE(samples.memory.peak_reset);
  EXPECT_TRUE(std::any_of(samples.diagnostics.begin(), samples.diagnostics.end(),
                          [](const Diagnostic& found) { return found.id == DiagnosticId::no_memory_reset; }));
  EXPECT_EQ(samples.iterations(), 3U);
}

}  // namespace
}  // namespace infermeter::timed_loop_test
