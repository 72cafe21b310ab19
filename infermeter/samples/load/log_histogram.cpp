#include "infermeter/samples/load/log_histogram.hpp"

#include <algorithm>
#include <cmath>
#include <new>

namespace infermeter {

// So large a piece of memory comes from the system, which has set it to 0 already.
LogHistogram::LogHistogram() : counts_(static_cast<std::uint64_t*>(std::calloc(kBuckets, sizeof(std::uint64_t)))) {
  if (counts_ == nullptr) throw std::bad_alloc();
}

void LogHistogram::merge(const LogHistogram& other) {
  for (std::size_t i = 0; i < kBuckets; ++i) {
    if (other.counts_[i] > 0) counts_[i] += other.counts_[i];
  }
  count_ += other.count_;
}

LogHistogram::Counts LogHistogram::counts() const {
  Counts counts;
  for (std::size_t i = 0; i < kBuckets; ++i) {
    if (counts_[i] > 0) counts.emplace_back(static_cast<std::uint32_t>(i), counts_[i]);
  }
  return counts;
}

double LogHistogram::middle_of(std::uint32_t bucket) {
  constexpr std::uint32_t per_octave = 1U << kBits;
  const auto octave = static_cast<int>(bucket >> kBits);
  if (octave == 0) return bucket;
  // Of whole numbers low … low + 2^(octave - 1) - 1.
  const double low = std::ldexp(per_octave + bucket % per_octave, octave - 1);
  return low + (std::ldexp(1.0, octave - 1) - 1) / 2;
}

std::uint64_t HistogramRecord::count() const {
  std::uint64_t sum = 0;
  for (const auto& [bucket, count] : counts) sum += count;
  return sum;
}

std::optional<double> HistogramRecord::quantile_s(double share) const {
  const auto all = static_cast<double>(count());
  if (!(all > 0) || !(share >= 0 && share <= 1)) return std::nullopt;
  // 0.07 * 100 is a little above 7, and means 7.
  const double wanted = std::ceil(share * all * (1 - 1e-12));
  double below = 0;
  for (const auto& [bucket, count] : counts) {
    below += static_cast<double>(count);
    if (below >= wanted) return LogHistogram::middle_of(bucket) * tick_s;
  }
  return max_s();
}

std::optional<double> HistogramRecord::mean_s() const {
  const auto all = static_cast<double>(count());
  if (!(all > 0)) return std::nullopt;
  double sum = 0;
  for (const auto& [bucket, count] : counts) sum += LogHistogram::middle_of(bucket) * static_cast<double>(count);
  return sum / all * tick_s;
}

std::optional<double> HistogramRecord::max_s() const {
  if (counts.empty()) return std::nullopt;
  return LogHistogram::middle_of(counts.back().first) * tick_s;
}

}  // namespace infermeter
