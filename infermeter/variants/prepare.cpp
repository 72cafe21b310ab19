#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "infermeter/models/resolve.hpp"
#include "infermeter/plan/subject.hpp"
#include "infermeter/text/nearest.hpp"
#include "infermeter/text/quoted.hpp"
#include "infermeter/variants/kinds.hpp"
#include "infermeter/variants/variants.hpp"

namespace infermeter {
namespace {

constexpr std::string_view kTensorRt = "tensorrt";

// MODEL@BACKEND[,key=value…], unless that is the name of a file.
Result<Done> take_backend_of_model(VariantsRequest& request, PlanDraft& draft) {
  std::error_code error;
  if (request.model.find('@') == std::string::npos || std::filesystem::exists(request.model, error)) return Done{};
  INFERMETER_TRY(const SubjectDraft subject, subject_draft_from_string(request.model));
  if (!request.backends.empty()) {
    return usage_error(
        fmt::format("{} names a back end, and so does --backends: say it once", request.model.substr(0, 200)));
  }
  if (!subject.label.empty() || subject.batch_size || subject.dtype || subject.threads || subject.group) {
    return usage_error(
        fmt::format("{}: of a model's variants only the back end and its options are said there; batch "
                    "sizes, precisions and threads are flags",
                    request.model.substr(0, 200)));
  }
  request.model = subject.model;
  request.backends = {subject.backend};
  if (subject.device) draft.defaults.device = *subject.device;
  if (subject.backend_library) draft.defaults.backend_library = *subject.backend_library;
  set_pairs(draft.defaults, subject);
  return Done{};
}

Result<Done> check_backends(const std::vector<std::string>& wanted, const std::vector<std::string>& found) {
  if (wanted.empty()) {
    return usage_error(fmt::format("neither {} is found: `infermeter backends` shows which back ends there are",
                                   fmt::join(usual_backends(), " nor ")));
  }
  for (const std::string& name : wanted) {
    if (std::ranges::find(found, name) != found.end()) continue;
    if (name == kTensorRt) {
      return usage_error(
          "there is no back end tensorrt: it needs an NVIDIA GPU and TensorRT, which this infermeter has "
          "no plug-in for");
    }
    const auto near = nearest_name(name, found);
    return usage_error(fmt::format("unknown back end '{}'{}; found: {}", name.substr(0, 100),
                                   near ? fmt::format(" (did you mean '{}'?)", *near) : "", fmt::join(found, ", ")));
  }
  return Done{};
}

Result<Done> check_exclusive(const VariantsRequest& request) {
  if (request.models.empty() && request.model.empty()) {
    return usage_error("which model? Name one of the zoo, a file or a factory: `infermeter variants resnet50`");
  }
  if (request.models.empty()) return Done{};
  const bool makes = !request.model.empty() || !request.precisions.empty() || !request.quantisations.empty() ||
                     !request.phases.empty() || !request.pruned_shares.empty();
  if (!makes) return Done{};
  return usage_error(
      "--models names files that are measured as they are: leave MODEL, --precisions, --quantise, "
      "--phases and --prune out");
}

bool is_usual(const ModelFacts& model) { return model.from_zoo || model.format == "onnx" || model.format == "xml"; }

// Those that read what nobody would measure by default are asked too, where such files are given.
std::vector<std::string> backends_to_ask(const VariantsRequest& request, const ModelFacts& model,
                                         const std::vector<std::string>& found) {
  const bool are_said = !request.backends.empty() || !request.phases.empty();
  if (are_said || (request.models.empty() && is_usual(model))) return backends_of(request, found);
  std::vector<std::string> names(usual_backends().begin(), usual_backends().end());
  for (const std::string& name : found)
    if (std::ranges::find(names, name) == names.end()) names.push_back(name);
  std::erase_if(names, [&](const std::string& name) { return std::ranges::find(found, name) == found.end(); });
  return names;
}

Result<Done> list_given_models(PreparedVariants& prepared, std::span<const BackendInfo> backends,
                               const std::filesystem::path& cache, const std::atomic<int>* interrupt) {
  std::vector<ModelFacts> facts;
  for (const std::string& text : prepared.request.models) {
    INFERMETER_TRY(const auto named, named_model_from_string(text));
    INFERMETER_TRY(auto one, resolve_model(named.second, cache,
                                           {.allow_code = prepared.draft.plan.allow_code, .interrupt = interrupt}));
    facts.push_back(std::move(one));
  }
  INFERMETER_TRY(prepared.list, list_named_variants(prepared.request, prepared.draft, facts, backends));
  return Done{};
}

// Of the back ends that read a file of no usual format one is measured: the one that has variants of it, else the
// first.
void keep_one(std::vector<BackendInfo>& backends, const ModelFacts& model) {
  std::erase_if(backends, [&](const BackendInfo& backend) { return !reads_by_itself(backend, model); });
  const auto framework = std::ranges::find(backends, kFramework, &BackendInfo::name);
  if (framework != backends.end()) std::iter_swap(backends.begin(), framework);
  if (backends.size() > 1) backends.resize(1);
}

Result<Done> check_code(const VariantsRequest& request, const ModelFacts& model) {
  const bool is_said = !request.backends.empty() || !request.phases.empty();
  if (!is_said && model.format == kFolderFormat)
    return usage_error(fmt::format("{0} is a language model: name the back end that runs it, such as {0}@llama-cpp",
                                   printable(request.model, 200)));
  if (is_said || model.format != "python") return Done{};
  return usage_error(fmt::format("{0} is Python code: name the back end that runs it, such as {0}@pytorch",
                                 printable(request.model, 200)));
}

}  // namespace

Result<PreparedVariants> prepare_variants(VariantsRequest request, PlanDraft draft, const Launcher& launcher,
                                          const std::filesystem::path& cache, const std::atomic<int>* interrupt) {
  INFERMETER_TRY_DONE(check_exclusive(request));
  INFERMETER_TRY_DONE(take_backend_of_model(request, draft));
  PreparedVariants prepared{.request = std::move(request), .draft = std::move(draft)};
  const bool is_one = prepared.request.models.empty();
  if (is_one) {
    INFERMETER_TRY(prepared.model,
                   resolve_model(prepared.request.model, cache,
                                 {.allow_code = prepared.draft.plan.allow_code, .interrupt = interrupt}));
    INFERMETER_TRY_DONE(check_code(prepared.request, prepared.model));
  }
  const std::vector<std::string> found = backend_names(launcher);
  const std::vector<std::string> wanted = backends_to_ask(prepared.request, prepared.model, found);
  INFERMETER_TRY_DONE(check_backends(wanted, found));
  std::vector<BackendInfo> backends;
  for (const std::string& name : wanted) {
    backends.push_back(probe_backend(launcher, name, prepared.draft.defaults.backend_library,
                                     {.sandbox = prepared.draft.plan.sandbox, .interrupt = interrupt, .cache = cache}));
    backends.back().name = name;
  }
  const bool are_said = !prepared.request.backends.empty() || !prepared.request.phases.empty();
  if (is_one && !are_said && !is_usual(prepared.model)) keep_one(backends, prepared.model);
  if (!is_one) {
    INFERMETER_TRY_DONE(list_given_models(prepared, backends, cache, interrupt));
  } else {
    INFERMETER_TRY(prepared.list, list_variants(prepared.request, prepared.draft, prepared.model, backends));
  }
  return prepared;
}

}  // namespace infermeter
