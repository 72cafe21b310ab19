// SplitMix64 (Steele, Lea and Flood 2014): draws that are the same everywhere, for a seed and a request's number.
#pragma once

#include <cstdint>

namespace infermeter {

class Draws {
 public:
  explicit Draws(std::uint64_t state) : state_(state) {}
  Draws(std::uint64_t seed, std::uint64_t number) : Draws(mixed(seed) ^ number) {}
  std::uint64_t next() { return mixed(state_ += 0x9E3779B97F4A7C15U); }

  static std::uint64_t mixed(std::uint64_t x) {
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9U;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBU;
    return x ^ (x >> 31);
  }

  // 0 … count - 1; with a bias below count / 2^32.
  std::uint64_t below(std::uint64_t count) { return ((next() >> 32) * count) >> 32; }

 private:
  std::uint64_t state_;
};

}  // namespace infermeter
