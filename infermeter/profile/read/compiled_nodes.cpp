#include "infermeter/profile/read/compiled_nodes.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace infermeter {
namespace {

constexpr std::string_view blocked_domain = "com.microsoft.nchwc.";

std::string_view type_without_domain(std::string_view kind) {
  const std::size_t dot = kind.rfind('.');
  return dot == std::string_view::npos ? kind : kind.substr(dot + 1);
}

// ONNX's own convolutions and poolings are NCHW by definition; ONNX Runtime has kinds of its own for other layouts.
std::string_view layout_of(std::string_view kind) {
  static constexpr std::string_view plain[] = {
      "AveragePool",   "Conv",    "ConvInteger", "ConvTranspose",           "GlobalAveragePool",
      "GlobalMaxPool", "MaxPool", "QLinearConv", "com.microsoft.FusedConv",
  };
  if (kind.starts_with(blocked_domain)) return "NCHWc";
  if (type_without_domain(kind).starts_with("Nhwc")) return "NHWC";
  return std::ranges::find(plain, kind) != std::end(plain) ? "NCHW" : "";
}

std::uint64_t bytes_per_element(std::string_view dtype) {
  static constexpr std::pair<std::string_view, std::uint64_t> sizes[] = {
      {"float32", 4}, {"float64", 8}, {"float16", 2}, {"bfloat16", 2}, {"int8", 1},  {"uint8", 1}, {"bool", 1},
      {"int16", 2},   {"uint16", 2},  {"int32", 4},   {"uint32", 4},   {"int64", 8}, {"uint64", 8}};
  for (const auto& [name, bytes] : sizes)
    if (name == dtype) return bytes;
  return 0;
}

const GraphTensor* tensor_at(const ModelGraph& graph, std::size_t index) {
  return index < graph.tensors.size() ? &graph.tensors[index] : nullptr;
}

std::vector<std::string> names_of(const ModelGraph& graph, const std::vector<std::size_t>& tensors) {
  std::vector<std::string> names;
  for (const std::size_t index : tensors)
    if (const GraphTensor* tensor = tensor_at(graph, index)) names.push_back(tensor->name);
  return names;
}

std::uint64_t constant_bytes(const ModelGraph& graph, const GraphNode& node) {
  std::uint64_t bytes = 0;
  for (const std::size_t index : node.inputs) {
    const GraphTensor* tensor = tensor_at(graph, index);
    if (tensor != nullptr && tensor->is_constant)
      bytes += tensor->elements().value_or(0) * bytes_per_element(tensor->dtype);
  }
  return bytes;
}

// A constant that was packed for its kernel is no input of it any more and lacks in what the runtime reports.
void add_packed_constants(const ModelGraph& graph, const GraphNode& node, Shapes& inputs) {
  std::vector<const GraphTensor*> wanted;
  for (const std::size_t index : node.inputs)
    if (const GraphTensor* tensor = tensor_at(graph, index)) wanted.push_back(tensor);
  if (wanted.size() <= inputs.size()) return;
  Shapes whole;
  std::size_t reported = 0, missing = wanted.size() - inputs.size();
  for (const GraphTensor* tensor : wanted) {
    const bool is_reported = reported < inputs.size() && (!tensor->shape || *tensor->shape == inputs[reported]);
    if (missing > 0 && tensor->is_constant && tensor->shape && !is_reported) {
      whole.push_back(*tensor->shape);
      --missing;
    } else if (reported < inputs.size()) {
      whole.push_back(inputs[reported++]);
    }
  }
  if (missing == 0) inputs = std::move(whole);
}

}  // namespace

std::string shapes_text(const Shapes& inputs, const Shapes& outputs) {
  if (inputs.empty() && outputs.empty()) return {};
  const auto list = [](const Shapes& shapes) {
    std::string text;
    for (const auto& shape : shapes)
      text += fmt::format("{}({}{})", text.empty() ? "" : ", ", fmt::join(shape, ", "), shape.size() == 1 ? "," : "");
    return text;
  };
  if (outputs.empty()) return list(inputs);
  return fmt::format("{} -> {}", list(inputs), list(outputs));
}

std::vector<std::size_t> match_nodes(const std::vector<ProfiledOperator>& operators, const ModelGraph& compiled) {
  std::vector<std::size_t> found(operators.size(), SIZE_MAX);
  std::unordered_map<std::string_view, std::size_t> by_name;
  for (std::size_t i = 0; i < compiled.nodes.size(); ++i) by_name.emplace(compiled.nodes[i].name, i);
  std::vector<bool> is_taken(compiled.nodes.size(), false);
  for (std::size_t i = 0; i < operators.size(); ++i) {
    const auto at = by_name.find(operators[i].name);
    if (at == by_name.end() || type_without_domain(compiled.nodes[at->second].kind) != operators[i].kind) continue;
    if (is_taken[at->second]) continue;
    found[i] = at->second;
    is_taken[at->second] = true;
  }
  std::map<std::string_view, std::pair<std::vector<std::size_t>, std::vector<std::size_t>>> left;
  for (std::size_t i = 0; i < operators.size(); ++i)
    if (found[i] == SIZE_MAX) left[operators[i].kind].first.push_back(i);
  for (std::size_t i = 0; i < compiled.nodes.size(); ++i)
    if (!is_taken[i]) left[type_without_domain(compiled.nodes[i].kind)].second.push_back(i);
  for (const auto& [kind, both] : left) {
    const auto& [ops, nodes] = both;
    if (ops.size() != nodes.size()) continue;
    for (std::size_t k = 0; k < ops.size(); ++k) found[ops[k]] = nodes[k];
  }
  return found;
}

void describe_by_node(ProfiledOperator& op, const GraphNode& node, const ModelGraph& compiled, Shapes& inputs) {
  op.kind = type_without_domain(node.kind);
  op.layout = layout_of(node.kind);
  op.inputs = names_of(compiled, node.inputs);
  op.outputs = names_of(compiled, node.outputs);
  const std::uint64_t bytes = constant_bytes(compiled, node);
  if (bytes > op.parameter_bytes.value_or(0)) op.parameter_bytes = bytes;
  add_packed_constants(compiled, node, inputs);
}

}  // namespace infermeter
