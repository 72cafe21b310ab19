// `infermeter tune` before anything is measured: which settings race, for what, within which constraints, as a plan
// that `run` measures.
#pragma once

#include <atomic>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "infermeter/diagnostics/problems.hpp"
#include "infermeter/diagnostics/result.hpp"
#include "infermeter/plan/draft.hpp"
#include "infermeter/samples/model_facts.hpp"
#include "infermeter/worker/launcher.hpp"

namespace infermeter {

// As a user writes it.
struct TuningRequest {
  std::string model{};  // of the zoo, a file or a factory; MODEL@BACKEND,key=value…: the same for all settings
  std::vector<std::string> over{};  // "threads=1,2"; empty: each back end that reads it, one change at a time
  std::string objective = "latency_p50";
  std::vector<std::string> constraints{};  // "latency_p99 <= 50ms"
  std::string indifference = "2%";
  std::string budget{};  // "5m"; empty: Tuning's
};

struct TuningContext {
  Launcher launcher;
  std::filesystem::path cache;
  bool makes_files = true;                                 // of dtype=int8; false: such settings are left out
  const std::atomic<int>* interrupt = nullptr;             // as in RunContext
  std::function<void(const std::string& note)> on_note{};  // what is tried where nothing names it, files being made
};

struct PreparedTuning {
  Plan plan;
  std::map<std::string, ModelFacts> models{};  // RunContext::models
};

// Settings that this machine or a back end cannot run are left out, with the reason (Tuning::left_out). All that is
// wrong is reported at once, `problems` (what the caller knows to be wrong) among it.
[[nodiscard]] Result<PreparedTuning> prepare_tuning(const TuningRequest& request, PlanDraft draft,
                                                    const TuningContext& context, const Problems& problems = {});

}  // namespace infermeter
