// Seeded weights: the same bits on every machine and compiler.
//
// Every draw is an integer: four 16-bit parts of a 64-bit hash of (tensor's seed, index), summed (Irwin–Hall: nearly
// normal, and bounded), minus what centres it. It becomes a float by one multiplication, correctly rounded by IEEE 754;
// no function of libm but sqrt is used, and nothing that could be contracted to a fused multiply-add.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace infermeter {

// How a tensor's elements are drawn.
struct Draw {
  double mean = 0;
  double sd = 1;
  // Makes every row of so many consecutive elements sum to (nearly) zero; 0: leaves them. A filter that sums to zero
  // does not pass on what is the same for all inputs: without it the outputs of a random ReLU network hardly depend on
  // them.
  std::size_t zero_sum_row = 0;
};

// Elements 0 … count-1, as little-endian float32 bytes. The stream is given by the name, so that adding a tensor to a
// model leaves the others as they are.
[[nodiscard]] std::string draw_weights(std::string_view tensor, std::size_t count, const Draw& draw);

// A row-major [rows, columns] matrix of float32 bytes, transposed.
[[nodiscard]] std::string transposed(std::string_view matrix, std::size_t rows, std::size_t columns);

}  // namespace infermeter
