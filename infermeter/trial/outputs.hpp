// Outputs of a trial: enough is noted about them to notice nonsense without a reference.
#pragma once

#include <span>
#include <vector>

#include "infermeter/data/tensor.hpp"
#include "infermeter/samples/samples.hpp"

namespace infermeter {

// A line per output; sequences and absent optionals by their kind and length only. `inputs` and `items`, of an
// inference, tell which dimension of an output is the batch.
[[nodiscard]] std::vector<OutputFacts> describe_outputs(std::span<const Port> ports, std::span<const Value> values,
                                                        std::span<const Port> inputs = {}, std::int64_t items = 1);

// Whether an output had another shape in another inference: then their times are of different work. `first` and `later`
// are the outputs of two of them.
[[nodiscard]] std::vector<Diagnostic> diagnose_shapes(std::span<const Port> ports, std::span<const Shape> first,
                                                      std::span<const Shape> later);
// Of tensors; of other values their number of elements.
[[nodiscard]] std::vector<Shape> shapes_of(std::span<const Value> values);

// What the outputs of several runs say about the model: not finite; other bytes for the same input; the same bytes for
// different inputs. `first`: of the first inference, on the first item; digests per item, in order.
[[nodiscard]] std::vector<Diagnostic> diagnose_outputs(std::span<const OutputFacts> outputs, std::uint64_t first,
                                                       std::span<const std::uint64_t> output_digests,
                                                       std::span<const std::uint64_t> input_digests);

}  // namespace infermeter
