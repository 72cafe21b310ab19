#include "infermeter/trial/machine/peaks.hpp"

#include <fmt/format.h>
#include <sched.h>
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <thread>
#include <tuple>

#include "infermeter/diagnostics/interrupt.hpp"
#include "infermeter/trial/machine/clock.hpp"
#include "infermeter/trial/machine/peak_kernels.hpp"
#include "infermeter/trial/machine/proc_file.hpp"
#include "infermeter/trial/machine/processor_team.hpp"

namespace infermeter {
namespace {

// A window is long enough for the clock and short enough to fall between two turns of other programs; the best of a
// repeat's windows is its figure.
constexpr double window_s = 0.002;
constexpr int windows = 20;
constexpr int most_repeats = 5;
constexpr int least_windows = 4;
constexpr double figure_s = 0.35;  // no window begins later than this, but for the first ones
constexpr double memory_s = 1;     // of a processor: what a thread takes for its memory at most
constexpr std::uint64_t chunk_bytes = std::uint64_t{16} << 20U;  // of DRAM, in a window: some 1 ms
constexpr std::uint64_t page_bytes = 4096;
constexpr std::uint64_t most_memory = std::uint64_t{1} << 30U;
constexpr std::uint64_t least_memory = std::uint64_t{64} << 20U;

// "L1", "L2", "L3"
const Cache* find_cache(const Environment& machine, std::string_view level) {
  const std::string_view kind = level == "L1" ? "L1d" : level;
  const auto found = std::ranges::find(machine.caches, kind, &Cache::kind);
  return found == machine.caches.end() || found->size_bytes == 0 ? nullptr : &*found;
}

// What one of several threads has of a cache if all that may share it do.
std::uint64_t share(const Cache& cache, int threads) {
  return cache.size_bytes / static_cast<std::uint64_t>(std::clamp(threads, 1, std::max(cache.shared_by, 1)));
}

std::uint64_t whole_blocks(std::uint64_t bytes) { return bytes / kMemoryBlock * kMemoryBlock; }

// All instances of a cache that the threads may reach.
std::uint64_t reach(const Cache& cache, const Environment& machine, int threads) {
  const int sharing = std::max(cache.shared_by, 1);
  const int instances = (std::max(machine.processors_online, 1) + sharing - 1) / sharing;
  return cache.size_bytes * static_cast<std::uint64_t>(std::clamp(threads, 1, instances));
}

std::uint64_t usable_memory(const Environment& machine) {
  std::uint64_t usable = machine.memory_available_bytes;
  for (const char* const limit : {"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"})
    if (const auto bytes = number_after(read_proc_file(limit), "")) usable = std::min(usable, *bytes);
  return usable / 4;
}

// Memory of one thread, in large pages where they are to be had: otherwise the page walk is measured with it. Where
// memory is in pieces, the kernel takes long to find them: the rest is then taken in small ones.
class Region {
 public:
  // Each page written by the thread that will read it, so that it lies near its processor; what comes in memory_s.
  void take(std::uint64_t bytes) {
    void* const memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return;
    madvise(memory, bytes, MADV_HUGEPAGE);
    begin_ = static_cast<std::byte*>(memory);
    mapped_ = bytes;
    const double begin_s = thread_time_s();
    bool is_large = true;
    for (double spent_s = 0; written_ < mapped_ && spent_s < memory_s; spent_s = thread_time_s() - begin_s) {
      if (is_large && spent_s > memory_s / 2) {
        madvise(begin_ + written_, mapped_ - written_, MADV_NOHUGEPAGE);
        is_large = false;
      }
      const std::uint64_t piece = std::min(mapped_ - written_, chunk_bytes);
      for (std::uint64_t page = 0; page < piece; page += page_bytes) begin_[written_ + page] = std::byte{1};
      written_ += piece;
    }
  }
  Region() = default;
  Region(const Region&) = delete;
  Region& operator=(const Region&) = delete;
  ~Region() {
    if (begin_ != nullptr) munmap(begin_, mapped_);
  }
  [[nodiscard]] std::byte* begin() const { return begin_; }
  [[nodiscard]] std::uint64_t written() const { return written_; }

 private:
  std::byte* begin_ = nullptr;
  std::uint64_t mapped_ = 0, written_ = 0;
};

struct Rate {
  double low = 0, high = 0;  // per second, of the repeats
};

class PeakSession {
 public:
  PeakSession(ProcessorTeam& team, const Environment& machine, MachinePeaks& peaks, const std::atomic<int>* interrupt)
      : team_(team), machine_(machine), peaks_(peaks), interrupt_(interrupt), regions_(team.size()) {}

  [[nodiscard]] bool interrupted() const { return look_at_interrupts(interrupt_) != 0; }

