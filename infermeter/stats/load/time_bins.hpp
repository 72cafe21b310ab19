// How often which time occurred, in few bins that several histograms share: what a picture of distributions is drawn
// of.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "infermeter/samples/load/log_histogram.hpp"

namespace infermeter {

struct TimeBins {
  bool is_log = false;  // the bins are equally wide on a logarithmic axis: the times span a factor of more than 20
  std::vector<double> edges_s{};              // ascending, one more than there are bins; empty: there is no time
  std::vector<std::vector<double>> shares{};  // of each group, of its times in each bin; empty of a group without any
  std::vector<std::uint64_t> counts{};        // times of each group
};

// Each group is what one subject has in several processes. At most 50 bins and twice the square root of how many
// times the largest group has, from the least time to the largest, none narrower than the histograms resolve.
[[nodiscard]] TimeBins time_bins(std::span<const std::vector<HistogramRecord>> groups);

}  // namespace infermeter
