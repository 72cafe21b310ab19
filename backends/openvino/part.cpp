// The second part of the plug-in: what needs OpenVINO's C++. The handles are the C library's, which keeps a shared_ptr
// in each and nothing else; that holds for the release that this was built for, and library.cpp opens it for no other.
#include "part.hpp"

#include <array>
#include <memory>
#include <openvino/core/model.hpp>
#include <openvino/core/version.hpp>
#include <openvino/runtime/compiled_model.hpp>
#include <openvino/runtime/infer_request.hpp>
#include <string_view>
#include <utility>

#include "sdk/abi_edge.hpp"

namespace infermeter {
namespace {

// Of OpenVINO's src/bindings/c/src/common.h.
template <class Object>
const Object& object_in(const void* handle) {
  return **static_cast<const std::shared_ptr<Object>*>(handle);
}

imb_status read_counters(const ov_infer_request_t* request, std::vector<Counter>& counters, imb_message message) {
  return guarded(message, IMB_RUN_ERROR, [&] {
    counters.clear();
    for (auto& row : object_in<ov::InferRequest>(request).get_profiling_info()) {
      counters.push_back({.name = std::move(row.node_name),
                          .kind = std::move(row.node_type),
                          .kernel = std::move(row.exec_type),
                          .begin_us = row.start_time.count(),
                          .mean_us = row.real_time.count()});
    }
  });
}

std::string precision_in(const std::string& name) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 12> names = {{{"f32", "float32"},
                                                                                    {"f16", "float16"},
                                                                                    {"bf16", "bfloat16"},
                                                                                    {"f64", "float64"},
                                                                                    {"i8", "int8"},
                                                                                    {"u8", "uint8"},
                                                                                    {"i4", "int4"},
                                                                                    {"u4", "uint4"},
                                                                                    {"i32", "int32"},
                                                                                    {"i64", "int64"},
                                                                                    {"u64", "uint64"},
                                                                                    {"boolean", "bool"}}};
  for (const auto& [theirs, ours] : names)
    if (name == theirs) return std::string(ours);
  return name == "undef" ? "" : name;
}

std::string shape_text(const ov::PartialShape& shape) {
  std::string text = "(";
  if (shape.rank().is_dynamic()) return "(?)";
  for (std::size_t i = 0; i < shape.size(); ++i) {
    text += (i == 0 ? "" : ", ") + (shape[i].is_static() ? std::to_string(shape[i].get_length()) : std::string("?"));
  }
  return text + (shape.size() == 1 ? ",)" : ")");
}

std::vector<std::string> separated(const std::string& text) {
  std::vector<std::string> parts;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    if (end > begin) parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

template <class Output>
std::string tensor_name(const Output& output) {
  const std::string name = output.get_node()->get_friendly_name();
  return output.get_index() == 0 ? name : name + ":" + std::to_string(output.get_index());
}

GraphNode described(const ov::Node& node) {
  const auto& facts = node.get_rt_info();
  const auto fact = [&facts](const char* key) {
    const auto found = facts.find(key);
    return found != facts.end() && found->second.is<std::string>() ? found->second.as<std::string>() : std::string();
  };
  GraphNode reported{.name = node.get_friendly_name(),
                     .kind = fact("layerType"),
                     .kernel = fact("primitiveType"),
                     .precision = precision_in(fact("runtimePrecision")),
                     .layout = fact("outputLayouts"),
                     .shapes = "",
                     .origin_names = separated(fact("originalLayersNames")),
                     .inputs = {},
                     .outputs = {},
                     .is_port = false};
  reported.is_port = reported.kind == "Input" || reported.kind == "Output";
  for (const auto& input : node.input_values()) {
    reported.inputs.push_back(tensor_name(input));
    reported.shapes += (reported.shapes.empty() ? "" : ", ") + shape_text(input.get_partial_shape());
  }
  reported.shapes += " ->";
  for (const auto& output : node.outputs()) {
    reported.shapes += (reported.outputs.empty() ? " " : ", ") + shape_text(output.get_partial_shape());
    reported.outputs.push_back(tensor_name(output));
  }
  return reported;
}

imb_status read_graph(const ov_compiled_model_t* compiled, std::vector<GraphNode>& nodes, imb_message message) {
  return guarded(message, IMB_RUN_ERROR, [&] {
    nodes.clear();
    const auto graph = object_in<ov::CompiledModel>(compiled).get_runtime_model();
    for (const auto& node : graph->get_ordered_ops()) {
      GraphNode reported = described(*node);
      if (reported.kind != "Const") nodes.push_back(std::move(reported));
    }
  });
}

constexpr Part part = {
    .version = INFERMETER_OPENVINO_VERSION, .read_counters = read_counters, .read_graph = read_graph};

}  // namespace
}  // namespace infermeter

extern "C" __attribute__((visibility("default"))) const infermeter::Part* openvino_part() { return &infermeter::part; }
