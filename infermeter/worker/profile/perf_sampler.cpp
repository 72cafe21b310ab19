#include "infermeter/worker/profile/perf_sampler.hpp"

#include <fmt/format.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <ctime>
#include <string>

#include "infermeter/trial/machine/proc_file.hpp"

namespace infermeter {
namespace {

// For two seconds of call chains; for half a second of stacks, where so much may be locked.
constexpr std::size_t chain_ring_bytes = std::size_t{256} << 10U, stack_ring_bytes = std::size_t{4} << 20U;
constexpr std::size_t least_ring_bytes = std::size_t{64} << 10U;

perf_event_attr attributes(PerfSampleForm form) {
  perf_event_attr attr{};
  attr.size = sizeof attr;
  attr.type = PERF_TYPE_SOFTWARE;
  attr.config = PERF_COUNT_SW_CPU_CLOCK;
  attr.freq = 1;
  attr.sample_freq = PerfSampler::frequency_hz;
  attr.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME;
  attr.disabled = 1;
  attr.inherit = 1;
  attr.exclude_kernel = 1;
  attr.exclude_hv = 1;
  attr.exclude_callchain_kernel = 1;
  attr.mmap = 1;  // mappings of code only
  attr.mmap2 = 1;
  attr.use_clockid = 1;
  attr.clockid = CLOCK_MONOTONIC;
  attr.watermark = 1;  // nobody is to be woken
  attr.wakeup_watermark = ~0U;
  if (form == PerfSampleForm::call_chain) {
    attr.sample_type |= PERF_SAMPLE_CALLCHAIN;
  } else {
    attr.sample_type |= PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
    attr.sample_regs_user = kSampledRegisters;
    attr.sample_stack_user = PerfSampler::stack_bytes;
  }
  return attr;
}

std::size_t page_size() { return static_cast<std::size_t>(sysconf(_SC_PAGESIZE)); }

// How much a user may lock is limited (kernel.perf_event_mlock_kb): less, then.
std::span<std::byte> map_ring(int event, std::size_t size) {
  for (; size >= least_ring_bytes; size /= 2) {
    const std::size_t whole = page_size() + size;
    void* const memory = mmap(nullptr, whole, PROT_READ | PROT_WRITE, MAP_SHARED, event, 0);
    if (memory != MAP_FAILED) return {static_cast<std::byte*>(memory), whole};
    if (errno != EPERM && errno != ENOMEM) break;
  }
  return {};
}

Error refused(std::string_view what, int error) {
  const char* const name = strerrorname_np(error);
  std::string paranoid = read_proc_file("/proc/sys/kernel/perf_event_paranoid");
  while (paranoid.ends_with('\n')) paranoid.pop_back();
  return io_error(fmt::format("{} was refused ({}{})", what, name == nullptr ? "no reason" : name,
                              paranoid.empty() ? "" : "; kernel.perf_event_paranoid is " + paranoid));
}

// The processors that the process may run on.
std::vector<int> processors_of(pid_t process) {
  cpu_set_t set;
  CPU_ZERO(&set);
  std::vector<int> processors;
  if (sched_getaffinity(process, sizeof set, &set) != 0) return processors;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
    if (CPU_ISSET(cpu, &set)) processors.push_back(cpu);
  return processors;
}

}  // namespace

PerfRing::~PerfRing() {
  if (!memory_.empty()) munmap(memory_.data(), memory_.size());
}

std::uint64_t PerfRing::head() const {
  auto* const header = reinterpret_cast<perf_event_mmap_page*>(memory_.data());
  return std::atomic_ref(header->data_head).load(std::memory_order_acquire);
}

void PerfRing::take_until(std::uint64_t head, std::vector<std::byte>& records) {
  auto* const header = reinterpret_cast<perf_event_mmap_page*>(memory_.data());
  const std::span<const std::byte> data = memory_.subspan(page_size());
  const std::uint64_t tail = header->data_tail;
  const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(head - tail, data.size()));
  const auto begin = static_cast<std::size_t>(tail % data.size());
  const std::size_t first = std::min(count, data.size() - begin);
  records.insert(records.end(), data.begin() + static_cast<std::ptrdiff_t>(begin),
                 data.begin() + static_cast<std::ptrdiff_t>(begin + first));
  records.insert(records.end(), data.begin(), data.begin() + static_cast<std::ptrdiff_t>(count - first));
  std::atomic_ref(header->data_tail).store(head, std::memory_order_release);
}

PerfSampler::PerfSampler(std::vector<PerfRing> rings, PerfSampleForm form)
    : rings_(std::move(rings)), form_(form), heads_(rings_.size()) {}

// An event that threads inherit can have a ring only if it is of one processor.
Result<PerfSampler> PerfSampler::open(pid_t process, PerfSampleForm form) {
  perf_event_attr attr = attributes(form);
  std::vector<PerfRing> rings;
  for (const int cpu : processors_of(process)) {
    FileDescriptor event(static_cast<int>(syscall(SYS_perf_event_open, &attr, process, cpu, -1, PERF_FLAG_FD_CLOEXEC)));
    if (!event && errno == ENODEV) continue;  // switched off since
    if (!event) return refused("perf_event_open", errno);
    const auto memory = map_ring(event.get(), form == PerfSampleForm::call_chain ? chain_ring_bytes : stack_ring_bytes);
    if (memory.empty()) return refused("memory for the samples of perf_event_open", errno);
    rings.emplace_back(std::move(event), memory);
  }
  if (rings.empty()) return refused("perf_event_open", ENODEV);
  return PerfSampler(std::move(rings), form);
}

void PerfSampler::enable() const {
  for (const PerfRing& ring : rings_) ioctl(ring.event(), PERF_EVENT_IOC_ENABLE, 0);
}

void PerfSampler::disable() const {
  for (const PerfRing& ring : rings_) ioctl(ring.event(), PERF_EVENT_IOC_DISABLE, 0);
}

void PerfSampler::note_heads() {
  for (std::size_t i = 0; i < rings_.size(); ++i) heads_[i] = rings_[i].head();
}

void PerfSampler::take(bool samples_too) {
  cut_ = cut_ || records_.size() > most_bytes;
  for (std::size_t i = 0; i < rings_.size(); ++i) {
    if (samples_too && !cut_) {
      rings_[i].take_until(heads_[i], records_);
      continue;
    }
    passing_.clear();
    rings_[i].take_until(heads_[i], passing_);
    append_without_samples(passing_, records_);
  }
}

void PerfSampler::read_into(RawStacks& stacks) const {
  read_perf_records(records_, form_, stacks);
  stacks.cut = stacks.cut || cut_;
  std::ranges::stable_sort(stacks.samples, {}, &RawSample::monotonic_ns);
}

}  // namespace infermeter
