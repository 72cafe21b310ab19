// The main graph of an ONNX file as the file has it, in views of its bytes: what read_graph.cpp makes a ModelGraph of.
#pragma once

#include <cstdint>
#include <optional>
#include <protozero/data_view.hpp>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "infermeter/data/dtype.hpp"
#include "infermeter/data/tensor.hpp"

namespace infermeter {

struct OnnxAttribute {
  std::string_view name;
  protozero::data_view bytes;
  bool holds_graph = false;
};

struct OnnxNode {
  std::string_view name, op, domain;  // "" instead of "ai.onnx"
  std::vector<std::string_view> inputs, outputs;
  std::vector<OnnxAttribute> attributes;

  [[nodiscard]] const OnnxAttribute* attribute(std::string_view wanted) const;
  [[nodiscard]] bool holds_graph() const;
};

struct OnnxWeight {
  std::string_view name;
  DType dtype = DType::undefined;
  std::vector<std::int64_t> shape;
  std::uint64_t elements = 1;
  bool is_external = false;
  protozero::data_view bytes;
};

struct OnnxGraph {
  std::vector<OnnxNode> nodes;
  std::vector<OnnxWeight> weights;
  std::vector<Port> inputs, outputs, values;  // values: what the file says of intermediate tensors
  std::vector<std::pair<std::string_view, std::int64_t>> opsets;
  std::unordered_set<std::string> functions;  // "domain.name" of the model's own
};

// Throw protozero's exceptions, or a Refused.
[[nodiscard]] OnnxGraph read_onnx_graph(std::string_view model);
[[nodiscard]] OnnxWeight read_onnx_weight(protozero::data_view tensor);

// An attribute's value; nullopt: there is none of this name.
[[nodiscard]] std::optional<std::int64_t> integer_of(const OnnxNode& node, std::string_view attribute);
[[nodiscard]] std::optional<std::string_view> text_of(const OnnxNode& node, std::string_view attribute);
[[nodiscard]] std::optional<std::vector<std::int64_t>> integers_of(const OnnxNode& node, std::string_view attribute);
// The values of an int64, int32 or bool tensor, from its own bytes; nullopt: it is none, or they are not all there.
[[nodiscard]] std::optional<std::vector<std::int64_t>> integers_in(const OnnxWeight& weight);
// Of an attribute that is a tensor.
[[nodiscard]] std::optional<OnnxWeight> weight_of(const OnnxNode& node, std::string_view attribute);

}  // namespace infermeter