  void compute() {
    for (const ComputeKernel& kernel : compute_kernels()) {
      if (interrupted()) return;
      if (!peaks_.compute.empty() && peaks_.compute.back().dtype == kernel.dtype) continue;  // a wider one was there
      const Rate rate = repeated(kernel.ops_per_loop, [&](std::size_t, std::uint64_t loops, std::uint64_t) {
        alignas(64) std::array<std::byte, kMostAccumulatorBytes> accumulators;
        kernel.run(loops, accumulators.data());
      });
      peaks_.compute.push_back({.dtype = kernel.dtype,
                                .ops_per_s = rate.high,
                                .low = rate.low,
                                .high = rate.high,
                                .instructions = kernel.instructions});
    }
    peaks_.missing.insert(peaks_.missing.end(), missing_kernels().begin(), missing_kernels().end());
  }

  void bandwidth() {
    if (memory_kernels().empty()) {
      peaks_.missing.emplace_back("bandwidths: there are no kernels for this architecture");
      return;
    }
    if (interrupted()) return;
    const WorkingSets sets = working_sets(machine_, peaks_.threads, usable_memory(machine_));
    take(std::max({sets.l1_bytes, sets.l2_bytes, sets.l3_bytes, sets.dram_bytes}));
    read("L1", sets.l1_bytes);
    read("L2", sets.l2_bytes);
    read("L3", sets.l3_bytes);
    read_dram(sets.dram_bytes);
    triad(sets.dram_bytes);
  }

 private:
  // `task(thread, loops, window)` does `work` for each loop. The loops of a window are found first, which also lets the
  // processor come to its speed.
  template <class Task>
  Rate repeated(double work, const Task& task) {
    const double figure_end_s = monotonic_s() + figure_s;
    std::uint64_t loops = 1, window = 0;
    const std::function<void(std::size_t)> once = [&](std::size_t thread) { task(thread, loops, window); };
    double took_s = shortest_of_4(once);
    for (; took_s < window_s / 8; took_s = shortest_of_4(once)) loops *= 8;
    loops = std::max<std::uint64_t>(1, static_cast<std::uint64_t>(static_cast<double>(loops) * window_s / took_s));
    std::vector<double> repeats;
    for (window = 0; window < most_repeats * windows; ++window) {
      if (window >= least_windows && monotonic_s() > figure_end_s) break;
      const double per_s = work * static_cast<double>(loops * team_.size()) / team_.run(once).all_s;
      if (window % windows == 0) repeats.push_back(0);
      repeats.back() = std::max(repeats.back(), per_s);
    }
    return {std::ranges::min(repeats), std::ranges::max(repeats)};
  }

  double shortest_of_4(const std::function<void(std::size_t)>& once) {
    double shortest_s = team_.run(once).shortest_s;
    for (int more = 0; more < 3; ++more) shortest_s = std::min(shortest_s, team_.run(once).shortest_s);
    return shortest_s;
  }

  void take(std::uint64_t bytes) {
    if (bytes == 0) return;
    team_.run([&](std::size_t thread) { regions_[thread].take(bytes); });
    written_ = bytes;
    for (const Region& region : regions_) written_ = std::min(written_, region.written());
  }

  void read(const char* level, std::uint64_t bytes) {
    if (!possible(level, bytes)) return;
    add(level, repeated(static_cast<double>(bytes), [&](std::size_t thread, std::uint64_t passes, std::uint64_t) {
          memory_kernels().front().read(regions_[thread].begin(), bytes, passes);
        }));
  }

  // Chunk after chunk, round and round: when a chunk's turn comes again, all others have been through the caches.
  void read_dram(std::uint64_t bytes) {
    const char* const level = "DRAM";
    if (!possible(level, bytes)) return;
    const std::uint64_t chunk = std::min(bytes, chunk_bytes);
    add(level, repeated(static_cast<double>(chunk), [&](std::size_t thread, std::uint64_t loops, std::uint64_t window) {
          for (std::uint64_t i = 0; i < loops; ++i)
            memory_kernels().front().read(regions_[thread].begin() + (window * loops + i) % (bytes / chunk) * chunk,
                                          chunk, 1);
        }));
  }

  void triad(std::uint64_t bytes) {
    const char* const level = "DRAM triad";
    if (!possible(level, bytes)) return;
    const std::uint64_t chunk = std::min(whole_blocks(bytes / 3), chunk_bytes / 4);
    const std::uint64_t chunks = bytes / (3 * chunk);
    const auto array = [&](std::size_t thread, std::uint64_t which, std::uint64_t at) {
      return reinterpret_cast<float*>(regions_[thread].begin() + (which * chunks + at % chunks) * chunk);
    };
    add(level,
        repeated(3 * static_cast<double>(chunk), [&](std::size_t thread, std::uint64_t loops, std::uint64_t window) {
          for (std::uint64_t at = window * loops; at < (window + 1) * loops; ++at)
            memory_kernels().front().triad(array(thread, 0, at), array(thread, 1, at), array(thread, 2, at), chunk);
        }));
  }

