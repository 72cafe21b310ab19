// GenerationTally: answers that came piece by piece, counted as they end, in memory that does not grow with them.
#pragma once

#include <cstdint>
#include <optional>

#include "infermeter/samples/generation/generation_record.hpp"
#include "infermeter/samples/load/log_histogram.hpp"
#include "infermeter/trial/generation/answer_parts.hpp"
#include "infermeter/trial/generation/times_by_tokens.hpp"

namespace infermeter {

// Of one answer, ticks. nullopt: it came in one piece; it has fewer than 2 tokens, or nobody knows how many.
struct GenerationTimes {
  std::optional<std::uint64_t> ttft{}, tpot{};
};
[[nodiscard]] GenerationTimes generation_times(std::uint64_t begin, std::uint64_t end, const AnswerParts& parts);

class GenerationTally {
 public:
  // An answer that was due at `begin` and whole at `end`, ticks.
  void add(std::uint64_t begin, std::uint64_t end, const AnswerParts& parts);
  void merge(const GenerationTally& other);
  // nullopt: there was no answer. `duration_s`: in which they came.
  [[nodiscard]] std::optional<GenerationRecord> record(double tick_s, double duration_s) const;

 private:
  LogHistogram ttft_, itl_, tpot_;
  TimesByTokens itl_by_position_, ttft_by_prompt_;
  GenerationRecord counts_;
};

}  // namespace infermeter
