// What the reports of layers say.
#pragma once

#include <cstddef>
#include <vector>

#include "infermeter/report/forms/json_writer.hpp"
#include "infermeter/report/forms/worded_answer.hpp"
#include "infermeter/samples/graph_edges.hpp"
#include "infermeter/verdict/answers/layers_answers.hpp"
#include "infermeter/verdict/layers_record.hpp"

namespace infermeter {

// Runtimes make one kernel of several operators, but not across a tensor that somebody wants.
inline constexpr const char* kExposedNote =
    "every intermediate tensor is an output here, which keeps runtimes from fusing operators: the times of these "
    "copies say nothing, and a fused kernel may round otherwise";

// Where they part, if they do.
[[nodiscard]] WordedAnswer worded_answer(const LayersRecord& record);

// The reference's graph without nodes that make constants.
struct LayersGraph {
  std::vector<std::size_t> nodes;  // into the record's graph
  GraphEdges edges;                // between these
};
[[nodiscard]] LayersGraph graph_of(const LayersRecord& record);

void write_layers(JsonWriter& json, const LayersRecord& record);

}  // namespace infermeter
