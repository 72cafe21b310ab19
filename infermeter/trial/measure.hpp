// measure: an embedding program's own callable, timed in its own process by the loop that workers use.
//
//   const auto samples = infermeter::measure([&] { model.run(input); }, {.warmup = 10, .iterations = 1000, .duration_s
//   = {}}); for (const double latency_s : infermeter::latencies_s(samples)) …
//
// The same clock, warm-up, stopping, noise and memory records as in a trial; what a process of its own gives (a fresh
// layout, limits, survival of crashes) is missing: see docs/methodology.md before comparing two callables with it. The
// process's own peak of its resident set (VmHWM) is reset twice.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <utility>

#include "infermeter/plan/plan.hpp"
#include "infermeter/samples/samples.hpp"
#include "infermeter/trial/sample_block.hpp"
#include "infermeter/trial/timed_loop.hpp"

namespace infermeter {

struct MeasureOptions {
  std::int64_t items_per_iteration = 1;
  const std::atomic<int>* interrupt = nullptr;  // not 0: stop after the current iteration; looked at between iterations
};

// What surrounds the loop and needs no knowledge of what is measured.
class Measurement {
 public:
  Measurement(const Stopping& stopping, const MeasureOptions& options);
  ~Measurement();
  Measurement(const Measurement&) = delete;
  Measurement& operator=(const Measurement&) = delete;

  [[nodiscard]] const SampleBlock& block() const { return block_; }
  [[nodiscard]] std::uint64_t warmup() const { return warmup_; }
  [[nodiscard]] bool counts_first() const { return stopping_.count_first; }
  // Makes room, resets the peak of the resident set and reads the noise counters.
  [[nodiscard]] LoopLimits begin_loop(std::uint64_t first_ticks, double read_cost_ticks);
  [[nodiscard]] Samples end_loop(LoopEnd end);

 private:
  struct Records;
  Stopping stopping_;
  MeasureOptions options_;
  std::uint64_t warmup_;
  std::unique_ptr<Records> records_;
  SampleBlock block_;
};

template <class Callable>
struct CallableStep {
  Callable& callable;
  const std::atomic<int>* interrupt;
  // A callable may have `bool prepare(std::uint64_t iteration)` as well, which is called outside of the measured
  // region; false ends the loop.
  [[nodiscard]] bool prepare(std::uint64_t iteration) const {
    if (interrupt != nullptr && interrupt->load(std::memory_order_relaxed) != 0) return false;
    if constexpr (requires { callable.prepare(iteration); }) {
      return callable.prepare(iteration);
    } else {
      return true;
    }
  }
  // A callable that returns bool says with false that it failed; any other result is not looked at.
  [[nodiscard]] bool run() {
    if constexpr (std::is_same_v<std::invoke_result_t<Callable&>, bool>) {
      return callable();
    } else {
      static_cast<void>(callable());
      return true;
    }
  }
};

// `Clock` is one of clock.hpp's; `measure` chooses. What the callable throws passes through.
template <class Clock, class Callable>
[[nodiscard]] Samples measure_with(const Clock& clock, Callable& callable, Measurement& measurement,
                                   const MeasureOptions& options) {
  CallableStep<Callable> step{callable, options.interrupt};
  const SampleBlock& block = measurement.block();
  SampleHeader& header = block.header();
  const std::uint64_t begin = clock.now();
  if (!measurement.counts_first() && (!step.prepare(0) || !step.run())) return measurement.end_loop(LoopEnd::failed);
  const std::uint64_t first_ticks = clock.now() - begin;

  const std::uint64_t kept = block.warmup().size();
  LoopEnd end = timed_loop(clock, step, {.iterations = kept}, block.warmup(), header.warmup_done, header.interrupt);
  if (end == LoopEnd::complete)
    end = untimed_loop(step, kept, measurement.warmup(), header.warmup_done, header.interrupt);
  if (end != LoopEnd::complete) return measurement.end_loop(end);

  const LoopLimits limits = measurement.begin_loop(first_ticks, read_cost_ticks(clock));
  end = timed_loop(clock, step, limits, block.timed(), header.timed_done, header.interrupt);
  return measurement.end_loop(end);
}

// Runs `callable` once (unless stopping.count_first), then stopping.warmup times, then timed until `stopping` is met.
// samples.end is ok, run_failed (the callable returned false) or interrupted; what was timed until then is there.
template <class Callable>
[[nodiscard]] Samples measure(Callable&& callable, const Stopping& stopping, const MeasureOptions& options = {}) {
  Measurement measurement(stopping, options);
#if defined(__x86_64__)
  if (measurement.block().clock() == ClockKind::tsc) return measure_with(TscClock{}, callable, measurement, options);
#endif
  return measure_with(MonotonicClock{}, callable, measurement, options);
}

}  // namespace infermeter
