// Which nodes of the model does each profiled operator execute? Pure. docs/profile.md has the rules and their evidence.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "infermeter/samples/model_graph.hpp"
#include "infermeter/samples/operator_profile.hpp"

namespace infermeter {

// How far attribution came: what the report says about it.
struct AttributionCheck {
  std::size_t nodes = 0, owned = 0;  // of the model, without constants that were folded away
  std::vector<std::string> unowned;  // names
  // Operators that stand for another number of convolutions and products than their kind says: marked inferred.
  std::vector<std::string> doubtful;
};

// Fills nodes, rule, flops and moved_bytes of the profile's operators. Every node is owned by one operator at most; one
// that a runtime made several operators of is named by those as well, without flops and bytes. First come names: of
// nodes, of tensors, with a runtime's additions ("relu_nchwc", "add/MatMulAddFusion"); operators that only move values
// own no node that computes. What is left is completed: what lies between an operator's tensors; a product goes with
// what its result alone goes into, other nodes with the last operator that makes what they read.
AttributionCheck attribute(OperatorProfile& profile, const ModelGraph& model);

// The finest partition of the model's nodes that both sides respect: the union of the two ownership relations.
struct CommonGroup {
  std::vector<std::string> nodes;       // of the model, in order of execution; empty: helpers that own nothing
  std::string kind;                     // of its heaviest operator: "Conv"; of helpers their own kind: "Reorder"
  std::vector<std::size_t> in_a, in_b;  // operators of either side
  bool is_helper = false;               // one group per kind of helper
};
[[nodiscard]] std::vector<CommonGroup> common_groups(const std::vector<ProfiledOperator>& a,
                                                     const std::vector<ProfiledOperator>& b);

}  // namespace infermeter
