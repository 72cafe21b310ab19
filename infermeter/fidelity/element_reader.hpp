// Elements of two tensors as doubles, a chunk at a time, so that one kernel serves every element type.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "infermeter/data/tensor.hpp"

namespace infermeter {

enum class DTypeClass { none, real, integer, boolean, text, complex };
[[nodiscard]] DTypeClass class_of(DType dtype);

// The number of values that a tensor of `count` elements has: two per complex element.
[[nodiscard]] std::size_t values_in(DType dtype, std::size_t count);

// Does the tensor hold as much as its shape says? What came from outside may not.
[[nodiscard]] bool whole(const Tensor& tensor);

// Fills `values` with the tensor's from `begin` on, as doubles. The tensor is whole, and neither text nor none.
void read_values(const Tensor& tensor, std::size_t begin, std::span<double> values);

constexpr std::size_t chunk_size = 2048;  // three arrays of it stay in the first-level cache with room to spare

struct ElementChunk {
  std::array<double, chunk_size> reference, candidate;
  // candidate - reference. Of integers it is exact where the two doubles would be equal though the integers are not.
  std::array<double, chunk_size> difference;
  std::size_t size = 0;
};

// Fills `chunk` with the values from `begin` on. Both tensors are whole and of one class, and that is neither text nor
// none.
void read_chunk(const Tensor& reference, const Tensor& candidate, std::size_t begin, std::size_t count,
                ElementChunk& chunk);

}  // namespace infermeter
