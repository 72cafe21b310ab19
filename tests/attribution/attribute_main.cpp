// attribute_operators MODEL.onnx BATCH [OPERATORS.json [OTHER.json]]: the model's graph, each side's operators
// attributed to it, and their common groups, as JSON on standard output.
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "infermeter/models/onnx/read_graph.hpp"
#include "infermeter/profile/operators/attribution.hpp"

namespace {

using infermeter::ModelGraph;
using infermeter::OperatorProfile;
using nlohmann::json;

OperatorProfile profile_in(const std::string& file) {
  std::ifstream stream(file);
  OperatorProfile profile;
  for (const json& reported : json::parse(stream)) {
    auto& op = profile.operators.emplace_back();
    op.name = reported.at("name");
    op.kind = reported.at("kind");
    op.precision = reported.value("precision", "");
    op.origin_names = reported.value("origin_names", std::vector<std::string>());
    op.inputs = reported.value("inputs", std::vector<std::string>());
    op.outputs = reported.value("outputs", std::vector<std::string>());
  }
  return profile;
}

json graph_json(const ModelGraph& graph) {
  json nodes = json::array();
  for (const auto& node : graph.nodes) {
    nodes.push_back({{"name", node.name}, {"kind", node.kind}, {"flops", node.flops ? json(*node.flops) : json()}});
  }
  return nodes;
}

json side_json(OperatorProfile& profile, const ModelGraph& graph) {
  const auto check = infermeter::attribute(profile, graph);
  json operators = json::array();
  for (const auto& op : profile.operators) {
    operators.push_back({{"name", op.name},
                         {"kind", op.kind},
                         {"nodes", op.nodes},
                         {"rule", infermeter::to_string(op.rule)},
                         {"flops", op.flops ? json(*op.flops) : json()},
                         {"moved_bytes", op.moved_bytes ? json(*op.moved_bytes) : json()}});
  }
  return {{"operators", operators},
          {"nodes", check.nodes},
          {"owned", check.owned},
          {"unowned", check.unowned},
          {"doubtful", check.doubtful}};
}

int attribute(const std::vector<std::string>& arguments) {
  const auto graph = infermeter::read_model_graph(arguments[0], std::stoll(arguments[1]), {});
  if (!graph.ok()) {
    std::fprintf(stderr, "%s\n", graph.error().message.c_str());
    return EXIT_FAILURE;
  }
  json answer = {{"nodes", graph_json(*graph)}, {"sides", json::array()}, {"groups", json::array()}};
  std::vector<OperatorProfile> sides;
  for (std::size_t i = 2; i < arguments.size(); ++i) {
    sides.push_back(profile_in(arguments[i]));
    answer["sides"].push_back(side_json(sides.back(), *graph));
  }
  if (sides.size() == 2) {
    for (const auto& group : infermeter::common_groups(sides[0].operators, sides[1].operators)) {
      answer["groups"].push_back({{"nodes", group.nodes},
                                  {"kind", group.kind},
                                  {"in_a", group.in_a},
                                  {"in_b", group.in_b},
                                  {"is_helper", group.is_helper}});
    }
  }
  std::puts(answer.dump().c_str());
  return EXIT_SUCCESS;
}

}  // namespace

int main(int count, char** values) {
  const std::vector<std::string> arguments(values + 1, values + count);
  if (arguments.size() < 2) return 2;
  return attribute(arguments);
}
