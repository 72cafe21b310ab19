// What the test instrument answers: ten numbers for each item of the batch.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "infermeter_backend.h"

namespace infermeter {

enum class OutputKind { hash, zeros, ones, random, nan, inf, wrong_shape, wrong_dtype, permuted, negative_zero };

struct Outputs {
  OutputKind kind = OutputKind::hash;
  double error = 0;
  bool error_is_relative = false;
};

inline constexpr std::int64_t outputs_per_item = 10;

// The bytes bound to one input.
using InputBytes = std::span<const std::byte>;

class OutputBuffer {
 public:
  // Each item of the batch is a function of its own share of the bytes, so that an item's output does not depend on
  // what else is in the batch (where an input's bytes do not divide by the batch, it depends on all of them).
  void fill(const Outputs& outputs, std::span<const InputBytes> inputs, std::int64_t batch);
  [[nodiscard]] imb_value view() const;

 private:
  std::vector<float> floats_;
  std::vector<double> doubles_;
  std::vector<std::int64_t> shape_;
};

}  // namespace infermeter
