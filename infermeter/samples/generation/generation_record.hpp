// GenerationRecord: what a trial leaves whose answers came piece by piece, as a language model gives them.
//
//   first token   when the first piece with content was read
//   TTFT          first token - begin; of a load: first token - arrival
//   ITL           from one piece to the next: between tokens where each piece is one
//   TPOT          (end - first token) / (tokens - 1) of an answer with 2 tokens and more
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "infermeter/samples/load/log_histogram.hpp"

namespace infermeter {

// Times of what had `first` to `last` tokens. Quantiles are of type 1, within 0.05 %.
struct TimesOfTokens {
  std::uint64_t first = 0, last = 0;
  double tokens_mean = 0;
  std::uint64_t count = 0;  // times
  double p50_s = 0;
  std::optional<double> p90_s{};  // of 10 times and more

  [[nodiscard]] bool operator==(const TimesOfTokens&) const = default;
};
// There is one for each number of tokens below 16, and 8 for each power of two from there on.
inline constexpr int kTokenBits = 3;
inline constexpr std::size_t kMostTimesOfTokens = std::size_t{64 - kTokenBits + 1} << kTokenBits;

struct GenerationRecord {
  std::uint64_t answers = 0;
  std::uint64_t parts = 0;  // pieces with content, of all answers
  // Answers whose tokens are known, and how many these are. Where a server does not say it, each piece counts as one.
  std::uint64_t counted = 0, output_tokens = 0;
  std::uint64_t counted_by_server = 0;  // of those answers
  std::uint64_t prompts_counted = 0, prompt_tokens = 0;
  double duration_s = 0;  // in which they came: of inferences one after the other their sum
  HistogramRecord ttft{}, itl{}, tpot{};
  // ITL by how many pieces of the answer were there, and TTFT by the tokens of the prompt, where they are known.
  std::vector<TimesOfTokens> itl_by_position{}, ttft_by_prompt{};

  [[nodiscard]] bool operator==(const GenerationRecord&) const = default;
};

}  // namespace infermeter
