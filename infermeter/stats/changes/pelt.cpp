// PELT with the normal cost for changes in mean and variance.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <span>
#include <vector>

#include "infermeter/diagnostics/check.hpp"
#include "infermeter/stats/changes/steady_state.hpp"

namespace infermeter {
namespace {

// Twice the negative log likelihood of values[begin, end) as one normal sample, less n (ln 2π + 1): n ln(variance), the
// maximum-likelihood variance with n. It has no lower bound: a run of equal values would be a segment at any price. The
// variance is therefore kept at or above `least`, and the likelihood is the greatest under that condition, which is
// n (ln least + variance / least − 1) below it. (To put the variance itself up, n ln max(variance, least), would be
// simpler, but two parts could then cost more than their whole, and PELT's pruning needs that they never do.)
class NormalCost {
 public:
  NormalCost(std::span<const double> values, double least) : least_(least), log_least_(std::log(least)) {
    double mean = 0;
    for (const double value : values) mean += value / static_cast<double>(values.size());
    sums_.resize(values.size() + 1);
    for (std::size_t i = 0; i < values.size(); ++i) {
      const double centred = values[i] - mean;  // so that a small spread on a large mean survives the sums
      sums_[i + 1] = {sums_[i].first + centred, sums_[i].second + centred * centred};
    }
  }

  double operator()(std::size_t begin, std::size_t end) const {
    const auto n = static_cast<double>(end - begin);
    const double mean = (sums_[end].first - sums_[begin].first) / n;
    const double variance = (sums_[end].second - sums_[begin].second) / n - mean * mean;
    if (variance >= least_) return n * std::log(variance);
    return n * (log_least_ + std::max(variance, 0.0) / least_ - 1);
  }

 private:
  struct Sums {
    double first = 0, second = 0;
  };
  double least_, log_least_;
  std::vector<Sums> sums_;
};

struct Candidate {
  std::size_t begin = 0;  // of the last segment
  std::size_t until = 0;  // no longer the best from this end on
};

}  // namespace

std::vector<std::size_t> pelt_mean_variance(std::span<const double> values, double penalty_factor, std::size_t minimum,
                                            double least_variance) {
  INFERMETER_CHECK(minimum >= 1 && least_variance > 0);
  const std::size_t n = values.size();
  if (n == 0) return {};
  constexpr double infinite = std::numeric_limits<double>::infinity();
  constexpr std::size_t never = std::numeric_limits<std::size_t>::max();
  const double penalty = penalty_factor * std::log(static_cast<double>(n));
  const NormalCost cost(values, least_variance);
  std::vector<double> best(n + 1, infinite);  // of values[0, end), with a penalty for each segment
  std::vector<std::size_t> last(n + 1, 0);    // where its last segment begins
  best[0] = 0;
  std::vector<Candidate> candidates;
  std::vector<double> totals;
  for (std::size_t end = std::min(minimum, n); end <= n; ++end) {
    const std::size_t newest = end < minimum ? 0 : end - minimum;
    if (best[newest] < infinite) candidates.push_back({newest, never});
    std::erase_if(candidates, [&](const Candidate& candidate) { return candidate.until <= end; });
    totals.resize(candidates.size());
    for (std::size_t i = 0; i < candidates.size(); ++i) {
      const std::size_t begin = candidates[i].begin;
      totals[i] = best[begin] + cost(begin, end);
      if (totals[i] + penalty < best[end]) {
        best[end] = totals[i] + penalty;
        last[end] = begin;
      }
    }
    // Theorem 3.1 of the paper: where a change at `end` is no worse even without its penalty, `begin` is never again
    // the last change, once `end` can be: a minimum segment later (to drop it at once, as is often done, can lose the
    // best).
    for (std::size_t i = 0; i < candidates.size(); ++i) {
      if (totals[i] > best[end] && candidates[i].until == never) candidates[i].until = end + minimum;
    }
  }
  std::vector<std::size_t> ends;
  for (std::size_t end = n; end > 0; end = last[end]) ends.push_back(end);
  std::ranges::reverse(ends);
  return ends;
}

}  // namespace infermeter
