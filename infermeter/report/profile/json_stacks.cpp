// The JSON report's call stacks: functions and the tree in which they were seen. docs/schema/run.schema.json
#include <fmt/format.h>

#include "infermeter/profile/write/trace_labels.hpp"
#include "infermeter/report/run/json_parts.hpp"

namespace infermeter {
namespace {

constexpr std::size_t longest_symbol = 400;  // bytes: of a template a symbol can have thousands

std::string cut(const std::string& text) {
  const std::string valid = trace_text(text);
  if (valid.size() <= longest_symbol) return valid;
  std::size_t end = longest_symbol;
  while (end > 0 && (static_cast<unsigned char>(valid[end]) & 0xC0) == 0x80) --end;
  return valid.substr(0, end) + "…";
}

std::optional<double> as_number(const std::optional<std::size_t>& index) {
  return index ? std::optional(static_cast<double>(*index)) : std::nullopt;
}

void write_frame(JsonWriter& json, const StackFrame& frame) {
  json.member("symbol", cut(frame.symbol));
  json.member("module", cut(frame.module));
  json.member("offset", frame.offset == 0 ? "" : fmt::format("{:#x}", frame.offset));  // 64 bits: no JSON number
}

void write_places(JsonWriter& json, const std::vector<StackPlace>& places) {
  json.key("places");
  json.begin_array();
  for (const StackPlace& place : places) {
    json.begin_object();
    json.member("kind", cut(place.kind));
    json.member("op", as_number(place.op));
    json.member("operators", std::uint64_t{place.operators});
    json.member("self_s", place.self_s);
    json.end_object();
  }
  json.end_array();
}

void write_functions(JsonWriter& json, const StackTree& tree) {
  json.key("functions");
  json.begin_array();
  for (const StackFunction& function : tree.functions) {
    json.begin_object();
    write_frame(json, function.frame);
    json.member("self_s", function.self_s);
    json.member("low_s", function.low_s);
    json.member("high_s", function.high_s);
    json.member("share", function.share);
    json.member("total_s", function.total_s);
    json.member("helper_s", function.helper_s);
    write_places(json, function.places);
    json.end_object();
  }
  json.end_array();
}

void begin_node(JsonWriter& json, const StackNode& node) {
  json.begin_object();
  json.member("parent", as_number(node.parent));
  json.member("level", to_string(node.level));
  if (node.level == StackLevel::kind) json.member("kind", cut(node.kind));
  if (node.merged > 0) json.member("merged", std::uint64_t{node.merged});
  if (node.function) json.member("function", std::uint64_t{*node.function});
}

void write_node(JsonWriter& json, const StackNode& node) {
  begin_node(json, node);
  if (node.op) json.member("op", std::uint64_t{*node.op});
  json.member("mean_s", node.mean_s);
  json.member("self_s", node.self_s);
  json.member("low_s", node.low_s);
  json.member("high_s", node.high_s);
  json.end_object();
}

void write_difference_node(JsonWriter& json, const StackNode& node) {
  begin_node(json, node);
  if (node.op) json.member("group", std::uint64_t{*node.op});
  json.member("baseline_s", node.a_s);
  json.member("subject_s", node.b_s);
  json.member("mean_s", node.mean_s);
  json.member("low_s", node.low_s);
  json.member("high_s", node.high_s);
  json.member("separable", node.separable);
  json.end_object();
}

void write_head(JsonWriter& json, const StackTree& tree) {
  json.member("method", cut(tree.method));
  json.member("detail", tree.detail);
  json.member("is_python", tree.is_python);
  json.member("is_time", tree.is_time);
  json.member("samples", std::uint64_t{tree.samples});
  json.member("left_out", std::uint64_t{tree.left_out});
  json.member("tagged_share", tree.tagged_share);
  json.member("unnamed_share", tree.unnamed_share);
}

}  // namespace

void write_stacks(JsonWriter& json, const std::vector<StackTree>& trees) {
  json.key("stacks");
  json.begin_array();
  for (const StackTree& tree : trees) {
    json.begin_object();
    write_head(json, tree);
    json.member("processes", std::uint64_t{tree.processes});
    json.member("wall_s", tree.wall_s);
    json.member("clean_p50_s", tree.clean_p50_s);
    json.member("profiled_p50_s", tree.profiled_p50_s);
    json.member("distorted", tree.distorted);
    write_functions(json, tree);
    json.key("tree");
    json.begin_array();
    for (const StackNode& node : tree.nodes) write_node(json, node);
    json.end_array();
    json.end_object();
  }
  json.end_array();
}

void write_stack_differences(JsonWriter& json, const std::vector<StackTree>& trees) {
  json.key("stacks");
  json.begin_array();
  for (const StackTree& tree : trees) {
    json.begin_object();
    write_head(json, tree);
    json.member("pairs", std::uint64_t{tree.processes});
    json.member("difference_s", tree.wall_s);
    json.key("functions");
    json.begin_array();
    for (const StackFunction& function : tree.functions) {
      json.begin_object();
      write_frame(json, function.frame);
      json.end_object();
    }
    json.end_array();
    json.key("tree");
    json.begin_array();
    for (const StackNode& node : tree.nodes) write_difference_node(json, node);
    json.end_array();
    json.end_object();
  }
  json.end_array();
}

}  // namespace infermeter
