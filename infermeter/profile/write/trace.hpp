// What a trace is made of: processes, tracks, slices with labels, counters.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "infermeter/samples/stack_profile.hpp"

namespace infermeter {

// What slices show: one of each operator of a process, so that its slices share it. Texts are valid UTF-8 of at most
// kLongestTraceText bytes without control characters, names and categories never empty.
struct TraceLabel {
  std::string name;
  std::string category;                                    // "iteration", or the operator's kind: "Conv"
  std::vector<std::pair<std::string, std::string>> texts;  // what else is reported about it: kernel, precision, …
  std::vector<std::pair<std::string, double>> numbers;     // flops, bytes, …
  std::optional<std::size_t> op;                           // index into the profile's operators
};

struct TraceSlice {
  std::size_t label = 0;
  std::uint32_t iteration = 0;
  double begin_s = 0, end_s = 0;  // since the trace's own origin
};

// Slices that nest: of two that overlap, one lies within the other. By begin, the outer one first.
struct TraceTrack {
  std::string name;          // "main thread", "thread 3", "thread 3, overlapping"
  std::uint32_t number = 0;  // unique within the process
  std::uint32_t thread = 0;  // that it belongs to; main thread: 0
  std::vector<TraceSlice> slices;
};

struct TraceCounter {  // bytes
  std::string name;
  std::vector<double> at_s, values;
};

struct TraceProcess {
  std::string subject;
  int subject_index = 0, number = 0;  // of the plan; which of the subject's processes
  std::vector<TraceLabel> labels;     // the first: iterations
  std::vector<TraceTrack> tracks;     // the first: the main thread's, with its iterations outermost
  std::vector<TraceCounter> counters;
  std::optional<StackProfile> stacks;
  std::size_t iterations = 0;
  std::size_t left_out = 0;   // events that have no place on a time line, or no time
  std::size_t not_shown = 0;  // iterations beyond those that a trace has
  bool is_measured = false;   // without a profiler: its iterations are the report's
  bool from_means = false;    // one iteration made of sums: it shows shares, not an order that was seen
};

struct TraceFile {
  std::vector<TraceProcess> processes;
};

inline constexpr std::size_t kLongestTraceText = 1000;
// Runtimes stamp in whole microseconds: of slices that overlap by less, the later one begins where the earlier ends.
inline constexpr double kTraceStep = 1e-6;

}  // namespace infermeter
