#include "infermeter/samples/generation/generation_counters.hpp"

#include <fmt/format.h>

#include <cmath>
#include <string_view>
#include <utility>

#include "infermeter/samples/load/check_load_record.hpp"
#include "infermeter/samples/load/load_counters.hpp"

namespace infermeter {
namespace {

std::optional<double> known_quantile(const HistogramRecord& histogram, double share) {
  const auto needed = 1 / (1 - share);
  if (static_cast<double>(histogram.count()) < needed * (1 - 1e-9)) return std::nullopt;
  return histogram.quantile_s(share);
}

std::optional<double> quotient(std::uint64_t sum, double of) {
  if (!(of > 0)) return std::nullopt;
  return static_cast<double>(sum) / of;
}

std::optional<double> generation_figure(const LoadFigure& figure, const GenerationRecord& record) {
  const std::string_view name = figure.name;
  if (name.starts_with("ttft_")) return known_quantile(record.ttft, figure.percentile);
  if (name.starts_with("tpot_")) return known_quantile(record.tpot, figure.percentile);
  if (name == "itl_p50") return known_quantile(record.itl, 0.5);
  if (name == "itl_p99") return known_quantile(record.itl, 0.99);
  if (name == "output_tokens_mean") return quotient(record.output_tokens, static_cast<double>(record.counted));
  if (name == "prompt_tokens_mean") return quotient(record.prompt_tokens, static_cast<double>(record.prompts_counted));
  // Of answers that all are counted: others would be missing in the rate.
  if (name == "output_tokens_rate" && record.counted == record.answers)
    return quotient(record.output_tokens, record.duration_s);
  return std::nullopt;
}

bool is_duration(double value) { return std::isfinite(value) && value >= 0; }

bool is_sound(const TimesOfTokens& times) {
  return times.first <= times.last && times.count > 0 && times.count <= kMostRequests && is_duration(times.p50_s) &&
         is_duration(times.p90_s.value_or(0)) && times.tokens_mean >= static_cast<double>(times.first) &&
         times.tokens_mean <= static_cast<double>(times.last);
}

std::optional<std::string> wrong_in_times(std::string_view name, const std::vector<TimesOfTokens>& all) {
  if (all.size() > kMostTimesOfTokens)
    return fmt::format("'{}' has {} entries, more than {}", name, all.size(), kMostTimesOfTokens);
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (!is_sound(all[i])) return fmt::format("'{}[{}]' has a figure that is none", name, i);
    if (i > 0 && all[i].first <= all[i - 1].last) return fmt::format("'{}' is not in ascending order at {}", name, i);
  }
  return std::nullopt;
}

}  // namespace

std::vector<Counter> generation_counters(const GenerationRecord& record) {
  std::vector<Counter> counters;
  for (const LoadFigure& figure : load_figures()) {
    if (!figure.of_generation) continue;
    if (const auto value = generation_figure(figure, record))
      counters.push_back({std::string(figure.name), std::string(figure.unit), *value});
  }
  return counters;
}

std::optional<std::string> wrong_in_generation_record(const GenerationRecord& record) {
  const std::pair<std::string_view, std::uint64_t> counts[] = {{"answers", record.answers},
                                                               {"parts", record.parts},
                                                               {"counted", record.counted},
                                                               {"output_tokens", record.output_tokens},
                                                               {"counted_by_server", record.counted_by_server},
                                                               {"prompts_counted", record.prompts_counted},
                                                               {"prompt_tokens", record.prompt_tokens}};
  for (const auto& [name, count] : counts) {
    if (count > kMostRequests) return fmt::format("'generation.{}' is more than {}", name, kMostRequests);
  }
  if (!is_duration(record.duration_s)) return "'generation.duration_s' is not a duration";
  const std::pair<std::string_view, const HistogramRecord*> histograms[] = {
      {"generation.ttft", &record.ttft}, {"generation.itl", &record.itl}, {"generation.tpot", &record.tpot}};
  for (const auto& [name, histogram] : histograms) {
    if (auto wrong = wrong_in_histogram(name, *histogram)) return wrong;
  }
  if (auto wrong = wrong_in_times("generation.itl_by_position", record.itl_by_position)) return wrong;
  return wrong_in_times("generation.ttft_by_prompt", record.ttft_by_prompt);
}

}  // namespace infermeter
