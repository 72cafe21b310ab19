#include "infermeter/trial/generation/generation_tally.hpp"

namespace infermeter {
namespace {

std::uint64_t ticks_from(std::uint64_t earlier, std::uint64_t later) { return later > earlier ? later - earlier : 0; }

std::optional<std::uint64_t> tokens_of(const AnswerParts& parts) {
  if (parts.output_tokens) return parts.output_tokens;
  return parts.moments.empty() ? std::nullopt : std::optional<std::uint64_t>(parts.moments.size());
}

}  // namespace

GenerationTimes generation_times(std::uint64_t begin, std::uint64_t end, const AnswerParts& parts) {
  GenerationTimes times;
  if (parts.moments.empty()) return times;
  times.ttft = ticks_from(begin, parts.moments.front());
  const std::uint64_t tokens = *tokens_of(parts);
  if (tokens > 1) times.tpot = ticks_from(parts.moments.front(), end) / (tokens - 1);
  return times;
}

void GenerationTally::add(std::uint64_t begin, std::uint64_t end, const AnswerParts& parts) {
  const GenerationTimes times = generation_times(begin, end, parts);
  if (times.ttft) ttft_.add(*times.ttft);
  if (times.tpot) tpot_.add(*times.tpot);
  for (std::size_t i = 1; i < parts.moments.size(); ++i) {
    const std::uint64_t gap = ticks_from(parts.moments[i - 1], parts.moments[i]);
    itl_.add(gap);
    itl_by_position_.add(i, gap);
  }
  if (times.ttft && parts.prompt_tokens) ttft_by_prompt_.add(*parts.prompt_tokens, *times.ttft);
  ++counts_.answers;
  counts_.parts += parts.moments.size();
  if (const auto tokens = tokens_of(parts)) {
    ++counts_.counted;
    counts_.output_tokens += *tokens;
  }
  if (parts.output_tokens) ++counts_.counted_by_server;
  if (parts.prompt_tokens) {
    ++counts_.prompts_counted;
    counts_.prompt_tokens += *parts.prompt_tokens;
  }
}

void GenerationTally::merge(const GenerationTally& other) {
  ttft_.merge(other.ttft_);
  itl_.merge(other.itl_);
  tpot_.merge(other.tpot_);
  itl_by_position_.merge(other.itl_by_position_);
  ttft_by_prompt_.merge(other.ttft_by_prompt_);
  counts_.answers += other.counts_.answers;
  counts_.parts += other.counts_.parts;
  counts_.counted += other.counts_.counted;
  counts_.output_tokens += other.counts_.output_tokens;
  counts_.counted_by_server += other.counts_.counted_by_server;
  counts_.prompts_counted += other.counts_.prompts_counted;
  counts_.prompt_tokens += other.counts_.prompt_tokens;
}

std::optional<GenerationRecord> GenerationTally::record(double tick_s, double duration_s) const {
  if (counts_.answers == 0) return std::nullopt;
  GenerationRecord record = counts_;
  record.duration_s = duration_s;
  record.ttft = {.tick_s = tick_s, .counts = ttft_.counts()};
  record.itl = {.tick_s = tick_s, .counts = itl_.counts()};
  record.tpot = {.tick_s = tick_s, .counts = tpot_.counts()};
  record.itl_by_position = itl_by_position_.times(tick_s);
  record.ttft_by_prompt = ttft_by_prompt_.times(tick_s);
  return record;
}

}  // namespace infermeter
