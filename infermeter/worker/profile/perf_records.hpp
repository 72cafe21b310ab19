// Records of the kernel's perf_event rings (linux/perf_event.h) -> RawStacks. Pure.
#pragma once

#include <cstddef>
#include <span>

#include "infermeter/samples/raw_stacks.hpp"

namespace infermeter {

// Of PERF_RECORD_SAMPLE: instruction, thread and time, then a call chain, or registers and the top of the stack.
enum class PerfSampleForm { call_chain, stack };

// Adds the samples, mappings and losses in `bytes`, which are whole records one behind the other; samples of other
// processes are left out. What is not a record, or says that it is longer than what is there, ends it (`cut`).
void read_perf_records(std::span<const std::byte> bytes, PerfSampleForm form, RawStacks& into);

// The same records without samples, for stretches whose samples nobody wants.
void append_without_samples(std::span<const std::byte> records, std::vector<std::byte>& kept);

}  // namespace infermeter
