#include "infermeter/stats/load/time_bins.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace infermeter {
namespace {

constexpr double most_bins = 50, wide = 20;
// A bucket is a 1024th of its octave's lower end at most; bins of fewer than two would be full and empty in turn.
constexpr double bins_per_largest = 512;

template <class Use>
void for_each_time(const std::vector<HistogramRecord>& group, Use use) {
  for (const HistogramRecord& histogram : group) {
    for (const auto& [bucket, count] : histogram.counts) use(LogHistogram::middle_of(bucket) * histogram.tick_s, count);
  }
}

// `times`: of the group that has most of them. Of few times wide bins say more.
std::vector<double> edges_between(double low, double high, bool is_log, std::uint64_t times) {
  if (!(low < high)) return {low * 0.95, low > 0 ? low * 1.05 : 1e-9};
  const double fitting = std::min(2 * std::sqrt(static_cast<double>(times)), (high - low) / high * bins_per_largest);
  const auto bins = static_cast<int>(std::clamp(std::floor(fitting), 1.0, most_bins));
  std::vector<double> edges;
  for (int i = 0; i <= bins; ++i) {
    const double part = static_cast<double>(i) / bins;
    edges.push_back(is_log ? low * std::pow(high / low, part) : low + (high - low) * part);
  }
  edges.back() = high;
  return edges;
}

}  // namespace

TimeBins time_bins(std::span<const std::vector<HistogramRecord>> groups) {
  double low = std::numeric_limits<double>::infinity(), high = 0;
  TimeBins bins{.shares = std::vector<std::vector<double>>(groups.size()),
                .counts = std::vector<std::uint64_t>(groups.size())};
  for (std::size_t i = 0; i < groups.size(); ++i) {
    for_each_time(groups[i], [&](double time_s, std::uint64_t count) {
      low = std::min(low, time_s);
      high = std::max(high, time_s);
      bins.counts[i] += count;
    });
  }
  if (low > high) return bins;
  bins.is_log = low > 0 && high / low > wide;
  bins.edges_s = edges_between(low, high, bins.is_log, std::ranges::max(bins.counts));
  const auto last = static_cast<std::ptrdiff_t>(bins.edges_s.size()) - 2;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    std::vector<double> in_bin(bins.edges_s.size() - 1);
    for_each_time(groups[i], [&](double time_s, std::uint64_t count) {
      const auto above = std::ranges::upper_bound(bins.edges_s, time_s) - bins.edges_s.begin();
      in_bin[static_cast<std::size_t>(std::clamp<std::ptrdiff_t>(above - 1, 0, last))] += static_cast<double>(count);
    });
    if (bins.counts[i] == 0) continue;
    for (double& count : in_bin) count /= static_cast<double>(bins.counts[i]);
    bins.shares[i] = std::move(in_bin);
  }
  return bins;
}

}  // namespace infermeter
