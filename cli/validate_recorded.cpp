#include "cli/validate_recorded.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "cli/flags/list_format.hpp"
#include "cli/flags/test_data_folders.hpp"
#include "infermeter/data/make_data.hpp"
#include "infermeter/fidelity/compare_outputs.hpp"
#include "infermeter/models/resolve.hpp"
#include "infermeter/plan/subject.hpp"
#include "infermeter/report/report.hpp"
#include "infermeter/run/check.hpp"
#include "infermeter/run/trial_job.hpp"
#include "infermeter/text/quoted.hpp"

namespace infermeter {
namespace {

// That of ONNX's own test runner, of the output's largest value instead of each element, so that elements near 0 of a
// large output do not fail for rounding (fidelity/compare_outputs.hpp). Its atol of 1e-7 would pass any small output.
constexpr double kUsualRelative = 1e-3;

struct DataSetResult {
  std::string folder;
  OutputComparison comparison;
};

TrialJob make_job(const Subject& subject, const ModelFacts& model, const Plan& plan) {
  TrialJob job = outputs_job(plan, subject, model);
  job.subject.batch_size = 0;  // the recorded inputs say how many
  return job;
}

// Integers, truth values and texts must be equal.
bool is_approximate(const Value& value) {
  if (value.kind == Value::Kind::sequence) return std::ranges::any_of(value.elements, is_approximate);
  return value.kind == Value::Kind::tensor && default_tolerance("", value.tensor.dtype).relative > 0;
}

Tolerance tolerance_of(const AskedTolerance& asked, const Samples& trial, const Value& recorded) {
  Tolerance tolerance{.relative = is_approximate(recorded) ? kUsualRelative : 0};
  if (recorded.kind == Value::Kind::tensor) {
    const Tolerance precision = default_tolerance(trial.executed_value("dtype"), recorded.tensor.dtype);
    tolerance.relative = std::max(tolerance.relative, precision.relative);
    tolerance.absolute = precision.floor;
  }
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

Result<DataSetResult> validate_one(Surroundings& world, const AskedTolerance& asked, const TrialJob& job,
                                   const Launcher& launcher, const std::string& folder) {
  const OpenPictures refuse_pictures = [&folder]() -> ReadPicture {
    return [&folder](const std::string&, std::size_t, std::size_t) -> Result<Image> {
      return no_recorded_outputs(folder);
    };
  };
  const DataOptions data{.source = folder, .interrupt = world.interrupt, .open_pictures = refuse_pictures};
  const TrialHooks hooks{.data = [&](std::span<const Port> inputs) { return make_data(data, inputs); },
                         .on_progress = {},
                         .interrupt = world.interrupt};
  const TrialResult result = run_trial(launcher, job, hooks);
  if (result.launcher_error) return *result.launcher_error;
  if (result.samples.end != TrialEnd::ok) return trial_failure(result.samples, job.subject.label);
  if (result.output_values.empty()) return internal_error("the worker ended well and gave no outputs");
  // Read again: what the recorded outputs are is known only now that the model has been loaded.
  INFERMETER_TRY(const DataSet set, make_data(data, result.inputs, result.outputs));
  INFERMETER_TRY(auto comparison, compare_with_recorded(asked, result, set.items.front()));
  return DataSetResult{.folder = folder, .comparison = std::move(comparison)};
}

std::string line_of(const OutputDifference& output) {
  std::string line = fmt::format("  {}  {} {}  ", printable(output.name), output.dtype, to_string(output.shape));
  if (!output.comparable) return line + "not comparable: " + printable(output.reason) + "\n";
  line +=
      output.within_tolerance ? "agrees" : fmt::format("differs in {} of {}", output.mismatched, output.element_count);
  if (output.max_absolute) line += fmt::format(", largest difference {:.3g}", *output.max_absolute);
  if (!output.within_tolerance && output.max_absolute) {
    line += fmt::format(" at {} (recorded {:.6g}, got {:.6g})",
                        place_text(output.max_absolute_index, output.shape, output.dtype), output.reference_at_max,
                        output.candidate_at_max);
  }
  if (output.relative_l2) line += fmt::format(", relative L2 {:.3g}", *output.relative_l2);
  return line + "\n";
}

std::string recorded_text(std::span<const DataSetResult> results) {
  std::string text;
  for (const DataSetResult& result : results) {
    text += fmt::format("{}: {}\n", printable(result.folder), result.comparison.agree ? "agrees" : "DIFFERS");
    for (const OutputDifference& output : result.comparison.outputs) text += line_of(output);
    for (const Diagnostic& diagnostic : result.comparison.diagnostics) {
      text += fmt::format("  {}: {}\n", to_string(diagnostic.id), printable(diagnostic.message));
    }
  }
  return text;
}

nlohmann::ordered_json recorded_json(const OutputDifference& output) {
  const auto or_null = [](const std::optional<double>& value) {
    return value ? nlohmann::ordered_json(*value) : nlohmann::ordered_json(nullptr);
  };
  return {{"name", output.name},
          {"dtype", output.dtype},
          {"shape", output.shape},
          {"agrees", output.comparable && output.within_tolerance},
          {"reason", output.reason},
          {"elements", output.element_count},
          {"mismatched", output.mismatched},
          {"max_absolute", or_null(output.max_absolute)},
          {"relative_l2", or_null(output.relative_l2)},
          {"cosine", or_null(output.cosine)},
          {"rtol", output.tolerance.relative},
          {"atol", output.tolerance.absolute}};
}

nlohmann::ordered_json recorded_json(std::span<const DataSetResult> results) {
  auto json = nlohmann::ordered_json::array();
  for (const DataSetResult& result : results) {
    auto outputs = nlohmann::ordered_json::array();
    for (const OutputDifference& output : result.comparison.outputs) outputs.push_back(recorded_json(output));
    json.push_back({{"data", result.folder}, {"agree", result.comparison.agree}, {"outputs", std::move(outputs)}});
  }
  return json;
}

}  // namespace

Result<int> validate_recorded(Surroundings& world, const Plan& plan, const AskedTolerance& tolerance,
                              const Launcher& launcher, bool json) {
  INFERMETER_TRY(const auto folders, test_data_folders(plan.data.source));
  Subject subject = plan.subjects.front();
  subject.label = short_form(subject);
  Plan first = plan;
  first.data.source = folders.front();
  const RunCheck check = check_run(first, {.launcher = launcher, .cache = default_cache()}, {.is_timed = false});
  INFERMETER_TRY_DONE(check.problems.result());
  INFERMETER_TRY(const ModelFacts model,
                 resolve_model(subject.model, default_cache(), {.allow_code = plan.allow_code}));
  std::vector<DataSetResult> results;
  for (const std::string& folder : folders) {
    INFERMETER_TRY(auto result, validate_one(world, tolerance, make_job(subject, model, plan), launcher, folder));
    results.push_back(std::move(result));
  }
  world.out << (json ? json_text(recorded_json(results)) : recorded_text(results));
  return std::ranges::all_of(results, [](const DataSetResult& r) { return r.comparison.agree; }) ? 0 : 1;
}

}  // namespace infermeter
