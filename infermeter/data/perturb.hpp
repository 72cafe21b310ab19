// Inputs like a given one: itself with a little noise that leaves it a valid input of the same kind.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "infermeter/data/tensor.hpp"

namespace infermeter {

struct ValidRange {
  double low = 0, high = 0;  // inclusive
};

struct PerturbOptions {
  double noise = 0.01;  // standard deviation, as a share of the valid range's width
  std::uint64_t seed = 1;
  std::uint64_t input_index = 0;
  // Of valid values. nullopt: what each channel of the base spans. Channels are the second of three and more dimensions
  // (the last one where only that one is small: pictures with the channels behind), and there is one otherwise.
  std::optional<ValidRange> range{};
};

// Whether noise makes another measurement of an input, and not another name. Names are integers of 32 and 64 bits
// (token ids, classes, lengths) and inputs that are called so ("mask", "ids", "token", "segment", "class", "index");
// booleans and strings are no numbers at all.
[[nodiscard]] bool takes_noise(DType dtype, std::string_view input_name);

class Perturber {
 public:
  // Of a tensor that takes noise.
  Perturber(Tensor base, const PerturbOptions& options);

  // The base with normal noise, cut at the range's bounds: for one (seed, input_index, item) always the same, and of
  // like size in every type. Integers are rounded to whole steps and given at least half a step of noise. What is not
  // finite, and a channel that is constant, stays as it is.
  [[nodiscard]] Tensor operator()(std::uint64_t item) const;

 private:
  [[nodiscard]] std::size_t channel_of(std::size_t element) const { return element / inner_ % ranges_.size(); }

  Tensor base_;
  PerturbOptions options_;
  std::size_t inner_ = 1;  // consecutive numbers of one channel
  std::vector<ValidRange> ranges_;
};

}  // namespace infermeter
