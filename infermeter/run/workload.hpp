// Subjects whose MODEL is no file: a workload that a back end brings with it, by a name that the back end reports
// ("workload:NAME" among its formats), and a model that a server has.
#pragma once

#include <filesystem>
#include <string_view>

#include "infermeter/diagnostics/result.hpp"
#include "infermeter/plan/plan.hpp"
#include "infermeter/samples/model_facts.hpp"
#include "infermeter/worker/launcher.hpp"

namespace infermeter {

inline constexpr std::string_view workload_format = "workload";

// A plain word: letters, digits, '_', '-'.
[[nodiscard]] bool may_be_workload(std::string_view model);

// `backend`: the subject's. `otherwise`: what is said of the name where the back end has no workloads at all.
[[nodiscard]] Result<ModelFacts> resolve_workload(const Subject& subject, const BackendInfo& backend,
                                                  const Error& otherwise);

// The model of a subject that a server measures: a name there, and no file.
inline constexpr std::string_view server_format = "server";
[[nodiscard]] ModelFacts model_on_server(const Subject& subject);

// Where the back end of a workload keeps what it made before; empty for a model.
[[nodiscard]] std::filesystem::path workload_cache(const Subject& subject, const ModelFacts& model,
                                                   const std::filesystem::path& cache);

}  // namespace infermeter
