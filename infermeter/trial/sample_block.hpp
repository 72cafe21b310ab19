// SampleBlock: the memory that a trial's raw times are written to while it runs. In a worker it is shared with the
// launcher, so that what was measured before a crash is still there, and nothing is sent inside the timed loop.
//
// Layout: one page of header, then the warm-up's pairs, then (from a page's start) the timed ones. The launcher makes
// it, and afterwards believes nothing in it but the pairs below counts that fit the capacities it chose itself.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include "infermeter/diagnostics/result.hpp"
#include "infermeter/plan/plan.hpp"
#include "infermeter/samples/samples.hpp"
#include "infermeter/trial/machine/calibration.hpp"

namespace infermeter {

struct TickPair {
  std::uint64_t begin = 0, end = 0;
};

// Somebody outside who looks at the worker while it is timed, and nowhere else: the worker waits for them.
enum class ExternalProfiler : std::uint32_t { none, wanted, looking, dismissed, gone };

// Requests of a load so far, for whoever watches it; of a search for a rate, those of all its loads. Nobody waits for
// them: relaxed.
struct LiveCounts {
  std::atomic<std::uint64_t> issued, completed, failed;
};

struct SampleHeader {
  std::uint64_t magic;
  std::uint32_t version;
  std::uint32_t clock_kind;
  std::uint64_t warmup_capacity, timed_capacity;
  ClockPair start;         // before the worker was made: the origin of all times
  double read_cost_ticks;  // one clock reading
  std::atomic<std::uint32_t> phase;
  std::atomic<std::uint32_t> interrupt;  // not 0: stop after the current iteration
  std::atomic<std::uint64_t> warmup_done, timed_done;
  LiveCounts load;
  std::atomic<ExternalProfiler>
      external_profiler;  // wanted and dismissed are the worker's words, looking and gone the launcher's
};
static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

struct SampleCapacity {
  std::uint64_t warmup = 0, timed = 0;
};

class SampleBlock {
 public:
  // Warm-up iterations beyond this are counted, not kept.
  static constexpr std::uint64_t max_warmup = 4096;
  // 1 GiB of pairs for a fixed count, 256 MiB for a duration, whose pages exist only as far as they are used.
  static constexpr std::uint64_t max_iterations = std::uint64_t{1} << 26;
  static constexpr std::uint64_t max_by_duration = std::uint64_t{1} << 24;

  // Of a load for a duration: histograms have all requests, and 56 MB the times of the first ones.
  static constexpr std::uint64_t max_by_duration_of_load = 3'500'000;

  [[nodiscard]] static SampleCapacity capacity_for(const Stopping& stopping, bool time_it, bool is_load = false);
  [[nodiscard]] static std::size_t bytes_for(const SampleCapacity& capacity);
  // Of the pages that the pairs of so many iterations fill.
  [[nodiscard]] static std::size_t bytes_of(std::uint64_t iterations);

  // Writes the header into zeroed memory of bytes_for(capacity) bytes, page-aligned.
  [[nodiscard]] static SampleBlock create(std::span<std::byte> memory, const SampleCapacity& capacity, ClockKind clock,
                                          const ClockPair& start);
  // The worker's side: the header must be one of ours and fit the memory.
  [[nodiscard]] static Result<SampleBlock> open(std::span<std::byte> memory);

  [[nodiscard]] SampleHeader& header() const { return *header_; }
  [[nodiscard]] ClockKind clock() const { return clock_; }
  [[nodiscard]] const ClockPair& start() const { return start_; }
  [[nodiscard]] std::span<TickPair> warmup() const { return warmup_; }
  [[nodiscard]] std::span<TickPair> timed() const { return timed_; }

  // What is there to be read; never more than the capacities known here.
  [[nodiscard]] std::span<const TickPair> warmup_done() const;
  [[nodiscard]] std::span<const TickPair> timed_done() const;
  [[nodiscard]] std::int64_t warmup_iterations() const;  // those that are not kept as well
  [[nodiscard]] Phase phase() const;
  void set_phase(Phase phase) const {
    header_->phase.store(static_cast<std::uint32_t>(phase), std::memory_order_release);
  }
  [[nodiscard]] bool interrupted() const { return header_->interrupt.load(std::memory_order_relaxed) != 0; }

  // Writes to every page that `timed` iterations need, so that the loop meets no page fault of ours.
  // Returns the bytes that are resident because of it.
  std::size_t touch(std::uint64_t timed) const;

 private:
  SampleBlock(std::span<std::byte> memory, const SampleCapacity& capacity, ClockKind clock, const ClockPair& start);

  SampleHeader* header_;
  ClockKind clock_;
  ClockPair start_;
  std::span<TickPair> warmup_, timed_;
};

}  // namespace infermeter
