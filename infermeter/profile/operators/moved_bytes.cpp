#include "infermeter/profile/operators/moved_bytes.hpp"

#include <algorithm>
#include <array>
#include <unordered_set>
#include <utility>

namespace infermeter {
namespace {

struct Type {
  std::string_view name;
  double bytes;
  bool is_float = false;
};
constexpr std::array types = {
    Type{"float32", 4, true},
    Type{"float16", 2, true},
    Type{"bfloat16", 2, true},
    Type{"float64", 8, true},
    Type{"float8e4m3fn", 1, true},
    Type{"float8e4m3fnuz", 1, true},
    Type{"float8e5m2", 1, true},
    Type{"float8e5m2fnuz", 1, true},
    Type{"float4e2m1", 0.5, true},
    Type{"int8", 1},
    Type{"uint8", 1},
    Type{"bool", 1},
    Type{"boolean", 1},
    Type{"int16", 2},
    Type{"uint16", 2},
    Type{"int32", 4},
    Type{"uint32", 4},
    Type{"int64", 8},
    Type{"uint64", 8},
    Type{"int4", 0.5},
    Type{"uint4", 0.5},
    Type{"complex64", 8},
    Type{"complex128", 16},
};

const Type* type_named(std::string_view name) {
  const auto* const found = std::ranges::find(types, name, &Type::name);
  return found == types.end() ? nullptr : found;
}

std::optional<double> bytes_of(const GraphTensor& tensor, const Type* executed) {
  const auto elements = tensor.elements();
  const Type* const own = type_named(tensor.dtype);
  if (!elements || own == nullptr) return std::nullopt;
  const Type* const type = own->is_float && executed != nullptr ? executed : own;
  return static_cast<double>(*elements) * type->bytes;
}

}  // namespace

std::optional<double> moved_bytes(const ModelGraph& model, const NodeEdges& edges,
                                  const std::vector<std::size_t>& nodes, std::string_view precision) {
  const std::unordered_set<std::size_t> inside(nodes.begin(), nodes.end());
  std::unordered_set<std::size_t> moved;
  for (const std::size_t node : nodes) {
    for (const std::size_t tensor : model.nodes[node].inputs) {
      if (tensor >= model.tensors.size()) continue;
      const auto maker = edges.producer(tensor);
      if (!maker || !inside.contains(*maker)) moved.insert(tensor);
    }
    for (const std::size_t tensor : model.nodes[node].outputs) {
      if (tensor < model.tensors.size() && edges.leaves(tensor, inside)) moved.insert(tensor);
    }
  }
  const Type* const executed = type_named(precision);
  double sum = 0;
  for (const std::size_t tensor : moved) {
    const auto bytes = bytes_of(model.tensors[tensor], executed);
    if (!bytes) return std::nullopt;
    sum += *bytes;
  }
  return sum;
}

}  // namespace infermeter
