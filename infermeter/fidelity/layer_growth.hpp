// Where two subjects part: their intermediate tensors, matched, and how the difference grows along the graph.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "infermeter/data/tensor.hpp"
#include "infermeter/fidelity/difference_tally.hpp"

namespace infermeter {

struct LayerTensor {
  std::string name;
  std::string node, op;      // what makes it
  std::size_t position = 0;  // of that node in its graph, in an order in which every node follows what it reads
  Value value{};
};

// The tensors of one subject, by position.
struct LayerTrace {
  std::string precision;  // executed: "float32", "bfloat16", …
  std::vector<LayerTensor> tensors;
};

struct LayerDifference {
  std::string name, candidate_name;
  std::string node, op;
  std::size_t position = 0;       // of the reference's node
  bool matched_by_order = false;  // its name is another one
  std::string dtype, candidate_dtype;
  Shape shape;
  std::string reason;     // why it cannot be compared; empty: it was
  bool is_apart = false;  // that is its partner's type or shape, which is a divergence
  DifferenceTally tally;  // of all its numbers
  double floor = 0;       // relative L2 error that rounding alone explains, here
};

struct LayerGrowth {
  std::vector<LayerDifference> tensors;  // matched, in the reference's order
  std::vector<std::string> reference_only, candidate_only;
  std::optional<std::size_t> first_difference;  // the first whose numbers are not all the same
  std::optional<std::size_t> jump;
  double before_jump = 0;  // the largest error before the jump
};

// Tensors are matched by name: T with T_DequantizeLinear_Output where the other is quantised, as that is what T's
// readers read there (T itself may lack a Relu, which quantising does as well). Those left over are matched by order
// within one operator and shape, where both have the same number of them, and the same operator behind them in the
// file.
[[nodiscard]] LayerGrowth layer_growth(const LayerTrace& reference, const LayerTrace& candidate);

// What is compared along the graph: relative L2, 0 where all numbers are the same, infinite where one of the two is NaN
// or infinite and the other is not. nullopt where there is none: not compared, no floating-point numbers, or
// differences from a reference that is 0.
[[nodiscard]] std::optional<double> growth_error(const LayerDifference& tensor);

// The jump: the first tensor whose error is above its floor and at least so many times the largest error before it, or
// whose partner has another type or shape.
inline constexpr double least_jump = 10;

// Relative L2 error that storing `dtype` and computing in `precision` explain for one operator: the tolerance of a
// reduced precision (compare_outputs.hpp: 8 roundings); of float32 and float64 a sixteenth of it (256 roundings), as
// theirs is meant for sums through a whole network.
[[nodiscard]] double rounding_floor(std::string_view precision, DType dtype);

}  // namespace infermeter
