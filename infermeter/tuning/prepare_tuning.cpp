#include "infermeter/tuning/prepare_tuning.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include "infermeter/diagnostics/interrupt.hpp"
#include "infermeter/models/resolve.hpp"
#include "infermeter/plan/quantity.hpp"
#include "infermeter/plan/setting.hpp"
#include "infermeter/plan/tuning/space.hpp"
#include "infermeter/run/check.hpp"
#include "infermeter/run/choose_backends.hpp"
#include "infermeter/run/run.hpp"
#include "infermeter/text/counts.hpp"
#include "infermeter/trial/machine/peaks.hpp"
#include "infermeter/variants/variants.hpp"
#include "infermeter/verdict/tuning/bounds.hpp"

namespace infermeter {
namespace {

Error was_interrupted() { return worker_error("interrupted: nothing was measured"); }

Result<Tuning> tuning_of(const TuningRequest& request, const PlanDraft& draft) {
  Tuning tuning;
  const auto named = [](std::string_view flag, const Error& error) {
    return usage_error(fmt::format("{}: {}", flag, error.message));
  };
  auto objective = objective_from_string(request.objective);
  if (!objective.ok()) return named("--objective", objective.error());
  tuning.objective = std::move(*objective);
  const auto indifference = share_from_string(request.indifference);
  if (!indifference.ok()) return named("--indifference", indifference.error());
  tuning.indifference = *indifference;
  tuning.alpha = draft.question.alpha;
  tuning.budget_s = draft.question.budget_s.value_or(tuning.budget_s);
  tuning.constraints = request.constraints;
  INFERMETER_TRY_DONE(bounds_of(tuning));
  return tuning;
}

// The model, and what MODEL@BACKEND,key=value says besides; what the draft's sources say of every subject.
Result<SubjectDraft> base_of(const TuningRequest& request, const PlanDraft& draft) {
  SubjectDraft base;
  std::error_code error;
  if (request.model.find('@') != std::string::npos && !std::filesystem::exists(request.model, error)) {
    INFERMETER_TRY(base, subject_draft_from_string(request.model));
  } else {
    base.model = request.model;
  }
  if (!base.batch_size && !draft.batch_sizes.empty()) base.batch_size = draft.batch_sizes.front();
  if (!base.dtype && !draft.dtypes.empty()) base.dtype = draft.dtypes.front();
  if (!base.threads && !draft.threads.empty()) base.threads = draft.threads.front();
  return base;
}

std::vector<TunableBackend> tunable(const std::vector<BackendInfo>& backends, const std::vector<std::string>& names) {
  std::vector<TunableBackend> found;
  for (const std::string& name : names) {
    const auto info = std::ranges::find(backends, name, &BackendInfo::name);
    TunableBackend one{.name = name, .options = {}};
    if (info != backends.end()) {
      for (const BackendOption& option : info->options) one.options.emplace_back(option.key, option.values);
    }
    found.push_back(std::move(one));
  }
  return found;
}

const TunedKey* key_of(const std::vector<TunedKey>& keys, std::string_view key) {
  const auto found = std::ranges::find(keys, key, &TunedKey::key);
  return found == keys.end() ? nullptr : &*found;
}

std::vector<std::string> models_of(const std::vector<TunedKey>& keys, const SubjectDraft& base) {
  const TunedKey* models = key_of(keys, "model");
  return models == nullptr ? std::vector{base.model} : models->values;
}

// Those named, or all that read the model, which is said.
Result<std::vector<TunableBackend>> backends_of(const TuningContext& context, const SubjectDraft& base,
                                                const std::vector<TunedKey>& keys, const PlanDraft& draft) {
  const ProbeOptions probing{.sandbox = draft.plan.sandbox, .interrupt = context.interrupt, .cache = context.cache};
  std::vector<std::string> names;
  if (!base.backend.empty()) names = {base.backend};
  if (const TunedKey* named = key_of(keys, "backend")) names = named->values;
  if (!names.empty()) return tunable(probe_backends(context.launcher, names, probing), names);
  const std::vector<BackendInfo> found = probe_backends(context.launcher, probing);
  if (look_at_interrupts(context.interrupt) != 0) return was_interrupted();
  INFERMETER_TRY(const ChosenBackends chosen, backends_that_read(models_of(keys, base), found));
  if (!chosen.note.empty()) context.on_note(chosen.note);
  return tunable(found, chosen.names);
}

// dtype=int8 takes a form of the model that each back end's own tool makes.
Result<Done> make_int8_forms(const PlanDraft& draft, const std::vector<std::string>& models,
                             const TuningContext& context, std::vector<TunableBackend>& backends,
                             std::map<std::string, ModelFacts>& files) {
  const VariantMakingContext making{
      .launcher = context.launcher, .cache = context.cache, .interrupt = context.interrupt, .on_note = context.on_note};
  for (TunableBackend& backend : backends) {
    for (const std::string& model : models) {
      INFERMETER_TRY(MadeInt8 made, make_int8(model, backend.name, draft, making, context.makes_files));
      if (look_at_interrupts(context.interrupt) != 0) return was_interrupted();
      backend.int8.emplace(model, std::move(made.form));
      files.merge(made.files);
    }
  }
  return Done{};
}

// Its outputs are never those of float32: settings of it would be made, and left out.
Result<Done> check_int8(const Tuning& tuning) {
  INFERMETER_TRY(const std::vector<Expectation> bounds, bounds_of(tuning));
  if (!judges_outputs(bounds)) return Done{};
  return usage_error(
      "--over dtype=int8: int8 answers differ from float32's; say how far they may: --subject-to 'cosine >= 0.99', or "
      "'accuracy_drop <= 0.01' with --labels");
}

struct Space {
  TuningSpace settings;
  std::map<std::string, ModelFacts> made{};  // files of settings
};

Result<Space> space_of(const TuningRequest& request, const TuningContext& context, PlanDraft& draft,
                       const Tuning& tuning) {
  INFERMETER_TRY(std::vector<TunedKey> keys, tuned_keys(request.over));
  INFERMETER_TRY(const SubjectDraft base, base_of(request, draft));
  if (wants_int8(keys)) INFERMETER_TRY_DONE(check_int8(tuning));
  INFERMETER_TRY(std::vector<TunableBackend> backends, backends_of(context, base, keys, draft));
  std::vector<std::string> names;
  for (const TunableBackend& backend : backends) names.push_back(backend.name);
  if (keys.empty()) {
    const auto processors = draft.plan.cpus.empty() ? processors_by_core().size() : draft.plan.cpus.size();
    Space space{.settings = single_changes(base, backends, static_cast<int>(processors))};
    context.on_note(fmt::format(
        "{} settings: {} as {}, with fewer threads, and with one option changed to each value of its list (--over "
        "names others)",
        space.settings.settings.size(), fmt::join(names, ", "), names.size() == 1 ? "it is" : "they are"));
    return space;
  }
  if (key_of(keys, "backend") == nullptr) keys.insert(keys.begin(), {.key = "backend", .values = names});
  if (!draft.plan.seed) draft.plan.seed = drawn_seed();
  Space space;
  if (wants_int8(keys)) {
    PlanDraft making = draft;
    set_pairs(making.defaults, base);
    INFERMETER_TRY_DONE(make_int8_forms(making, models_of(keys, base), context, backends, space.made));
  }
  INFERMETER_TRY(space.settings, combinations(base, keys, backends, *draft.plan.seed));
  return space;
}

// Blocks of the plan: those that halve the field where it was drawn, those of the race, those that confirm.
void set_blocks(Plan& plan, std::uint64_t all) {
  Tuning& tuning = *plan.tuning;
  constexpr int halving = 1 + 2 + 4;
  tuning.settings = all;
  tuning.halving_blocks = all > plan.subjects.size() + tuning.left_out.size() ? halving : 0;
  plan.repeat_disturbed = plan.profiling.processes = 0;
  plan.leak_iterations = 0;
  plan.processes = tuning.halving_blocks + tuning.race_blocks + tuning.confirmation_pairs;
  order_trials(plan);
}

Result<Plan> plan_of_settings(const PlanDraft& draft, const std::vector<SubjectDraft>& settings) {
  PlanDraft one_by_one = draft;
  one_by_one.models.clear();
  one_by_one.backends.clear();
  one_by_one.batch_sizes.clear();
  one_by_one.dtypes.clear();
  one_by_one.threads.clear();
  one_by_one.subjects = settings;
  return make_plan(one_by_one);
}

Error nothing_to_race(const std::vector<SubjectDraft>& left, const Plan& plan, const Pairs& left_out) {
  std::string text = left.empty() ? "no setting can be measured here"
                                  : fmt::format(
                                        "a race needs at least two settings, and only '{}' can be measured: "
                                        "name more values (--over)",
                                        plan.subjects.front().label);
  for (const auto& [setting, reason] : left_out) text += fmt::format("\n- left out: {}: {}", setting, reason);
  return usage_error(std::move(text));
}

// What is wrong with every setting is wrong with what they have in common.
bool is_of_all(const std::vector<std::string>& refusals) {
  return !refusals.empty() && !refusals.front().empty() &&
         std::ranges::all_of(refusals, [&](const std::string& refusal) { return refusal == refusals.front(); });
}

// Without what this machine, or a back end, cannot do. `problems`: what is known to be wrong besides.
Result<PreparedTuning> raced_plan(const PlanDraft& draft, const TuningSpace& space, const Tuning& tuning,
                                  const TuningContext& context, const Problems& problems) {
  INFERMETER_TRY(Plan plan, plan_of_settings(draft, space.settings));
  RunCheck check =
      check_run(plan, {.launcher = context.launcher, .cache = context.cache, .interrupt = context.interrupt},
                {.by_subject = true});
  if (is_of_all(check.refusals)) check.problems.add(usage_error(check.refusals.front()));
  check.problems.add_all(problems);
  INFERMETER_TRY_DONE(check.problems.result());
  std::vector<SubjectDraft> settings;
  Pairs left_out = space.left_out;
  for (std::size_t i = 0; i < space.settings.size(); ++i) {
    if (check.refusals[i].empty()) {
      settings.push_back(space.settings[i]);
    } else {
      left_out.emplace_back(plan.subjects[i].label, check.refusals[i]);
    }
  }
  if (settings.size() < 2) return nothing_to_race(settings, plan, left_out);
  INFERMETER_TRY(plan, plan_of_settings(draft, settings));
  plan.tuning = tuning;
  plan.tuning->left_out = std::move(left_out);
  set_blocks(plan, space.all);
  INFERMETER_TRY_DONE(check_plan(plan));
  INFERMETER_TRY_DONE(check_objective(plan));
  return PreparedTuning{std::move(plan), std::move(check.models)};
}

}  // namespace

Result<PreparedTuning> prepare_tuning(const TuningRequest& request, PlanDraft draft, const TuningContext& given,
                                      const Problems& problems) {
  TuningContext context = given;
  if (!context.on_note) context.on_note = [](const std::string&) {};
  if (!request.budget.empty()) {
    const auto set = apply_setting(*find_setting("budget"), draft, std::vector{request.budget});
    if (!set.ok()) return usage_error("--budget: " + set.error().message);
  }
  INFERMETER_TRY_DONE(use_fixed_processes(draft));
  INFERMETER_TRY(const Tuning tuning, tuning_of(request, draft));
  INFERMETER_TRY(Space space, space_of(request, context, draft, tuning));
  INFERMETER_TRY(PreparedTuning prepared, raced_plan(draft, space.settings, tuning, context, problems));
  for (auto& [file, facts] : space.made) prepared.models.insert_or_assign(file, std::move(facts));
  return prepared;
}

}  // namespace infermeter
