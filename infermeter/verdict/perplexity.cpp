#include "infermeter/verdict/perplexity.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "infermeter/stats/summary/process_interval.hpp"

namespace infermeter {

std::optional<PerplexityChange> compare_perplexity(std::span<const double> baseline_losses,
                                                   std::span<const double> candidate_losses, double confidence) {
  const std::size_t count = std::min(baseline_losses.size(), candidate_losses.size());
  if (count == 0) return std::nullopt;
  std::vector<double> changes(count);
  double baseline = 0, candidate = 0;
  for (std::size_t i = 0; i < count; ++i) {
    changes[i] = candidate_losses[i] - baseline_losses[i];
    baseline += baseline_losses[i];
    candidate += candidate_losses[i];
  }
  const auto texts = static_cast<double>(count);
  PerplexityChange change{.baseline = std::exp(baseline / texts), .candidate = std::exp(candidate / texts)};
  change.increase = std::expm1((candidate - baseline) / texts);
  if (const Centre centre = arithmetic_centre_of(changes, confidence); centre.interval)
    change.interval = Interval{std::expm1(centre.interval->low), std::expm1(centre.interval->high)};
  return change;
}

std::optional<double> perplexity_of(std::span<const double> losses) {
  const double sum = std::accumulate(losses.begin(), losses.end(), 0.0);
  if (losses.empty() || !std::isfinite(sum)) return std::nullopt;
  return std::exp(sum / static_cast<double>(losses.size()));
}

}  // namespace infermeter
