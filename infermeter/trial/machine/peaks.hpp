// What this machine's processor and memory do at best, measured now. Product: MachinePeaks, the roofline's ceilings.
#pragma once

#include <atomic>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "infermeter/samples/environment.hpp"
#include "infermeter/samples/machine_peaks.hpp"

namespace infermeter {

// Each figure is the best of five repeats, all threads together: programs next door only ever slow one down. low and
// high are the slowest and the fastest repeat. What is counted:
//   compute     operations of the widest instructions that runtimes use for the dtype; a multiply and an add are two
//   L1, L2, L3  bytes read of a working set that fits there and nowhere nearer, the same for each thread
//   DRAM        bytes read of four times the last-level cache
//   DRAM triad  a = b + 3 c with stores past the caches: 3 arrays' bytes (STREAM, McCalpin 1995; no write-allocate)
// Takes some 2 s, and less than 4 unless programs next door take most of the processors. Starts `threads` threads, one
// on each of the first `processors`; takes at most 1 GiB, and a quarter of the memory available, given back at the end.
// `machine` shows caches and memory. Never fails: what cannot be measured is a sentence in `missing`. Not 0 in
// `interrupt`: the rest is left out.
[[nodiscard]] MachinePeaks measure_peaks(std::span<const int> processors, int threads, const Environment& machine,
                                         const std::atomic<int>* interrupt = nullptr);

// Those that this process may be put on, in an order in which the first ones share as little as possible: one of each
// core before any core's second.
[[nodiscard]] std::vector<int> processors_by_core();

// Those of `wanted` that the kernel puts no thread of this process on: the machine, or its CPU set, does not have them.
// What this process is confined to (taskset) does not count, as a worker's processors are set anew.
[[nodiscard]] std::vector<int> refused_processors(std::span<const int> wanted);

// How much memory each of `threads` reads to see one level; 0: no working set fits there and nowhere nearer.
struct WorkingSets {
  std::uint64_t l1_bytes = 0, l2_bytes = 0, l3_bytes = 0, dram_bytes = 0;
};
[[nodiscard]] WorkingSets working_sets(const Environment& machine, int threads, std::uint64_t usable_memory_bytes);

}  // namespace infermeter
