// Random numbers that are the same on every machine: integer arithmetic only, no std distributions.
#pragma once

#include <array>
#include <cstdint>

#include "infermeter/text/hash.hpp"

namespace infermeter {

// xoshiro256++ 1.0 (Blackman and Vigna, 2019), seeded by SplitMix64. Streams with different coordinates are unrelated.
class Random {
 public:
  Random(std::uint64_t seed, std::uint64_t input_index, std::uint64_t item_index) {
    std::uint64_t state = split_mix(seed + kSplitMixStep);
    state = split_mix(state ^ (input_index + 1));
    state = split_mix(state ^ (item_index + 1));
    for (std::uint64_t& word : words_) {
      state += kSplitMixStep;
      word = split_mix(state);
    }
  }

  std::uint64_t next() {
    const std::uint64_t out = rotated(words_[0] + words_[3], 23) + words_[0];
    const std::uint64_t shifted = words_[1] << 17;
    words_[2] ^= words_[0];
    words_[3] ^= words_[1];
    words_[1] ^= words_[2];
    words_[0] ^= words_[3];
    words_[2] ^= shifted;
    words_[3] = rotated(words_[3], 45);
    return out;
  }

  // 0 … count - 1; 0 stands for 2^64. The bias is below count / 2^64.
  std::uint64_t below(std::uint64_t count) {
    const std::uint64_t draw = next();
    return count == 0 ? draw : multiply_high(draw, count);
  }

 private:
  static std::uint64_t rotated(std::uint64_t x, int k) { return (x << k) | (x >> (64 - k)); }

  static std::uint64_t multiply_high(std::uint64_t a, std::uint64_t b) {
    const std::uint64_t low = (a & 0xFFFFFFFFu) * (b & 0xFFFFFFFFu);
    const std::uint64_t middle = (a >> 32) * (b & 0xFFFFFFFFu) + (low >> 32);
    const std::uint64_t other = (a & 0xFFFFFFFFu) * (b >> 32) + (middle & 0xFFFFFFFFu);
    return (a >> 32) * (b >> 32) + (middle >> 32) + (other >> 32);
  }

  std::array<std::uint64_t, 4> words_{};
};

}  // namespace infermeter
