// Bytes that an operator has to move at least.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

#include "infermeter/profile/operators/node_edges.hpp"
#include "infermeter/samples/model_graph.hpp"

namespace infermeter {

// Of a fused operator that executes `nodes`: its inputs, weights and outputs, each once, floating-point ones in the
// `precision` that it was executed in ("bfloat16"; empty: the model's). What stays inside does not count. nullopt: a
// shape or a type is not known.
[[nodiscard]] std::optional<double> moved_bytes(const ModelGraph& model, const NodeEdges& edges,
                                                const std::vector<std::size_t>& nodes, std::string_view precision);

}  // namespace infermeter
