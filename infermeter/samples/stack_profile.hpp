// StackProfile: where a program was found at, sample by sample. TrialStacks: of the worker of a profile trial.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace infermeter {

// All texts are from outside: hostile.
struct StackFrame {
  std::string symbol;        // empty: not known
  std::string module;        // the file that holds it; empty: not known
  std::uint64_t offset = 0;  // into the module, where there is no symbol; 0: not reported
  bool operator==(const StackFrame&) const = default;
};

struct StackSample {
  double t_s = 0;                     // since the source's own origin; 0: not reported
  std::uint32_t thread = 0;           // index into threads
  std::vector<std::uint32_t> frames;  // indices into frames, the outermost first
  double weight = 1;
  // Of a trial: the timed iteration that it lies in, and the operator that ran then (index into its OperatorProfile).
  std::optional<std::uint32_t> iteration{}, op{};
};

struct StackProfile {
  std::vector<StackFrame> frames;
  std::vector<std::string> threads;
  std::vector<StackSample> samples;
  std::string unit;  // of weights: "s", "samples", or an event's own: "cycles"; empty: not reported
  bool cut = false;  // the source ends within a sample, or had more than is kept
};

// What the worker of a profile trial was seen at, within its timed iterations. A trial can have several, one per
// method.
struct TrialStacks {
  int position = 0;        // of the side trial
  std::string method;      // "perf_event", "perf_event_dwarf", "sigprof", "py_spy", "cprofile", "pyinstrument"
  std::string detail;      // one sentence: how, how often, and what could not be had
  bool is_python = false;  // frames are Python's
  StackProfile stacks;     // t_s: as Samples::begin_s
};

}  // namespace infermeter
