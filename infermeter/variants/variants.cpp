#include "infermeter/variants/variants.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <set>

#include "infermeter/plan/quantity.hpp"
#include "infermeter/text/nearest.hpp"
#include "infermeter/variants/kinds.hpp"

namespace infermeter {
namespace {

constexpr std::array<std::string_view, 2> kUsualBackends = {"onnxruntime", "openvino"};
constexpr std::array<std::string_view, 3> kQuantisations = {"static", "dynamic", "nncf"};
constexpr std::array<std::string_view, 2> kPrunedHow = {"unstructured", "structured"};
constexpr std::array<std::string_view, 4> kGraphLevels = {"none", "basic", "extended", "all"};
constexpr std::array<std::string_view, 6> kAllPhases = {"eager",   "channels_last", "autocast",
                                                        "compile", "dynamic_int8",  "stacked"};
constexpr std::string_view kGraphOption = "graph_optimization";
constexpr std::size_t kMostVariants = 1000;

template <class Names>
Result<Done> check_words(const std::vector<std::string>& words, const Names& known, std::string_view flag) {
  for (const std::string& word : words) {
    if (contains(known, word)) continue;
    const auto near = nearest_name(word, std::vector<std::string>(known.begin(), known.end()));
    return usage_error(fmt::format("{}: there is no '{}'{}; it can be: {}", flag, word.substr(0, 100),
                                   near ? fmt::format(" (did you mean '{}'?)", *near) : "", fmt::join(known, ", ")));
  }
  return Done{};
}

Result<Done> check_share(double share) {
  if (share > 0 && share < 1) return Done{};
  return usage_error(fmt::format("a share of {:g} cannot be pruned: above 0 and below 1 (--prune 0.5)", share));
}

Result<Done> check_variants(const VariantsRequest& request) {
  INFERMETER_TRY_DONE(check_words(request.precisions, kPrecisions, "--precisions"));
  INFERMETER_TRY_DONE(check_words(request.quantisations, kQuantisations, "--quantise"));
  INFERMETER_TRY_DONE(check_words(request.graph_levels, kGraphLevels, "--graph-opt"));
  INFERMETER_TRY_DONE(check_words(request.pruned_how, kPrunedHow, "--prune-how"));
  for (const double share : request.pruned_shares) INFERMETER_TRY_DONE(check_share(share));
  if (request.calibration_items >= 1) return Done{};
  return usage_error(fmt::format("--calibration-items: {} items cannot be: at least 1", request.calibration_items));
}

bool has_option(const BackendInfo& backend, std::string_view key) {
  return std::ranges::any_of(backend.options, [&](const BackendOption& option) { return option.key == key; });
}

// Graph levels and thread counts of a kind.
struct Factors {
  std::vector<std::string> levels;  // "": the back end's own
  std::vector<int> threads;
};

Factors factors_of(const VariantsRequest& request, const PlanDraft& draft, const BackendInfo& backend,
                   std::vector<std::string>& notes) {
  Factors factors{.levels = request.graph_levels, .threads = draft.threads};
  if (factors.threads.empty()) factors.threads = {draft.defaults.threads};
  if (!factors.levels.empty() && !has_option(backend, kGraphOption)) {
    notes.push_back(
        fmt::format("{} has no levels of graph optimisation: --graph-opt does not apply to it", backend.name));
    factors.levels.clear();
  }
  if (factors.levels.empty()) factors.levels = {""};
  return factors;
}

class Lister {
 public:
  Lister(const PlanDraft& draft, bool many_backends) : draft_(draft), many_backends_(many_backends) {}

  void add(const Kind& kind, const BackendInfo& backend, const Factors& factors, const std::string& model) {
    for (const std::string& level : factors.levels) {
      for (const int threads : factors.threads) {
        Variant variant{.label = kind.name, .kind = kind.name};
        variant.subject = draft_.defaults;
        variant.subject.backend = backend.name;
        variant.subject.dtype = kind.dtype;
        variant.subject.threads = threads;
        for (const auto& [key, value] : kind.options) set_pair(variant.subject.options, key, value);
        if (many_backends_) variant.label += "@" + backend.name;
        if (!level.empty()) set_pair(variant.subject.options, std::string(kGraphOption), level);
        if (factors.levels.size() > 1) variant.label += ",graph=" + level;
        if (factors.threads.size() > 1) variant.label += fmt::format(",threads={}", threads);
        variant.making = kind.making;
        variant.saving = kind.saving;
        variant.refusal = kind.refusal;
        if (!kind.making) variant.model = model;
        variants.push_back(std::move(variant));
      }
    }
  }

