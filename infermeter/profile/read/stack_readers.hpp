// Stacks that other tools sampled -> StackProfile. Bytes from outside: anything in them may be cut, foreign or hostile.
// Pure.
#pragma once

#include <cstddef>
#include <string_view>

#include "infermeter/diagnostics/result.hpp"
#include "infermeter/samples/stack_profile.hpp"

namespace infermeter {

// "frame;frame;frame weight" per line, as FlameGraph's stackcollapse-*.pl, inferno and py-spy --format raw write it.
// Errors: a line without a weight, or nothing at all. A last line without its end is left out (`cut`).
[[nodiscard]] Result<StackProfile> parse_collapsed_stacks(std::string_view text);

// What `perf script` prints, with or without call chains. Errors: no sample in it, or samples of several events, whose
// weights cannot be added. A last sample without its end is left out (`cut`). Frames have a symbol, or the module's
// name and, where perf was asked for it (-F +dsoff), the offset into it: an address means nothing in another process.
[[nodiscard]] Result<StackProfile> parse_perf_script(std::string_view text);

// Do they begin so? Of the first line that says something; of perf, of the first ones.
[[nodiscard]] bool is_collapsed_stacks(std::string_view text);
[[nodiscard]] bool is_perf_script(std::string_view text);

// More is not kept (`cut`) or, of frames, refused.
inline constexpr std::size_t kMostStackSamples = 1'000'000;
inline constexpr std::size_t kMostStackFrames = 500'000;  // different ones
inline constexpr std::size_t kDeepestStack = 4096;
inline constexpr std::size_t kLongestSymbol = 4096;  // bytes; what is longer is cut

}  // namespace infermeter