  bool possible(const char* level, std::uint64_t bytes) {
    if (interrupted()) return false;
    if (bytes > 0 && bytes <= written_) return true;
    peaks_.missing.push_back(fmt::format("{}: {}", level, why_not(level, bytes)));
    return false;
  }

  [[nodiscard]] std::string why_not(std::string_view level, std::uint64_t bytes) const {
    if (bytes > 0) return fmt::format("{} MiB of memory could not be had in {} s", bytes >> 20U, memory_s);
    if (level.starts_with("DRAM")) return "there is too little memory to tell it from the caches";
    if (find_cache(machine_, level) == nullptr) return "the size of this cache is not known";
    return "a thread's part of it is too small to be distinguished from what is nearer";
  }

  void add(const char* level, const Rate& rate) {
    const Cache* const cache = find_cache(machine_, level);
    peaks_.bandwidth.push_back({.level = level,
                                .bytes_per_s = rate.high,
                                .low = rate.low,
                                .high = rate.high,
                                .holds_bytes = cache == nullptr ? 0 : reach(*cache, machine_, peaks_.threads)});
  }

  ProcessorTeam& team_;
  const Environment& machine_;
  MachinePeaks& peaks_;
  const std::atomic<int>* interrupt_;
  std::vector<Region> regions_;
  std::uint64_t written_ = 0;  // of each region
};

}  // namespace

WorkingSets working_sets(const Environment& machine, int threads, std::uint64_t usable_memory_bytes) {
  const Cache* const l1 = find_cache(machine, "L1");
  const Cache* const l2 = find_cache(machine, "L2");
  const Cache* const l3 = find_cache(machine, "L3");
  WorkingSets sets;
  if (l1 != nullptr) sets.l1_bytes = whole_blocks(share(*l1, threads) / 2);
  if (l1 != nullptr && l2 != nullptr && share(*l2, threads) / 2 >= 2 * l1->size_bytes)
    sets.l2_bytes = whole_blocks(share(*l2, threads) / 2);
  // Of a last-level cache that others use as well, half a share may not be there: no more than is needed to miss L2.
  if (l2 != nullptr && l3 != nullptr && share(*l3, threads) / 2 >= 2 * l2->size_bytes)
    sets.l3_bytes = whole_blocks(std::min(share(*l3, threads) / 2, 4 * l2->size_bytes));
  std::uint64_t caches = 0;
  for (const Cache& cache : machine.caches) caches = std::max(caches, reach(cache, machine, threads));
  const std::uint64_t dram = std::min({std::max(4 * caches, least_memory), most_memory, usable_memory_bytes});
  if (dram >= std::max(2 * caches, least_memory))
    sets.dram_bytes = whole_blocks(dram / static_cast<std::uint64_t>(std::max(threads, 1)));
  return sets;
}

std::vector<int> processors_by_core() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) != 0) return {};
  std::map<std::string, int> seen;  // processors of each core so far, by the list of its siblings
  std::vector<std::pair<int, int>> ranked;
  for (int processor = 0; processor < CPU_SETSIZE; ++processor) {
    if (!CPU_ISSET(processor, &set)) continue;
    const std::string siblings =
        read_proc_file(fmt::format("/sys/devices/system/cpu/cpu{}/topology/thread_siblings_list", processor));
    ranked.emplace_back(siblings.empty() ? 0 : seen[siblings]++, processor);
  }
  std::ranges::sort(ranked);
  std::vector<int> processors;
  for (const auto& [rank, processor] : ranked) processors.push_back(processor);
  return processors;
}

std::vector<int> refused_processors(std::span<const int> wanted) {
  std::vector<int> refused;
  const auto is_refused = [](int processor) {
    if (processor < 0 || processor >= CPU_SETSIZE) return true;
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(processor, &set);
    return sched_setaffinity(0, sizeof set, &set) != 0;
  };
  // Affinity is a thread's own.
  std::thread([&] { std::ranges::copy_if(wanted, std::back_inserter(refused), is_refused); }).join();
  return refused;
}

MachinePeaks measure_peaks(std::span<const int> processors, int threads, const Environment& machine,
                           const std::atomic<int>* interrupt) {
  const double begin_s = monotonic_s();
  MachinePeaks peaks{.threads = threads, .compute = {}, .bandwidth = {}, .seconds = 0, .missing = {}};
  if (threads < 1 || static_cast<std::size_t>(threads) > processors.size()) {
    peaks.missing.push_back(
        fmt::format("all peaks: {} threads need a processor each and there are {}", threads, processors.size()));
    return peaks;
  }
  auto team = ProcessorTeam::make(processors.first(static_cast<std::size_t>(threads)));
  if (!team.ok()) {
    peaks.missing.push_back("all peaks: " + team.error().message);
    return peaks;
  }
  PeakSession session(**team, machine, peaks, interrupt);
  session.compute();
  session.bandwidth();
  if (session.interrupted()) peaks.missing.emplace_back("the rest: interrupted");
  peaks.seconds = monotonic_s() - begin_s;
  return peaks;
}

}  // namespace infermeter