  std::vector<Variant> variants;

 private:
  const PlanDraft& draft_;
  bool many_backends_;
};

std::string why_unusable(const BackendInfo& backend, std::string_view format) {
  if (!backend.error.empty()) return fmt::format("back end {} cannot be used: {}", backend.name, backend.error);
  return fmt::format("back end {} does not read this model ({}), but {}", backend.name, format,
                     fmt::join(backend.model_formats, ", "));
}

bool is_usable(const BackendInfo& backend, const ModelFacts& model) {
  return backend.error.empty() &&
         (reads(backend, model.format) || (model.from_zoo && contains(backend.model_formats, "zoo")));
}

Result<VariantList> finished(VariantList list) {
  // A baseline that cannot be measured is none.
  const auto first = std::ranges::find_if(list.variants, [](const Variant& v) { return v.refusal.empty(); });
  if (first == list.variants.end()) {
    return usage_error(fmt::format("nothing of {} could be measured: {}", list.model,
                                   list.variants.empty() ? "no back end reads it" : list.variants.front().refusal));
  }
  std::rotate(list.variants.begin(), first, first + 1);
  if (list.variants.size() <= kMostVariants) return list;
  return usage_error(fmt::format("{} variants are more than the {} that can be measured at once", list.variants.size(),
                                 kMostVariants));
}

}  // namespace

std::span<const std::string_view> usual_backends() { return kUsualBackends; }
std::span<const std::string_view> all_phases() { return kAllPhases; }

std::vector<std::string> backends_of(const VariantsRequest& request, std::span<const std::string> found) {
  if (!request.backends.empty()) return request.backends;
  std::vector<std::string> names;
  if (!request.phases.empty()) return {std::string(kFramework)};
  for (const std::string_view name : kUsualBackends)
    if (contains(found, name)) names.emplace_back(name);
  return names;
}

Result<VariantList> list_variants(const VariantsRequest& request, const PlanDraft& draft, const ModelFacts& model,
                                  std::span<const BackendInfo> backends) {
  INFERMETER_TRY_DONE(check_variants(request));
  auto phases = std::vector<std::string>(kAllPhases.begin(), kAllPhases.end());
  phases.insert(phases.end(), {"phase1", "tensorrt"});
  INFERMETER_TRY_DONE(check_words(request.phases, phases, "--phases"));
  VariantList list{.model = model.name};
  Lister lister(draft, backends.size() > 1);
  // As it was given, on the first back end: what everything is compared with.
  VariantsRequest with_baseline = request;
  auto& precisions = with_baseline.precisions;
  if (!precisions.empty()) precisions.insert(precisions.begin(), "float32");
  for (const BackendInfo& backend : backends) {
    if (!is_usable(backend, model)) {
      if (!request.backends.empty() || !backend.error.empty())
        list.notes.push_back(why_unusable(backend, model.format));
      continue;
    }
    if (!request.phases.empty() && backend.name != kFramework) {
      list.notes.push_back(fmt::format("--phases are of {}: they do not apply to {}", kFramework, backend.name));
    }
    INFERMETER_TRY(const auto kinds, kinds_of(with_baseline, backend, model.format));
    const Factors factors = factors_of(request, draft, backend, list.notes);
    for (const Kind& kind : kinds) lister.add(kind, backend, factors, model.name);
    if (!request.student.empty()) {
      Kind kind{.name = "distilled"};
      if (backend.name == kFramework) kind.saving = module_file({}, kind.name);
      lister.add(kind, backend, factors, request.student);
    }
  }
  if (lister.variants.empty() && !list.notes.empty()) return usage_error(list.notes.front());
  list.variants = std::move(lister.variants);
  return finished(std::move(list));
}

Result<double> pruned_share_from_string(std::string_view text) {
  INFERMETER_TRY(const double share, share_from_string(text));
  INFERMETER_TRY_DONE(check_share(share));
  return share;
}

Result<std::pair<std::string, std::string>> named_model_from_string(std::string_view text) {
  const std::size_t colon = text.find(':');
  if (colon != std::string_view::npos && colon > 0 && colon + 1 < text.size()) {
    return std::pair(std::string(text.substr(0, colon)), std::string(text.substr(colon + 1)));
  }
  return usage_error(fmt::format("--models: '{}' is not a NAME:PATH, such as original:model.onnx,quantized:small.onnx",
                                 text.substr(0, 200)));
}

namespace {

// By default one that reads all of the files, so that like is compared with like; empty: there is none.
std::string common_backend(std::span<const ModelFacts> facts, std::span<const BackendInfo> backends) {
  for (const BackendInfo& backend : backends) {
    if (std::ranges::all_of(facts, [&](const ModelFacts& model) { return reads_by_itself(backend, model); }))
      return backend.name;
  }
  return "";
}

}  // namespace

Result<VariantList> list_named_variants(const VariantsRequest& request, const PlanDraft& draft,
                                        std::span<const ModelFacts> facts, std::span<const BackendInfo> backends) {
  INFERMETER_TRY_DONE(check_variants(request));
  VariantList list;
  Lister lister(draft, request.backends.size() > 1);
  std::set<std::string> labels;
  const std::string common = request.backends.empty() ? common_backend(facts, backends) : "";
  for (std::size_t i = 0; i < facts.size(); ++i) {
    INFERMETER_TRY(const auto named, named_model_from_string(request.models[i]));
    if (!labels.insert(named.first).second) {
      return usage_error(fmt::format("--models: two of them are called '{}'", named.first.substr(0, 100)));
    }
    if (i == 0) list.model = named.first;
    bool is_read = false;
    for (const BackendInfo& backend : backends) {
      if (!common.empty() && backend.name != common) continue;
      // Else the first one that reads it, and none that takes whatever it is given.
      if (request.backends.empty() && (is_read || !reads_by_itself(backend, facts[i]))) continue;
      if (!is_usable(backend, facts[i])) continue;
      is_read = true;
      lister.add({.name = named.first}, backend, factors_of(request, draft, backend, list.notes), named.second);
    }
    if (is_read) continue;
    Variant variant{.label = named.first, .kind = named.first};
    variant.refusal = fmt::format("no back end here reads it ({}); --backends names others", facts[i].format);
    lister.variants.push_back(std::move(variant));
  }
  std::ranges::sort(list.notes);
  list.notes.erase(std::unique(list.notes.begin(), list.notes.end()), list.notes.end());
  list.variants = std::move(lister.variants);
  return finished(std::move(list));
}

Result<VariantsPlan> plan_variants(const VariantList& list, const PlanDraft& draft) {
  VariantsPlan planned{.plan = draft.plan, .set = {.model = list.model}};
  planned.set.batch_sizes = draft.batch_sizes.empty() ? std::vector{draft.defaults.batch_size} : draft.batch_sizes;
  planned.set.notes = list.notes;
  const auto& sizes = planned.set.batch_sizes;
  for (const Variant& variant : list.variants) {
    VariantEntry entry{.label = variant.label, .kind = variant.kind, .refusal = variant.refusal};
    entry.subjects.resize(sizes.size());
    planned.set.entries.push_back(std::move(entry));
  }
  planned.plan.automatic.processes = false;  // as many of each as plans have
  planned.plan.limits = limits_of(draft);
  planned.plan.subjects.clear();
  for (std::size_t size = 0; size < sizes.size(); ++size) {
    for (std::size_t i = 0; i < list.variants.size(); ++i) {
      const Variant& variant = list.variants[i];
      if (!variant.refusal.empty()) continue;
      Subject subject = variant.subject;
      subject.model = variant.model;
      subject.batch_size = sizes[size];
      subject.group = static_cast<int>(size);
      subject.label = variant.label;
      if (sizes.size() > 1) subject.label += fmt::format(",batch={}", sizes[size]);
      planned.set.entries[i].subjects[size] = static_cast<int>(planned.plan.subjects.size());
      planned.plan.subjects.push_back(std::move(subject));
    }
  }
  order_trials(planned.plan);
  INFERMETER_TRY_DONE(check_plan(planned.plan));
  return planned;
}

}  // namespace infermeter
