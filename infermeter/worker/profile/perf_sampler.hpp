// PerfSampler: the kernel notes every 2 ms of processor time where the threads of a process are (perf_event_open,
// cpu-clock, user code only), into a ring per processor, that are emptied from here.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "infermeter/diagnostics/result.hpp"
#include "infermeter/samples/raw_stacks.hpp"
#include "infermeter/worker/profile/perf_records.hpp"
#include "infermeter/worker/wall/file_descriptor.hpp"

namespace infermeter {

// A ring that the kernel writes records to.
class PerfRing {
 public:
  PerfRing(FileDescriptor event, std::span<std::byte> memory) : event_(std::move(event)), memory_(memory) {}
  PerfRing(PerfRing&& other) noexcept
      : event_(std::move(other.event_)), memory_(std::exchange(other.memory_, std::span<std::byte>())) {}
  PerfRing& operator=(PerfRing&&) = delete;
  ~PerfRing();

  [[nodiscard]] int event() const { return event_.get(); }
  [[nodiscard]] std::uint64_t head() const;  // bytes written since it was made
  // Appends what lies before `head`, and gives its room back.
  void take_until(std::uint64_t head, std::vector<std::byte>& records);

 private:
  FileDescriptor event_;
  std::span<std::byte> memory_;  // a page of header, then the data
};

class PerfSampler {
 public:
  // 499 per second of processor time of each thread: prime to what models repeat.
  static constexpr unsigned frequency_hz = 499;
  static constexpr unsigned stack_bytes = 8192;
  static constexpr std::size_t most_bytes = std::size_t{256} << 20U;  // kept; what comes later is counted as lost

  // Of the process and of all threads that it will make; those that it has already, other than its main one, are not
  // seen. The error says why the kernel refused.
  [[nodiscard]] static Result<PerfSampler> open(pid_t process, PerfSampleForm form);

  void enable() const;
  void disable() const;
  // Empties the rings, for some 10 us. `is_wanted` is asked when it is settled up to where they are emptied: if not,
  // samples are dropped.
  template <class IsWanted>
  void drain(const IsWanted& is_wanted) {
    note_heads();
    take(is_wanted());
  }
  // What was drained, in order of time.
  void read_into(RawStacks& stacks) const;

 private:
  PerfSampler(std::vector<PerfRing> rings, PerfSampleForm form);
  void note_heads();
  void take(bool samples_too);

  std::vector<PerfRing> rings_;
  PerfSampleForm form_;
  std::vector<std::uint64_t> heads_;
  std::vector<std::byte> records_, passing_;
  bool cut_ = false;
};

}  // namespace infermeter
