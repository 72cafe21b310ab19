#include <cmath>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "infermeter/report/forms/json_writer.hpp"
#include "infermeter/report/graph/json.hpp"
#include "infermeter/report/layers/parts.hpp"
#include "infermeter/report/layers/report.hpp"
#include "infermeter/text/utc_time.hpp"
#include "infermeter/verdict/answers/checklist.hpp"

namespace infermeter {
namespace {

void write_layers_side(JsonWriter& json, const char* key, const Subject& subject, const Samples& trial) {
  json.key(key);
  json.begin_object();
  json.member("label", subject.label);
  json.member("model", subject.model);
  json.member("backend", subject.backend);
  json.object("executed", trial.executed);
  json.end_object();
}

// Index into "tensors", or null.
void write_index(JsonWriter& json, const char* key, std::optional<std::size_t> index) {
  json.member(key, index ? std::optional(static_cast<std::uint64_t>(*index)) : std::nullopt);
}

std::optional<double> if_finite(std::optional<double> value) {
  return value && std::isfinite(*value) ? value : std::nullopt;
}

void write_tensor(JsonWriter& json, const LayerDifference& tensor) {
  json.begin_object();
  json.member("name", tensor.name);
  json.member("candidate_name", tensor.candidate_name);
  json.member("matched_by", tensor.matched_by_order ? "order" : "name");
  json.member("node", tensor.node);
  json.member("operator", tensor.op);
  json.member("position", static_cast<std::uint64_t>(tensor.position));
  json.member("dtype", tensor.dtype);
  json.member("candidate_dtype", tensor.candidate_dtype);
  json.key("shape");
  json.begin_array();
  for (const std::int64_t size : tensor.shape) json.value(size);
  json.end_array();
  json.member("reason", tensor.reason);
  json.member("elements", tensor.tally.count);
  json.member("error", if_finite(growth_error(tensor)));
  json.member("rounding_floor", tensor.floor);
  const DifferenceTally errors = tensor.tally.of_errors();
  json.member("relative_l2", errors.relative_l2());
  json.member("relative_l1", errors.relative_l1());
  json.member("relative_max", errors.relative_max());
  json.member("max_absolute", errors.largest_difference());
  json.member("max_absolute_index", errors.max_absolute_index);
  json.member("mae", errors.mae());
  json.member("rmse", errors.rmse());
  json.member("cosine", errors.cosine());
  json.member("non_finite_apart", tensor.tally.non_finite_apart);
  json.end_object();
}

// A node may make several tensors, and some that were not compared.
void write_graph(JsonWriter& json, const LayersRecord& record) {
  const LayersGraph graph = graph_of(record);
  std::unordered_map<std::string_view, std::size_t> place_of;
  for (std::size_t i = 0; i < record.growth.tensors.size(); ++i) place_of.emplace(record.growth.tensors[i].name, i);
  json.key("graph");
  json.begin_object();
  json.key("nodes");
  json.begin_array();
  for (const std::size_t node : graph.nodes) {
    std::vector<double> tensors;
    for (const std::size_t tensor : record.graph.nodes[node].outputs) {
      if (tensor >= record.graph.tensors.size()) continue;
      const auto found = place_of.find(record.graph.tensors[tensor].name);
      if (found != place_of.end()) tensors.push_back(static_cast<double>(found->second));
    }
    json.begin_object();
    json.member("name", record.graph.nodes[node].name);
    json.member("operator", record.graph.nodes[node].kind);
    json.numbers("tensors", tensors);
    json.end_object();
  }
  json.end_array();
  write_edges(json, graph.edges);
  json.end_object();
}

}  // namespace

void write_layers(JsonWriter& json, const LayersRecord& record) {
  const LayerGrowth& growth = record.growth;
  json.begin_object();
  json.member("schema", "infermeter.layers/1");
  json.member("created_at", utc_time(record.created_at));
  json.member("hostname", record.hostname);
  write_layers_side(json, "reference", record.reference, record.reference_trial);
  write_layers_side(json, "candidate", record.candidate, record.candidate_trial);
  json.member("item", record.item);
  json.member("sandbox", record.sandbox);
  json.member("note", kExposedNote);
  json.member("least_jump", least_jump);
  write_index(json, "first_difference", growth.first_difference);
  write_index(json, "jump", growth.jump);
  write_index(json, "worst", worst_tensor(growth));
  json.member("before_jump", growth.before_jump);
  write_answers(json, {worded_answer(record)});
  write_checks(json, checklist(record));
  json.key("tensors");
  json.begin_array();
  for (const LayerDifference& tensor : growth.tensors) write_tensor(json, tensor);
  json.end_array();
  write_graph(json, record);
  json.strings("reference_only", growth.reference_only);
  json.strings("candidate_only", growth.candidate_only);
  json.end_object();
}

std::string render_layers_json(const LayersRecord& record) {
  JsonWriter json;
  write_layers(json, record);
  return json.take() + '\n';
}

}  // namespace infermeter
