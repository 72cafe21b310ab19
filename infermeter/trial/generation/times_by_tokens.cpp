#include "infermeter/trial/generation/times_by_tokens.hpp"

#include <algorithm>

namespace infermeter {

void TimesByTokens::add(std::uint64_t tokens, std::uint64_t ticks) {
  Bin& bin = bins_[LogHistogram::bucket_of<kTokenBits>(tokens)];
  bin.tokens += static_cast<double>(tokens);
  ++bin.counts[LogHistogram::bucket_of(ticks)];
}

void TimesByTokens::merge(const TimesByTokens& other) {
  for (const auto& [place, bin] : other.bins_) {
    Bin& own = bins_[place];
    own.tokens += bin.tokens;
    for (const auto& [bucket, count] : bin.counts) own.counts[bucket] += count;
  }
}

std::vector<TimesOfTokens> TimesByTokens::times(double tick_s) const {
  constexpr std::uint64_t needed_for_p90 = 10;
  std::vector<TimesOfTokens> all;
  for (const auto& [place, bin] : bins_) {
    HistogramRecord histogram{.tick_s = tick_s, .counts = {bin.counts.begin(), bin.counts.end()}};
    std::ranges::sort(histogram.counts);
    TimesOfTokens& times = all.emplace_back();
    times.first = LogHistogram::first_of<kTokenBits>(place);
    times.last = LogHistogram::first_of<kTokenBits>(place + 1) - 1;
    times.count = histogram.count();
    times.tokens_mean = std::clamp(bin.tokens / static_cast<double>(times.count), static_cast<double>(times.first),
                                   static_cast<double>(times.last));
    times.p50_s = histogram.quantile_s(0.5).value_or(0);
    if (times.count >= needed_for_p90) times.p90_s = histogram.quantile_s(0.9);
  }
  return all;
}

}  // namespace infermeter
