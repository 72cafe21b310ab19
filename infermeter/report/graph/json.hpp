// Graphs in JSON reports, and their pictures in the document of the HTML page.
#pragma once

#include <cstddef>
#include <optional>

#include "infermeter/report/forms/json_writer.hpp"
#include "infermeter/samples/graph_edges.hpp"
#include "infermeter/verdict/profile_findings.hpp"

namespace infermeter {

// The members from, to and left_out.
void write_edges(JsonWriter& json, const GraphEdges& edges);

// Where the nodes stand. `subject`: index into the run's; nullopt: the graph is of layers.
void write_layout(JsonWriter& json, std::optional<int> subject, std::size_t nodes, const GraphEdges& edges);

// Of each subject whose profile reports edges, as an array.
void write_layouts(JsonWriter& json, const std::optional<ProfileFindings>& findings);

}  // namespace infermeter
