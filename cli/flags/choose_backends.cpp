#include "cli/flags/choose_backends.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>

#include "infermeter/diagnostics/interrupt.hpp"
#include "infermeter/models/resolve.hpp"
#include "infermeter/models/zoo/zoo.hpp"
#include "infermeter/plan/subject.hpp"
#include "infermeter/report/report.hpp"
#include "infermeter/text/quoted.hpp"
#include "infermeter/worker/launcher.hpp"

namespace infermeter {
namespace {

bool reads(const BackendInfo& backend, const std::string& format) {
  return std::ranges::find(backend.model_formats, format) != backend.model_formats.end();
}

// The test instrument, which reads anything, is measured where it is asked for only.
bool reads_model(const BackendInfo& backend, const std::string& model) {
  if (!backend.error.empty()) return false;
  if (std::ranges::find(zoo(), model, &ZooModel::name) != zoo().end()) {
    return reads(backend, "zoo") || reads(backend, "onnx");
  }
  if (reads(backend, "workload:" + model)) return true;
  std::error_code error;
  if (!std::filesystem::exists(model, error) && is_factory(model)) return reads(backend, "python");
  std::string ending = std::filesystem::path(model).extension().string();
  if (!ending.empty()) ending.erase(0, 1);
  std::ranges::transform(ending, ending.begin(), [](unsigned char c) { return std::tolower(c); });
  if (ending.empty() || !reads(backend, ending)) return false;
  return reads(backend, "python") || !is_pickle_of_torch(model);
}

// A name that means nothing here: what reads it need not be asked.
bool is_unknown(const std::string& model) {
  std::error_code error;
  return std::ranges::find(zoo(), model, &ZooModel::name) == zoo().end() && !std::filesystem::exists(model, error) &&
         !is_factory(model);
}

}  // namespace

Result<Done> choose_backends(Surroundings& world, PlanDraft& draft, Verbosity verbosity) {
  if (draft.models.empty() || !draft.backends.empty()) return Done{};
  INFERMETER_TRY(const Launcher launcher, find_launcher(draft.plan.backend_path));
  return choose_among(
      world, draft, probe_backends(launcher, {.sandbox = draft.plan.sandbox, .interrupt = world.interrupt}), verbosity);
}

Result<Done> choose_among(Surroundings& world, PlanDraft& draft, const std::vector<BackendInfo>& backends,
                          Verbosity verbosity) {
  for (const BackendInfo& backend : backends) {
    const bool reads_all =
        std::ranges::all_of(draft.models, [&](const std::string& model) { return reads_model(backend, model); });
    if (reads_all) draft.backends.push_back(backend.name);
  }
  if (look_at_interrupts(world.interrupt) != 0) return worker_error("interrupted: nothing was measured");
  const std::string models = printable(fmt::format("{}", fmt::join(draft.models, ", ")), 200);
  const auto unknown = std::ranges::find_if(draft.models, is_unknown);
  if (draft.backends.empty()) {
    if (unknown != draft.models.end()) return unknown_model(*unknown);
    return usage_error(fmt::format(
        "no back end here reads {}: name one with --backend; `infermeter backends` shows what each reads", models));
  }
  const bool is_workload = std::ranges::any_of(backends, [&](const BackendInfo& backend) {
    return unknown != draft.models.end() && reads(backend, "workload:" + *unknown);
  });
  if (verbosity != Verbosity::quiet && (unknown == draft.models.end() || is_workload)) {
    world.err << fmt::format("{}: measured on {}, which read it (--backend names others)\n", models,
                             fmt::join(draft.backends, ", "));
  }
  return Done{};
}

}  // namespace infermeter
