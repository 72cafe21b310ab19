// Runs that were measured on several nodes of a cluster: what holds on one of them need not hold on another.
#pragma once

#include <string>
#include <vector>

#include "infermeter/diagnostics/diagnostic.hpp"
#include "infermeter/verdict/run_record.hpp"

namespace infermeter {

// The differences of a candidate's blocks on one node: of natural logarithms, candidate less baseline.
struct NodePairs {
  std::string node;
  std::vector<double> differences;
};
// By node, of blocks that count and that have both; empty where the trials do not say their node.
[[nodiscard]] std::vector<NodePairs> pairs_by_node(const RunRecord& record, int baseline, int candidate,
                                                   const std::string& metric);

// Nodes that disagree on how a candidate compares with its baseline (Kruskal & Wallis, 5 % over all candidates
// together), by the metric of the run's question, or latency_p50; and nodes that are different machines.
[[nodiscard]] std::vector<Diagnostic> node_diagnostics(const RunRecord& record);

}  // namespace infermeter
