// TraceFile -> the bytes of files that viewers open. Pure; what each viewer shows is in docs/files.md.
#pragma once

#include <span>
#include <string>

#include "infermeter/profile/stacks/stack_tree.hpp"
#include "infermeter/profile/write/trace_file.hpp"

namespace infermeter {

struct StackSource {
  std::string subject;  // as reports call it; hostile
  StackTrial trial;
};

// Trace Event Format of Chrome (JSON), as torch.profiler's *.pt.trace.json has it: complete events ("X") that nest.
[[nodiscard]] std::string chrome_trace(const TraceFile& trace);

// Perfetto's protobuf trace (TracePacket of TrackDescriptor, TrackEvent, InternedData).
[[nodiscard]] std::string perfetto_trace(const TraceFile& trace);

// speedscope's file format: an evented profile per track, in nanoseconds, and a sampled one per thread of stacks.
[[nodiscard]] std::string speedscope_profile(const TraceFile& trace);

// "subject;iteration;kind;operator microseconds", one line per stack, as FlameGraph and inferno read it: own time over
// all iterations and processes of a subject. Operators within operators follow their parent. Everything of a subject's
// main thread adds up to its wall time; other threads come as "subject;thread 3;kind;operator".
[[nodiscard]] std::string collapsed_stacks(const TraceFile& trace);
// "subject;thread;kind;operator;frames microseconds" of sampled stacks: over all iterations and processes of a subject.
// Without the operator's part where it is not known.
[[nodiscard]] std::string collapsed_stacks(std::span<const StackSource> sources);
// Of stacks alone: "symbol;symbol weight". Weights in seconds become microseconds.
[[nodiscard]] std::string collapsed_stacks(const StackProfile& stacks);

}  // namespace infermeter
