// What a runtime's own graph says about the operators of its profile.
#pragma once

#include <string>
#include <vector>

#include "infermeter/samples/model_graph.hpp"
#include "infermeter/samples/operator_profile.hpp"

namespace infermeter {

// Shapes of one operator's inputs and outputs, as far as the source reports.
using Shapes = std::vector<std::vector<std::int64_t>>;

// "(1, 3, 224, 224), (64,) -> (1, 64)", each as NumPy writes a shape; without the arrow where outputs are not reported.
[[nodiscard]] std::string shapes_text(const Shapes& inputs, const Shapes& outputs);

// The node of `compiled` that each operator is; SIZE_MAX: none. By name; where the graph's nodes have none, by kind and
// order (an operator's `kind` is then its node's without the domain), if both sides have equally many of that kind.
[[nodiscard]] std::vector<std::size_t> match_nodes(const std::vector<ProfiledOperator>& operators,
                                                   const ModelGraph& compiled);

// Kind, layout, inputs, outputs, parameter_bytes. `inputs`: shapes that the source reports, which may lack constants:
// those are put in where the graph has them.
void describe_by_node(ProfiledOperator& op, const GraphNode& node, const ModelGraph& compiled, Shapes& inputs);

}  // namespace infermeter
