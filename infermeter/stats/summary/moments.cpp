#include "infermeter/stats/summary/moments.hpp"

namespace infermeter {

Moments moments_of(std::span<const double> values) {
  Moments moments{values.size(), 0, 0};
  if (values.empty()) return moments;
  const auto count = static_cast<double>(values.size());
  // Around the first value: equal values have exactly that mean and no variance.
  const double origin = values.front();
  double sum = 0;
  for (const double value : values) sum += value - origin;
  moments.mean = origin + sum / count;
  if (values.size() < 2) return moments;
  double squares = 0;
  double rest = 0;  // what rounding of the mean leaves (Chan, Golub & LeVeque 1983)
  for (const double value : values) {
    squares += (value - moments.mean) * (value - moments.mean);
    rest += value - moments.mean;
  }
  moments.variance = (squares - rest * rest / count) / (count - 1);
  if (moments.variance < 0) moments.variance = 0;
  return moments;
}

}  // namespace infermeter
