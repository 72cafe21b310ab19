// GenerationRecord: what a trial leaves whose answers came piece by piece, as a language model gives them.
//
//   first token   when the first piece with content was read
//   TTFT          first token - begin; of a load: first token - arrival
//   ITL           from one piece to the next: between tokens where each piece is one
//   TPOT          (end - first token) / (tokens - 1) of an answer with 2 tokens and more
#pragma once

#include <cstdint>

#include "infermeter/samples/load/log_histogram.hpp"

namespace infermeter {

struct GenerationRecord {
  std::uint64_t answers = 0;
  std::uint64_t parts = 0;  // pieces with content, of all answers
  // Answers whose tokens are known, and how many these are. Where a server does not say it, each piece counts as one.
  std::uint64_t counted = 0, output_tokens = 0;
  std::uint64_t counted_by_server = 0;  // of those answers
  std::uint64_t prompts_counted = 0, prompt_tokens = 0;
  double duration_s = 0;  // in which they came: of inferences one after the other their sum
  HistogramRecord ttft{}, itl{}, tpot{};

  [[nodiscard]] bool operator==(const GenerationRecord&) const = default;
};

}  // namespace infermeter
