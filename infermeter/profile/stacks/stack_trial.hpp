// What profile trials saw of call stacks, and how much of it a tree shows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "infermeter/samples/operator_profile.hpp"
#include "infermeter/samples/samples.hpp"
#include "infermeter/samples/stack_profile.hpp"

namespace infermeter {

// One profile trial and what one method saw of it.
struct StackTrial {
  const Samples* samples = nullptr;
  const OperatorProfile* profile = nullptr;  // nullptr: it reported nothing of its operators
  const TrialStacks* stacks = nullptr;
};

// All trials of one subject and one method.
struct StackTrials {
  std::vector<StackTrial> trials;
  const OperatorProfile* operators = nullptr;  // SubjectOperatorTimes::profile; nullptr: there is none
  std::vector<const Samples*> timed;           // trials that nobody looked at
};

enum class StackLevel {
  whole,          // an inference, on the thread that asked for it
  other_threads,  // all others together: a root of its own, in no sum
  kind,           // of operators; without a name: outside of operators
  op,             // an operator, or a group of operators that two subjects have in common
  frame,
  rest,    // of the whole: waiting, or where the method does not see
  merged,  // frames that are too small, or too deep, to stand alone
};
[[nodiscard]] std::string_view to_string(StackLevel level);

inline constexpr std::size_t kDeepestDrawnStack = 64;  // frames; what is deeper is merged
inline constexpr std::size_t kMostStackNodes = 2000;
inline constexpr double kSmallFrame = 0.001;    // of the whole: smaller siblings are merged
inline constexpr double kSmallAddress = 0.005;  // likewise: smaller ones without a symbol stand with their module
inline constexpr std::size_t kMostHotFunctions = 50;

// Seconds per inference that one unit of weight stands for. Weights in seconds are divided by the timed iterations:
// time on a processor, whatever the wall clock says. Of all others the main thread's together are taken for its wall
// time. 0: nothing can be determined.
[[nodiscard]] double seconds_per_weight(const Samples& samples, const StackProfile& stacks);
// Which of the threads asked for the inference: one that is called so ("main thread", "MainThread"), else the first.
[[nodiscard]] std::uint32_t main_thread_of(const StackProfile& stacks);

}  // namespace infermeter
