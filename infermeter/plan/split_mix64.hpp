// Random numbers of plans.
#pragma once

#include <cstdint>

namespace infermeter {

// SplitMix64 (Steele, Lea, Flood 2014, "Fast splittable pseudorandom number generators"). Our own, because the standard
// library's distributions differ between implementations and the order of a plan, and the settings that a race draws,
// must not.
class SplitMix64 {
 public:
  explicit SplitMix64(std::uint64_t state) : state_(state) {}

  std::uint64_t next() {
    std::uint64_t z = (state_ += 0x9E3779B97F4A7C15U);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9U;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBU;
    return z ^ (z >> 31);
  }

  // Uniform in [0, bound). Draws from the incomplete last stretch of 2^64 are rejected: `% bound` alone would favour
  // the small numbers.
  std::uint64_t below(std::uint64_t bound) {
    const std::uint64_t rejected = (0 - bound) % bound;  // 2^64 mod bound
    std::uint64_t drawn = next();
    while (drawn < rejected) drawn = next();
    return drawn % bound;
  }

 private:
  std::uint64_t state_;
};

}  // namespace infermeter
