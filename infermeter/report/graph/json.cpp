#include "infermeter/report/graph/json.hpp"

#include <cstdint>
#include <vector>

#include "infermeter/report/graph/layout.hpp"

namespace infermeter {

void write_edges(JsonWriter& json, const GraphEdges& edges) {
  json.numbers("from", std::vector<double>(edges.from.begin(), edges.from.end()));
  json.numbers("to", std::vector<double>(edges.to.begin(), edges.to.end()));
  json.member("left_out", std::uint64_t{edges.left_out});
}

void write_layout(JsonWriter& json, std::optional<int> subject, std::size_t nodes, const GraphEdges& edges) {
  const GraphLayout layout = layout_graph(nodes, edges);
  json.begin_object();
  json.member("subject", subject);
  json.member("layers", std::uint64_t{layout.layers});
  json.member("width", layout.width);
  json.numbers("layer", std::vector<double>(layout.layer.begin(), layout.layer.end()));
  json.numbers("x", layout.x);
  json.key("bends");
  json.begin_array();
  for (std::size_t node = 0; node < layout.bends.size(); ++node) {
    if (layout.bends[node].empty()) continue;
    json.begin_object();
    json.member("node", std::uint64_t{node});
    json.numbers("x", layout.bends[node]);
    json.end_object();
  }
  json.end_array();
  json.member("apart", std::uint64_t{layout.apart});
  json.member("straight", std::uint64_t{layout.straight});
  json.member("left_out", std::uint64_t{layout.left_out});
  json.end_object();
}

void write_layouts(JsonWriter& json, const std::optional<ProfileFindings>& findings) {
  json.begin_array();
  if (findings) {
    for (const SubjectProfile& subject : findings->subjects) {
      if (subject.table.profile == nullptr) continue;
      const auto& operators = subject.table.profile->operators;
      const GraphEdges edges = edges_of(operators);
      if (!edges.from.empty()) write_layout(json, subject.subject, operators.size(), edges);
    }
  }
  json.end_array();
}

}  // namespace infermeter
