// What a profile trial left: read, attributed to the nodes of its model, with what is to be said about it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "infermeter/samples/model_graph.hpp"
#include "infermeter/samples/operator_profile.hpp"
#include "infermeter/verdict/run_record.hpp"
#include "infermeter/worker/launcher.hpp"

namespace infermeter {

// What is said about a trial, beside what its worker said itself.
void add_diagnostic(Samples& trial, DiagnosticId id, std::string message);

// Attributes the operators to `graph`, unless that is nullptr; `trial` gets what is to be said about it.
void note_profile(OperatorProfile& profile, const ModelGraph* graph, Samples& trial);

class ProfileReader {
 public:
  explicit ProfileReader(const RunRecord& record) : record_(record) {}  // outlives this

  // nullopt: the back end reported nothing that can be read. Either way `result.samples` gets the diagnostics.
  [[nodiscard]] std::optional<OperatorProfile> operator()(std::size_t subject, TrialResult& result);

  // The longest automatic warm-up of a profile trial: ONNX Runtime's profiler records it too, and ends at a million
  // events.
  [[nodiscard]] std::int64_t most_warmup(std::size_t subject);

 private:
  [[nodiscard]] const Result<ModelGraph>& graph_of(std::size_t subject);
  // Of the subject's model; nullptr: it has none that we can read, which is noted in `trial` if it should have one.
  [[nodiscard]] const ModelGraph* graph_of(std::size_t subject, Samples& trial);

  const RunRecord& record_;
  std::map<std::size_t, Result<ModelGraph>> graphs_;
};

}  // namespace infermeter
