// Hashes that are the same on every machine: FNV-1a of bytes, SplitMix64's mixing of numbers. Neither keeps secrets.
#pragma once

#include <cstdint>
#include <string_view>

namespace infermeter {

// FNV-1a, 64 bits (Fowler, Noll, Vo; RFC 9923).
class Fnv1a {
 public:
  constexpr explicit Fnv1a(std::uint64_t basis = kBasis) : value_(basis) {}

  constexpr void add(unsigned char byte) { value_ = (value_ ^ byte) * 0x100000001B3U; }
  constexpr void add(std::string_view bytes) {
    for (const char byte : bytes) add(static_cast<unsigned char>(byte));
  }
  [[nodiscard]] constexpr std::uint64_t value() const { return value_; }

  static constexpr std::uint64_t kBasis = 0xCBF29CE484222325U;

 private:
  std::uint64_t value_;
};

// The step of SplitMix64's state, and what it makes of a state (Steele, Lea & Flood, "Fast splittable pseudorandom
// number generators", OOPSLA 2014): every bit of the result depends on every bit of `state`.
inline constexpr std::uint64_t kSplitMixStep = 0x9E3779B97F4A7C15U;
constexpr std::uint64_t split_mix(std::uint64_t state) {
  state = (state ^ (state >> 30)) * 0xBF58476D1CE4E5B9U;
  state = (state ^ (state >> 27)) * 0x94D049BB133111EBU;
  return state ^ (state >> 31);
}

}  // namespace infermeter
