#include "infermeter/verdict/rounds/nodes.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "infermeter/samples/node_facts.hpp"
#include "infermeter/stats/comparison/strata.hpp"
#include "infermeter/stats/summary/metrics.hpp"
#include "infermeter/stats/summary/process_times.hpp"
#include "infermeter/stats/summary/quantile.hpp"
#include "infermeter/text/counts.hpp"
#include "infermeter/text/quoted.hpp"
#include "infermeter/verdict/rounds/blocks.hpp"
#include "infermeter/verdict/summary_options.hpp"

namespace infermeter {
namespace {

constexpr double kNodeAlpha = 0.05;  // of the whole run

std::optional<double> log_of_trial(const RunRecord& record, const MetricKind& kind, const Samples& trial) {
  if (trial.end != TrialEnd::ok) return std::nullopt;
  const auto values = process_values(kind, subject_times(std::span(&trial, 1), summary_options(record)));
  if (values.size() != 1 || !(values[0] > 0)) return std::nullopt;
  return std::log(values[0]);
}

double median_effect(std::vector<double> values) {
  std::ranges::sort(values);
  return quantile(values, 0.5);
}

std::string effect_on_node(const NodePairs& node) {
  return fmt::format("{:+.2g} % on {} ({})", std::expm1(median_effect(node.differences)) * 100,
                     printable(node.node, 60), counted(node.differences.size(), "block"));
}

std::optional<Diagnostic> disagreement(const RunRecord& record, int baseline, int candidate, const std::string& metric,
                                       double alpha) {
  const auto nodes = pairs_by_node(record, baseline, candidate, metric);
  std::vector<std::vector<double>> strata;
  for (const NodePairs& node : nodes) strata.push_back(node.differences);
  const auto p = strata_differ_p(strata);
  if (!p || *p >= alpha) return std::nullopt;
  const auto [least, most] =
      std::ranges::minmax_element(nodes, {}, [](const NodePairs& node) { return median_effect(node.differences); });
  return Diagnostic{.id = DiagnosticId::nodes_disagree,
                    .message = fmt::format("{} against '{}' depends on the node: {}, {}; p = {:.2g} over {} nodes",
                                           metric, printable(subject_at(record, baseline).label, 60),
                                           effect_on_node(*least), effect_on_node(*most), *p, nodes.size()),
                    .about = subject_at(record, candidate).label};
}

std::optional<Diagnostic> kinds_of_machines(const RunRecord& record) {
  std::map<std::string, std::vector<std::string>> kinds;
  for (const Environment& node : record.environment.nodes)
    kinds[machine_fingerprint(node)].push_back(printable(node.hostname, 60));
  if (kinds.size() < 2) return std::nullopt;
  std::vector<std::string> groups;
  for (const auto& [fingerprint, names] : kinds)
    groups.push_back(
        fmt::format("{}{}", names.front(), names.size() > 1 ? fmt::format(" and {} like it", names.size() - 1) : ""));
  return Diagnostic{
      .id = DiagnosticId::machines_differ,
      .message = fmt::format("the nodes are {} kinds of machines ({}): times of a subject by itself are of all "
                             "of them together, differences are of blocks that were each on one node",
                             kinds.size(), fmt::join(groups, "; ")),
      .about = {}};
}

}  // namespace

std::vector<NodePairs> pairs_by_node(const RunRecord& record, int baseline, int candidate, const std::string& metric) {
  const MetricKind* kind = metric_kind(metric);
  if (kind == nullptr) return {};
  struct Pair {
    const Samples *before = nullptr, *after = nullptr;
  };
  std::map<int, Pair> pairs;
  for (const Samples* trial : trials_that_count(record)) {
    if (trial->subject == baseline) pairs[trial->process].before = trial;
    if (trial->subject == candidate) pairs[trial->process].after = trial;
  }
  std::map<std::string, std::vector<double>> nodes;
  for (const auto& [block, pair] : pairs) {
    if (pair.before == nullptr || pair.after == nullptr) continue;
    const std::string node = pair.after->executed_value(kNodeKey);
    if (node.empty() || node != pair.before->executed_value(kNodeKey)) continue;
    const auto before = log_of_trial(record, *kind, *pair.before), after = log_of_trial(record, *kind, *pair.after);
    if (before && after) nodes[node].push_back(*after - *before);
  }
  std::vector<NodePairs> found;
  for (auto& [node, differences] : nodes) found.push_back({.node = node, .differences = std::move(differences)});
  return found;
}

std::vector<Diagnostic> node_diagnostics(const RunRecord& record) {
  std::vector<Diagnostic> found;
  if (record.environment.nodes.size() < 2 || record.plan.tuning || !record.joined.empty()) return found;
  if (auto kinds = kinds_of_machines(record)) found.push_back(std::move(*kinds));
  const std::string metric = record.plan.question ? record.plan.question->metric : "latency_p50";
  std::vector<std::pair<int, int>> compared;
  for (std::size_t subject = 0; subject < record.plan.subjects.size(); ++subject)
    if (const std::size_t first = first_of_group(record.plan, subject); first != subject)
      compared.emplace_back(static_cast<int>(first), static_cast<int>(subject));
  for (const auto& [baseline, candidate] : compared) {
    auto one = disagreement(record, baseline, candidate, metric, kNodeAlpha / static_cast<double>(compared.size()));
    if (one) found.push_back(std::move(*one));
  }
  return found;
}

}  // namespace infermeter
