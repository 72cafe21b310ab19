// Random numbers of plans.
#pragma once

#include <cstdint>

#include "infermeter/text/hash.hpp"

namespace infermeter {

// SplitMix64. Our own, because the standard library's distributions differ between implementations and the order of a
// plan, and the settings that a race draws, must not.
class SplitMix64 {
 public:
  explicit SplitMix64(std::uint64_t state) : state_(state) {}

  std::uint64_t next() { return split_mix(state_ += kSplitMixStep); }

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
