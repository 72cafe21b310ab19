#include "infermeter/fidelity/layer_growth.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <unordered_map>
#include <utility>

#include "infermeter/fidelity/compare_outputs.hpp"
#include "infermeter/fidelity/element_reader.hpp"
#include "infermeter/fidelity/pair_values.hpp"

namespace infermeter {
namespace {

constexpr double infinite_error = std::numeric_limits<double>::infinity();
constexpr std::size_t none = std::numeric_limits<std::size_t>::max();

DType dtype_of(const Value& value) { return value.kind == Value::Kind::tensor ? value.tensor.dtype : DType::undefined; }

// What identifies a graph of 8-bit integers, whatever its tensors between them are.
bool is_quantised(std::string_view op) {
  constexpr std::array operators = {"QuantizeLinear", "DequantizeLinear", "DynamicQuantizeLinear", "FakeQuantize",
                                    "MatMulNBits"};
  return std::ranges::find(operators, op) != operators.end() || op.starts_with("QLinear") || op.starts_with("QGemm") ||
         op.ends_with("Integer") || op.ends_with("IntegerToFloat");
}

// Of each tensor, what rounding explains there: errors do not shrink again where a later tensor is stored better.
std::vector<double> floors_of(const LayerTrace& trace) {
  std::vector<double> floors;
  double floor = 0;
  for (const LayerTensor& tensor : trace.tensors) {
    const DTypeClass kind = class_of(dtype_of(tensor.value));
    if (kind == DTypeClass::real || kind == DTypeClass::complex) {
      floor = std::max(floor, rounding_floor(trace.precision, dtype_of(tensor.value)));
    }
    if (is_quantised(tensor.op)) floor = std::max(floor, rounding_floor("int8", DType::float32));
    floors.push_back(floor);
  }
  return floors;
}

using Partners = std::vector<std::size_t>;  // of each tensor of the reference, its index in the candidate; or none

// What ONNX Runtime's quantiser calls the tensor that the readers of another one read instead of it.
constexpr std::string_view dequantised = "_DequantizeLinear_Output";

std::string_view original_name(std::string_view name) {
  return name.ends_with(dequantised) ? name.substr(0, name.size() - dequantised.size()) : name;
}

using Names = std::unordered_map<std::string_view, std::size_t>;

// Each tensor by its original name; where a tensor is there in both forms, the one that is read further on.
Names original_names(const LayerTrace& trace) {
  Names names;
  for (std::size_t i = 0; i < trace.tensors.size(); ++i) {
    const std::string_view name = trace.tensors[i].name;
    const bool is_new = names.emplace(original_name(name), i).second;
    if (!is_new && name.ends_with(dequantised)) names[original_name(name)] = i;
  }
  return names;
}

Partners by_name(const LayerTrace& reference, const LayerTrace& candidate) {
  Partners partners(reference.tensors.size(), none);
  const Names left = original_names(reference), right = original_names(candidate);
  std::vector<bool> taken(candidate.tensors.size());
  for (const auto& [name, index] : left) {
    const auto found = right.find(name);
    if (found == right.end()) continue;
    partners[index] = found->second;
    taken[found->second] = true;
  }
  // Where both are quantised, the other forms as well; where one is, its other forms have no partner.
  Names rest;
  for (std::size_t i = 0; i < candidate.tensors.size(); ++i) {
    if (!taken[i]) rest.emplace(candidate.tensors[i].name, i);
  }
  for (std::size_t i = 0; i < partners.size(); ++i) {
    const auto found = rest.find(reference.tensors[i].name);
    if (partners[i] == none && found != rest.end()) partners[i] = found->second;
  }
  return partners;
}

// What converters and quantisers put between nodes.
bool is_added(std::string_view op) { return op == "Cast" || op == "Identity" || is_quantised(op); }

// The operator behind the tensor in the file; "" at the end. A convolution that a BatchNormalization follows is not the
// one that it was folded into.
std::string_view next_operator(const LayerTrace& trace, std::size_t index) {
  for (std::size_t i = index + 1; i < trace.tensors.size(); ++i) {
    if (!is_added(trace.tensors[i].op)) return trace.tensors[i].op;
  }
  return {};
}

using Kinds = std::map<std::pair<std::string_view, Shape>, std::vector<std::size_t>>;

Kinds kinds_of(const LayerTrace& trace, const std::vector<bool>& taken) {
  Kinds kinds;
  for (std::size_t i = 0; i < trace.tensors.size(); ++i) {
    const LayerTensor& tensor = trace.tensors[i];
    if (taken[i] || tensor.op.empty() || tensor.value.kind != Value::Kind::tensor) continue;
    kinds[{tensor.op, tensor.value.tensor.shape}].push_back(i);
  }
  return kinds;
}

void match_by_order(const LayerTrace& reference, const LayerTrace& candidate, Partners& partners) {
  std::vector<bool> reference_taken, candidate_taken(candidate.tensors.size());
  for (const std::size_t partner : partners) {
    reference_taken.push_back(partner != none);
    if (partner != none) candidate_taken[partner] = true;
  }
  const Kinds left = kinds_of(reference, reference_taken), right = kinds_of(candidate, candidate_taken);
  for (const auto& [kind, indices] : left) {
    const auto others = right.find(kind);
    if (others == right.end() || others->second.size() != indices.size()) continue;
    for (std::size_t i = 0; i < indices.size(); ++i) {
      const std::size_t other = others->second[i];
      if (next_operator(reference, indices[i]) == next_operator(candidate, other)) partners[indices[i]] = other;
    }
  }
}

LayerDifference difference_of(const LayerTensor& reference, const LayerTensor& candidate) {
  LayerDifference difference{
      .name = reference.name,
      .candidate_name = candidate.name,
      .node = reference.node,
      .op = reference.op,
      .position = reference.position,
      .matched_by_order = original_name(reference.name) != original_name(candidate.name),
      .dtype = std::string(to_string(dtype_of(reference.value))),
      .candidate_dtype = std::string(to_string(dtype_of(candidate.value))),
      .shape = reference.value.kind == Value::Kind::tensor ? reference.value.tensor.shape : Shape{},
      .reason = {},
      .is_apart = false,
      .tally = {}};
  std::vector<TensorPair> pairs;
  difference.reason = pair_values(reference.value, candidate.value, 0, pairs);
  difference.is_apart = !difference.reason.empty();
  if (difference.is_apart) return difference;
  std::uint64_t first = 0;
  for (const TensorPair& pair : pairs) {
    if (class_of(pair.reference->dtype) == DTypeClass::text) {
      if (pair.reference->strings == pair.candidate->strings) continue;
      difference.reason = "holds texts that differ, which have no distance";
      return difference;
    }
    difference.tally.add(*pair.reference, *pair.candidate, first);
    first = difference.tally.count;
  }
  return difference;
}

bool all_same(const DifferenceTally& tally) { return tally.max_absolute == 0 && tally.non_finite_apart == 0; }

void add_unmatched(const LayerTrace& candidate, const Partners& partners, LayerGrowth& growth) {
  std::vector<bool> taken(candidate.tensors.size());
  for (const std::size_t partner : partners) {
    if (partner != none) taken[partner] = true;
  }
  for (std::size_t i = 0; i < candidate.tensors.size(); ++i) {
    if (!taken[i]) growth.candidate_only.push_back(candidate.tensors[i].name);
  }
}

void find_jump(LayerGrowth& growth) {
  double largest = 0;
  for (std::size_t i = 0; i < growth.tensors.size(); ++i) {
    const LayerDifference& tensor = growth.tensors[i];
    const bool differs = tensor.is_apart || (tensor.reason.empty() && !all_same(tensor.tally));
    if (differs && !growth.first_difference) growth.first_difference = i;
    const auto error = growth_error(tensor);
    if (!error && !tensor.is_apart) continue;
    if (tensor.is_apart || (*error > tensor.floor && *error >= least_jump * largest)) {
      growth.jump = i;
      growth.before_jump = largest;
      return;
    }
    largest = std::max(largest, *error);
  }
}

}  // namespace

double rounding_floor(std::string_view precision, DType dtype) {
  const double whole_network = default_tolerance("float32", DType::float32).relative;
  const double tolerance = default_tolerance(precision, dtype).relative;
  return tolerance <= whole_network ? tolerance / 16 : tolerance;
}

std::optional<double> growth_error(const LayerDifference& tensor) {
  const bool has_floats = tensor.dtype.find("float") != std::string::npos || tensor.dtype.starts_with("complex");
  if (!tensor.reason.empty() || !has_floats || tensor.tally.count == 0) return std::nullopt;
  if (tensor.tally.non_finite_apart > 0) return infinite_error;
  return tensor.tally.max_absolute == 0 ? std::optional(0.0) : tensor.tally.relative_l2();
}

LayerGrowth layer_growth(const LayerTrace& reference, const LayerTrace& candidate) {
  Partners partners = by_name(reference, candidate);
  match_by_order(reference, candidate, partners);
  const std::vector<double> floors = floors_of(reference), candidate_floors = floors_of(candidate);
  LayerGrowth growth;
  for (std::size_t i = 0; i < partners.size(); ++i) {
    if (partners[i] == none) {
      growth.reference_only.push_back(reference.tensors[i].name);
      continue;
    }
    growth.tensors.push_back(difference_of(reference.tensors[i], candidate.tensors[partners[i]]));
    growth.tensors.back().floor = std::max(floors[i], candidate_floors[partners[i]]);
  }
  add_unmatched(candidate, partners, growth);
  find_jump(growth);
  return growth;
}

}  // namespace infermeter
