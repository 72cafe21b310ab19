#include "infermeter/run/profile.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "infermeter/models/onnx/read_graph.hpp"
#include "infermeter/profile/operators/attribution.hpp"
#include "infermeter/profile/read/profile_files.hpp"
#include "infermeter/profile/read/python_stacks.hpp"
#include "infermeter/verdict/pilot.hpp"

namespace infermeter {
namespace {

constexpr std::string_view compiled_graph_file = "optimized.onnx";
constexpr std::size_t max_names = 3;

// The graph that the runtime made of the model, where it left it.
std::optional<ModelGraph> compiled_graph(const TrialResult& result) {
  const auto file = std::ranges::find(result.profile_files, compiled_graph_file, &ProfileFile::name);
  if (file == result.profile_files.end()) return std::nullopt;
  auto graph = read_graph_bytes(file->bytes);
  return graph.ok() ? std::optional(std::move(graph).value()) : std::nullopt;
}

std::string first_names(const std::vector<std::string>& names) {
  std::string text;
  for (std::size_t i = 0; i < std::min(names.size(), max_names); ++i) text += (i == 0 ? "" : ", ") + names[i];
  return names.size() > max_names ? text + ", …" : text;
}

void say_what_is_missing(const AttributionCheck& check, Samples& trial) {
  if (!check.unowned.empty()) {
    add_diagnostic(trial, DiagnosticId::nodes_not_attributed,
                   fmt::format("{} of the model's {} nodes are in no operator: {}", check.unowned.size(), check.nodes,
                               first_names(check.unowned)));
  }
  if (!check.doubtful.empty()) {
    add_diagnostic(trial, DiagnosticId::nodes_not_attributed,
                   fmt::format("operators stand for another number of products than their kind says: {}",
                               first_names(check.doubtful)));
  }
}

// What a profiler of Python code told; `asked`: one was wanted.
void take_python_stacks(TrialResult& result, bool asked) {
  auto stacks = read_python_stacks(result.profile_files);
  if (stacks.ok() && *stacks) return result.stacks.push_back(std::move(**stacks));
  if (!asked || has_diagnostic(result.samples, DiagnosticId::no_python_profile)) return;
  add_diagnostic(
      result.samples, DiagnosticId::no_python_profile,
      fmt::format("no profile of Python code: {}", stacks.ok() ? "the profiler left nothing" : stacks.error().message));
}

}  // namespace

void add_diagnostic(Samples& trial, DiagnosticId id, std::string message) {
  trial.diagnostics.push_back({.id = id, .message = std::move(message), .about = {}});
}

void note_profile(OperatorProfile& profile, const ModelGraph* graph, Samples& trial) {
  if (graph != nullptr) say_what_is_missing(attribute(profile, *graph), trial);
  if (profile.cut) {
    add_diagnostic(trial, DiagnosticId::profile_cut, "the profile ends early: what there is of it is shown");
  }
}

const Result<ModelGraph>& ProfileReader::graph_of(std::size_t subject) {
  auto place = graphs_.find(subject);
  if (place == graphs_.end()) {
    const Subject& asked = record_.plan.subjects[subject];
    auto graph = read_model_graph(record_.models[subject].path, asked.batch_size, asked.dimensions, asked.batch_axes);
    place = graphs_.emplace(subject, std::move(graph)).first;
  }
  return place->second;
}

const ModelGraph* ProfileReader::graph_of(std::size_t subject, Samples& trial) {
  if (record_.models[subject].format != "onnx") return nullptr;
  const Result<ModelGraph>& graph = graph_of(subject);
  if (graph.ok()) return &*graph;
  add_diagnostic(trial, DiagnosticId::nodes_not_attributed,
                 fmt::format("no operator has its place in the model: {}", graph.error().message));
  return nullptr;
}

std::int64_t ProfileReader::most_warmup(std::size_t subject) {
  constexpr std::int64_t most_events = 200'000;
  if (record_.models[subject].format != "onnx") return most_events;
  const Result<ModelGraph>& graph = graph_of(subject);
  const std::int64_t nodes = graph.ok() ? std::ssize(graph->nodes) : 1;
  return std::max(least_warmup, most_events / std::max<std::int64_t>(nodes, 1));
}

std::optional<OperatorProfile> ProfileReader::operator()(std::size_t subject, TrialResult& result) {
  Samples& trial = result.samples;
  if (trial.iterations() == 0) return std::nullopt;  // how it ended is reported anyway
  take_python_stacks(result, record_.plan.profiling.python != PythonProfiler::off);
  const auto compiled = compiled_graph(result);
  auto profile = read_operator_profile(result.profile_files, compiled ? &*compiled : nullptr, trial);
  if (!profile.ok()) {
    if (!has_diagnostic(trial, DiagnosticId::no_operator_profile)) {
      const bool is_too_long = has_too_much(result.profile_files);
      add_diagnostic(trial, is_too_long ? DiagnosticId::profile_too_long : DiagnosticId::no_operator_profile,
                     profile.error().message);
    }
    return std::nullopt;
  }
  note_profile(*profile, graph_of(subject, trial), trial);
  return std::move(profile).value();
}

}  // namespace infermeter
