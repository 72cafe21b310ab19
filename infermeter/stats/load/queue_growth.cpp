#include "infermeter/stats/load/queue_growth.hpp"

#include <array>
#include <numeric>
#include <vector>

#include "infermeter/stats/changes/trend.hpp"
#include "infermeter/stats/summary/moments.hpp"

namespace infermeter {

std::optional<QueueGrowth> queue_growth(std::span<const double> in_flight) {
  const std::size_t count = in_flight.size();
  if (count < kFewestQueueBins) return std::nullopt;
  std::array<double, 4> quarters{};
  for (std::size_t i = 0; i < quarters.size(); ++i) {
    const std::size_t begin = i * count / quarters.size(), end = (i + 1) * count / quarters.size();
    quarters[i] = moments_of(in_flight.subspan(begin, end - begin)).mean;
  }
  std::vector<double> at(count);
  std::iota(at.begin(), at.end(), 0.0);
  const Trend trend = trend_of(at, in_flight);
  QueueGrowth growth{quarters.front(), quarters.back(), trend.slope * static_cast<double>(count), false};
  const bool rises = quarters[0] < quarters[1] && quarters[1] < quarters[2] && quarters[2] < quarters[3];
  growth.grows = rises && trend.interval && trend.interval->low > 0;
  return growth;
}

}  // namespace infermeter
