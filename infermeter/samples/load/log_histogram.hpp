// LogHistogram: how often which duration occurred, in memory that does not grow, with a known relative error.
//
// Buckets are linear within each power of two (Tene's HdrHistogram has the same shape): 1024 to an octave, so that the
// middle of a bucket is within 1/2048 (0.049 %) of everything in it. Below 1024 ticks every value has its own bucket.
// Adding two histograms is exact.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace infermeter {

class LogHistogram {
 public:
  static constexpr int kBits = 10;
  static constexpr std::size_t kBuckets = std::size_t{64 - kBits + 1} << kBits;
  using Counts = std::vector<std::pair<std::uint32_t, std::uint64_t>>;  // bucket, how many; ascending, none is 0

  // Of its half megabyte only the pages that are counted in come to exist.
  LogHistogram();

  // No allocation, no lock: of one thread.
  void add(std::uint64_t ticks) {
    ++counts_[bucket_of(ticks)];
    ++count_;
  }
  void merge(const LogHistogram& other);
  [[nodiscard]] std::uint64_t count() const { return count_; }
  [[nodiscard]] Counts counts() const;

  // Of other histograms of this shape: 2^bits buckets to an octave.
  template <int bits = kBits>
  [[nodiscard]] static constexpr std::uint32_t bucket_of(std::uint64_t value) {
    const auto octave = static_cast<int>(std::bit_width(value >> bits));
    if (octave == 0) return static_cast<std::uint32_t>(value);
    // value >> (octave - 1) has bits + 1 bits, the highest of which is set.
    return static_cast<std::uint32_t>((static_cast<std::uint64_t>(octave) << bits) +
                                      ((value >> (octave - 1)) - (std::uint64_t{1} << bits)));
  }
  // The least value of a bucket.
  template <int bits = kBits>
  [[nodiscard]] static constexpr std::uint64_t first_of(std::uint32_t bucket) {
    constexpr std::uint64_t per_octave = std::uint64_t{1} << bits;
    const std::uint32_t octave = bucket >> bits;
    return octave == 0 ? bucket : (per_octave + bucket % per_octave) << (octave - 1);
  }
  // The middle of a bucket, ticks.
  [[nodiscard]] static double middle_of(std::uint32_t bucket);

 private:
  struct Free {
    void operator()(std::uint64_t* memory) const { std::free(memory); }
  };
  std::unique_ptr<std::uint64_t[], Free> counts_;
  std::uint64_t count_ = 0;
};

// As a record holds it.
struct HistogramRecord {
  double tick_s = 0;  // seconds per tick
  LogHistogram::Counts counts{};

  [[nodiscard]] std::uint64_t count() const;
  // Of what lies at or below the value sought, at least `share` of all (the inverse of the distribution function,
  // Hyndman and Fan's type 1), seconds. nullopt: nothing was counted.
  [[nodiscard]] std::optional<double> quantile_s(double share) const;
  [[nodiscard]] std::optional<double> mean_s() const;
  [[nodiscard]] std::optional<double> max_s() const;
  [[nodiscard]] bool operator==(const HistogramRecord&) const = default;
};

}  // namespace infermeter
