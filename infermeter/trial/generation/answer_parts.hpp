// When the parts of an answer came, on the clock of a trial.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "infermeter/trial/machine/monotonic_stamps.hpp"
#include "infermeter/trial/subject.hpp"

namespace infermeter {

struct AnswerParts {
  std::vector<std::uint64_t> moments{};                           // ticks, ascending
  std::optional<std::uint64_t> output_tokens{}, prompt_tokens{};  // as the back end counts them
};

// Back ends stamp parts by CLOCK_MONOTONIC (`Coarse`, ns).
template <class Clock, class Coarse>
class PartsReader {
 public:
  PartsReader(const Clock& clock, const Coarse& coarse, double tick_s)
      : clock_(clock), coarse_(coarse), tick_ns_(tick_s * 1e9) {}

  // Of the last run of `request`, which succeeded. False: its back end reports nothing of parts.
  [[nodiscard]] bool read(Request& request, AnswerParts& parts) const {
    const std::optional<imb_parts> reported = request.parts();
    if (!reported) return false;
    const MonotonicStamps stamps(clock_, coarse_, tick_ns_);
    parts.moments.clear();
    for (std::size_t i = 0; i < reported->part_count; ++i)
      parts.moments.push_back(stamps.ticks(reported->moments_ns[i]));
    parts.output_tokens = counted(reported->output_tokens);
    parts.prompt_tokens = counted(reported->prompt_tokens);
    return true;
  }

 private:
  static std::optional<std::uint64_t> counted(std::int64_t tokens) {
    return tokens < 0 ? std::nullopt : std::optional(static_cast<std::uint64_t>(tokens));
  }

  const Clock& clock_;
  const Coarse& coarse_;
  double tick_ns_;
};

}  // namespace infermeter
