// Numbers that depend on nothing but what they are for: no generator has a state, so that leaving one out shifts none.
#pragma once

#include <cstdint>

namespace infermeter {

// The finaliser of SplitMix64 (Steele, Lea & Flood 2014): every bit of the result depends on every bit of `x`.
constexpr std::uint64_t mixed(std::uint64_t x) {
  x += 0x9E37'79B9'7F4A'7C15U;
  x = (x ^ (x >> 30U)) * 0xBF58'476D'1CE4'E5B9U;
  x = (x ^ (x >> 27U)) * 0x94D0'49BB'1331'11EBU;
  return x ^ (x >> 31U);
}

// The same for 32 bits (Wellons' lowbias32): four of them fit where one of the above does, and all processors multiply
// them side by side.
constexpr std::uint32_t mixed(std::uint32_t x) {
  x = (x ^ (x >> 16U)) * 0x7FEB'352DU;
  x = (x ^ (x >> 15U)) * 0x846C'A68BU;
  return x ^ (x >> 16U);
}

// In [0, 1), exact.
constexpr double unit_from(std::uint64_t hash) { return static_cast<double>(hash >> 11U) * 0x1p-53; }

}  // namespace infermeter
