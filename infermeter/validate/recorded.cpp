#include "infermeter/validate/recorded.hpp"

#include <fmt/format.h>

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "infermeter/data/make_data.hpp"
#include "infermeter/fidelity/compare_outputs.hpp"
#include "infermeter/plan/subject.hpp"
#include "infermeter/run/begin.hpp"
#include "infermeter/run/check.hpp"
#include "infermeter/run/trial_failure.hpp"
#include "infermeter/run/trial_job.hpp"
#include "infermeter/validate/test_data_folders.hpp"

namespace infermeter {
namespace {

TrialJob recorded_job(const Subject& subject, const ModelFacts& model, const Plan& plan) {
  TrialJob job = outputs_job(plan, subject, model);
  job.subject.batch_size = 0;  // the recorded inputs say how many
  return job;
}

Tolerance tolerance_of(const AskedTolerance& asked, const Samples& trial, const Value& recorded) {
  const Tolerance tolerance = recorded_tolerance(trial.executed_value("dtype"), recorded);
  return {.relative = asked.relative.value_or(tolerance.relative),
          .absolute = asked.absolute.value_or(tolerance.absolute)};
}

Error no_recorded_outputs(const std::string& folder) {
  return usage_error(fmt::format("{} contains no recorded outputs (output_0.pb, …) to compare with", folder));
}

Result<OutputComparison> compare_with_recorded(const AskedTolerance& asked, const TrialResult& result,
                                               const DataItem& item) {
  std::vector<std::string> names;
  std::vector<Tolerance> tolerances;
  ItemValues recorded;
  for (const auto& [name, value] : item.expected) {
    names.push_back(name);
    recorded.push_back(value);
    tolerances.push_back(tolerance_of(asked, result.samples, value));
  }
  if (recorded.empty()) {
    return no_recorded_outputs(item.name);
  }
  // Recorded sets may leave out a model's last outputs.
  ItemValues got = result.output_values.front();
  if (got.size() > recorded.size()) got.resize(recorded.size());
  return compare_outputs(names, std::span(&recorded, 1), std::span(&got, 1), tolerances);
}

Result<RecordedSet> validate_set(const RunContext& context, const AskedTolerance& asked, const TrialJob& job,
                                 const std::string& folder) {
  const OpenPictures refuse_pictures = [&folder]() -> ReadPicture {
    return [&folder](const std::string&, std::size_t, std::size_t) -> Result<Image> {
      return no_recorded_outputs(folder);
    };
  };
  const DataOptions data{.source = folder, .interrupt = context.interrupt, .open_pictures = refuse_pictures};
  const TrialHooks hooks{.data = [&](std::span<const Port> inputs) { return make_data(data, inputs); },
                         .on_progress = {},
                         .interrupt = context.interrupt};
  const TrialResult result = run_trial(context.launcher, job, hooks);
  if (result.launcher_error) return *result.launcher_error;
  if (result.samples.end != TrialEnd::ok) return trial_failure(result.samples, job.subject.label);
  if (result.output_values.empty()) return internal_error("the worker ended well and gave no outputs");
  // Read again: what the recorded outputs are is known only now that the model has been loaded.
  INFERMETER_TRY(const DataSet set, make_data(data, result.inputs, result.outputs));
  INFERMETER_TRY(auto comparison, compare_with_recorded(asked, result, set.items.front()));
  return RecordedSet{.folder = folder, .outputs = std::move(comparison)};
}

}  // namespace

Result<RecordedValidation> validate_recorded(const Plan& plan, const AskedTolerance& tolerance,
                                             const RunContext& context) {
  if (plan.subjects.size() != 1 || !plan.data.labels.empty()) {
    return usage_error("recorded outputs are for one subject, which takes no labels");
  }
  INFERMETER_TRY(const auto folders, test_data_folders(plan.data.source));
  Plan first = plan;
  first.data.source = folders.front();
  INFERMETER_TRY(const auto models, resolve_models(first, context, check_run(first, context, {.is_timed = false})));
  Subject subject = plan.subjects.front();
  subject.label = short_form(subject);
  const TrialJob job = recorded_job(subject, models.front(), plan);
  RecordedValidation validation;
  for (const std::string& folder : folders) {
    INFERMETER_TRY(auto set, validate_set(context, tolerance, job, folder));
    validation.sets.push_back(std::move(set));
  }
  return validation;
}

}  // namespace infermeter
