#include "infermeter/fidelity/pair_values.hpp"

#include <fmt/format.h>

#include "infermeter/fidelity/element_reader.hpp"

namespace infermeter {
namespace {

constexpr int deepest = 16;  // sequences within sequences; ONNX has one level

std::string_view name_of(Value::Kind kind) {
  switch (kind) {
    case Value::Kind::none: return "nothing";
    case Value::Kind::tensor: return "a tensor";
    case Value::Kind::sequence: return "a sequence";
  }
  return "nothing";
}

std::string pair_tensors(const Tensor& reference, const Tensor& candidate, std::size_t item,
                         std::vector<TensorPair>& pairs) {
  if (class_of(reference.dtype) != class_of(candidate.dtype)) {
    return fmt::format("is {} here but {} in the reference", to_string(candidate.dtype), to_string(reference.dtype));
  }
  if (reference.shape != candidate.shape) {
    return fmt::format("has shape {} here but {} in the reference", to_string(candidate.shape),
                       to_string(reference.shape));
  }
  if (!whole(candidate))
    return fmt::format("has a number of values that does not fit its shape {}", to_string(candidate.shape));
  if (!whole(reference)) {
    return fmt::format("has a number of values that does not fit its shape {} in the reference",
                       to_string(reference.shape));
  }
  pairs.push_back({&reference, &candidate, item});
  return {};
}

std::string pair_at(const Value& reference, const Value& candidate, std::size_t item, int depth,
                    std::vector<TensorPair>& pairs) {
  if (reference.kind != candidate.kind) {
    return fmt::format("is {} here but {} in the reference", name_of(candidate.kind), name_of(reference.kind));
  }
  if (reference.kind == Value::Kind::none) return {};
  if (reference.kind == Value::Kind::tensor) {
    return pair_tensors(reference.tensor, candidate.tensor, item, pairs);
  }
  if (depth == deepest) return fmt::format("has sequences within sequences, more than {} deep", deepest);
  if (reference.elements.size() != candidate.elements.size()) {
    return fmt::format("has {} elements here but {} in the reference", candidate.elements.size(),
                       reference.elements.size());
  }
  for (std::size_t i = 0; i < reference.elements.size(); ++i) {
    const std::string problem = pair_at(reference.elements[i], candidate.elements[i], item, depth + 1, pairs);
    if (!problem.empty()) return fmt::format("in element {} {}", i, problem);
  }
  return {};
}

}  // namespace

std::string pair_values(const Value& reference, const Value& candidate, std::size_t item,
                        std::vector<TensorPair>& pairs) {
  return pair_at(reference, candidate, item, 0, pairs);
}

}  // namespace infermeter
