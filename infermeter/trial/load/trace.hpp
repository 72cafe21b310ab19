// Recorded arrivals: the times of a file, and of language models how long each prompt and answer is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "infermeter/diagnostics/result.hpp"
#include "infermeter/plan/load/arrivals.hpp"

namespace infermeter {

struct TraceLengths {  // tokens
  std::int64_t prompt = 0, answer = 0;
};

struct Trace {
  std::vector<double> times_s{};        // from the load's beginning; they do not fall
  std::vector<TraceLengths> lengths{};  // as many, or none
};

inline constexpr std::size_t kMostTraceArrivals = std::size_t{1} << 24;
inline constexpr std::uint64_t kLargestTrace = std::uint64_t{1} << 30;  // bytes

// By what the text begins with:
// - columns TIMESTAMP, ContextTokens and GeneratedTokens: Azure's traces of language models (Patel et al., "Splitwise",
//   ISCA 2024; github.com/Azure/AzurePublicDataset). Times are dates, or seconds, and count from the first.
// - "{": Mooncake's traces (Qin et al., FAST 2025), an object per line with `timestamp` (ms), `input_length` and
//   `output_length`.
// - anything else: a time in seconds per line, as its first column; one line of column names may come first.
// Times are not negative and do not fall. The message names the line.
[[nodiscard]] Result<Trace> read_trace(std::string_view text);
// Of the file that the arrivals name; nothing of other arrivals.
[[nodiscard]] Result<Trace> read_trace_of(const Arrivals& arrivals);

}  // namespace infermeter
