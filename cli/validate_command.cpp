// infermeter validate: a model on recorded inputs, its outputs against the recorded ones.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/check_subjects.hpp"
#include "cli/help.hpp"
#include "cli/list_format.hpp"
#include "cli/plan_flags.hpp"
#include "cli/test_data_folders.hpp"
#include "cli/trial_failure.hpp"
#include "cli/verb.hpp"
#include "infermeter/fidelity/compare_outputs.hpp"
#include "infermeter/models/resolve.hpp"
#include "infermeter/plan/subject.hpp"
#include "infermeter/report/report.hpp"

namespace infermeter {
namespace {

namespace fs = std::filesystem;

// ONNX's own test runner allows rtol 1e-3 and atol 1e-7 per element; ours takes the relative part of the output's
// largest value, so that elements near 0 of a large output do not fail for rounding (fidelity/compare_outputs.hpp).
constexpr Tolerance kUsual{.relative = 1e-3, .absolute = 1e-7};

struct ValidateOptions {
  std::string model;
  SomeFlags flags;
  std::optional<double> relative, absolute;
  ListFormat format;
};

struct DataSetResult {
  std::string folder;
  OutputComparison comparison;
};

HelpText help_text() {
  return {
      .usage = "infermeter validate MODEL --backend NAME --data FOLDER [flags]",
      .about =
          "Runs a model once on recorded inputs, in a worker process, and compares its outputs with the recorded "
          "ones. Prints a line per output; the exit code is 0 if all agree and 1 if not.",
      .examples = {{"infermeter validate model.onnx --backend onnxruntime --data model/test_data_set_0",
                    "One ONNX test data set: input_*.pb and output_*.pb."},
                   {"infermeter validate model.onnx --backend openvino --data model",
                    "All test_data_set_* folders in it."},
                   {"infermeter validate model.onnx --backend openvino --data model --rtol 0.01",
                    "With a wider tolerance."}},
      .notes = {"An element agrees if |got - recorded| <= atol + rtol * largest |recorded| of that output. ONNX's own "
                "runner takes rtol of each single element instead.",
                kExitCodes}};
}

Result<Subject> make_subject(const ValidateOptions& options, const PlanDraft& draft) {
  if (draft.backends.size() != 1) return usage_error("validate runs one back end: give --backend NAME");
  Subject subject = draft.defaults;
  subject.model = options.model;
  subject.backend = draft.backends.front();
  if (draft.dtypes.size() > 1 || draft.threads.size() > 1)
    return usage_error("validate takes one --dtype and --threads");
  if (!draft.dtypes.empty()) subject.dtype = draft.dtypes.front();
  if (!draft.threads.empty()) subject.threads = draft.threads.front();
  subject.label = short_form(subject);
  return subject;
}

TrialJob make_job(const Subject& subject, const ModelFacts& model, const Plan& plan) {
  TrialJob job{.subject = subject,
               .model_path = model.path,
               .zoo_name = model.from_zoo ? model.name : "",
               .stopping = {.warmup = 0, .iterations = 1, .duration_s = {}},
               .limits = plan.limits,
               .sandbox = plan.sandbox,
               .cpus = plan.cpus,
               .seed = plan.seed,
               .time_it = false,
               .keep_outputs = true,
               .readable = {}};
  job.subject.batch_size = 0;  // the recorded inputs say how many
  return job;
}

Tolerance tolerance_of(const ValidateOptions& options, const Samples& trial, const Value& recorded) {
  Tolerance tolerance = kUsual;
  if (recorded.kind == Value::Kind::tensor) {
    const Tolerance precision = default_tolerance(trial.executed_value("dtype"), recorded.tensor.dtype);
    tolerance.relative = std::max(tolerance.relative, precision.relative);
    tolerance.absolute = std::max(tolerance.absolute, precision.absolute);
  }
  return {.relative = options.relative.value_or(tolerance.relative),
          .absolute = options.absolute.value_or(tolerance.absolute)};
}

Result<OutputComparison> compare_with_recorded(const ValidateOptions& options, const TrialResult& result,
                                               const DataItem& item) {
  std::vector<std::string> names;
  std::vector<Tolerance> tolerances;
  ItemValues recorded;
  for (const auto& [name, value] : item.expected) {
    names.push_back(name);
    recorded.push_back(value);
    tolerances.push_back(tolerance_of(options, result.samples, value));
  }
  if (recorded.empty()) {
    return usage_error(fmt::format("{} holds no recorded outputs (output_0.pb, …) to compare with", item.name));
  }
  // Recorded sets may leave out a model's last outputs.
  ItemValues got = result.output_values.front();
  if (got.size() > recorded.size()) got.resize(recorded.size());
  return compare_outputs(names, std::span(&recorded, 1), std::span(&got, 1), tolerances);
}

Result<DataSetResult> validate_one(Surroundings& world, const ValidateOptions& options, const TrialJob& job,
                                   const Launcher& launcher, const std::string& folder) {
  const DataOptions data{.source = folder, .distributions = {}, .batch_size = 1, .limit = 0, .seed = job.seed};
  const TrialHooks hooks{.data = [&](std::span<const Port> inputs) { return make_data(data, inputs); },
                         .on_progress = {},
                         .interrupt = world.interrupt};
  const TrialResult result = run_trial(launcher, job, hooks);
  if (result.samples.end != TrialEnd::ok) return trial_failure(result.samples, job.subject.label);
  if (result.output_values.empty()) return internal_error("the worker ended well and gave no outputs");
  // Read again: what the recorded outputs are is known only now that the model has been loaded.
  INFERMETER_TRY(const DataSet set, make_data(data, result.inputs, result.outputs));
  INFERMETER_TRY(auto comparison, compare_with_recorded(options, result, set.items.front()));
  return DataSetResult{.folder = folder, .comparison = std::move(comparison)};
}

std::string line_of(const OutputDifference& output) {
  std::string line = fmt::format("  {}  {} {}  ", printable(output.name), output.dtype, to_string(output.shape));
  if (!output.comparable) return line + "not comparable: " + printable(output.reason) + "\n";
  line +=
      output.within_tolerance ? "agrees" : fmt::format("differs in {} of {}", output.mismatched, output.element_count);
  line += fmt::format(", largest difference {:.3g}", output.max_absolute);
  if (!output.within_tolerance) {
    line += fmt::format(" at {} (recorded {:.6g}, got {:.6g})", output.max_absolute_index, output.reference_at_max,
                        output.candidate_at_max);
  }
  if (output.relative_l2) line += fmt::format(", relative L2 {:.3g}", *output.relative_l2);
  return line + "\n";
}

std::string as_text(std::span<const DataSetResult> results) {
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

nlohmann::ordered_json as_json(const OutputDifference& output) {
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
          {"max_absolute", output.max_absolute},
          {"relative_l2", or_null(output.relative_l2)},
          {"cosine", or_null(output.cosine)},
          {"rtol", output.tolerance.relative},
          {"atol", output.tolerance.absolute}};
}

nlohmann::ordered_json as_json(std::span<const DataSetResult> results) {
  auto json = nlohmann::ordered_json::array();
  for (const DataSetResult& result : results) {
    auto outputs = nlohmann::ordered_json::array();
    for (const OutputDifference& output : result.comparison.outputs) outputs.push_back(as_json(output));
    json.push_back({{"data", result.folder}, {"agree", result.comparison.agree}, {"outputs", std::move(outputs)}});
  }
  return json;
}

Result<Done> check_tolerance(const std::optional<double>& value, std::string_view flag) {
  if (!value || (*value >= 0 && *value < 1e300)) return Done{};
  return usage_error(fmt::format("{}: wanted a number of at least 0, got {}", flag, *value));
}

Result<int> act(Surroundings& world, const ValidateOptions& options) {
  INFERMETER_TRY(const bool json, options.format.is_json());
  INFERMETER_TRY_DONE(check_tolerance(options.relative, "--rtol"));
  INFERMETER_TRY_DONE(check_tolerance(options.absolute, "--atol"));
  INFERMETER_TRY(PlanDraft draft, ambient_draft(world));
  INFERMETER_TRY_DONE(options.flags.apply(draft));
  INFERMETER_TRY(const auto folders, test_data_folders(draft.plan.data.source));
  INFERMETER_TRY(const Subject subject, make_subject(options, draft));
  draft.plan.subjects = {subject};
  INFERMETER_TRY_DONE(check_plan(draft.plan));
  INFERMETER_TRY(const Launcher launcher, find_launcher(draft.plan.backend_path));
  INFERMETER_TRY_DONE(check_subjects(draft.plan, launcher));
  INFERMETER_TRY(const ModelFacts model,
                 resolve_model(options.model, default_cache(), {.allow_code = draft.plan.allow_code}));
  std::vector<DataSetResult> results;
  for (const std::string& folder : folders) {
    INFERMETER_TRY(auto result, validate_one(world, options, make_job(subject, model, draft.plan), launcher, folder));
    results.push_back(std::move(result));
  }
  world.out << (json ? json_text(as_json(results)) : as_text(results));
  return std::ranges::all_of(results, [](const DataSetResult& r) { return r.comparison.agree; }) ? 0 : 1;
}

}  // namespace

Action declare_validate(CLI::App& app) {
  auto options = std::make_shared<ValidateOptions>();
  set_help(app, help_text());
  app.add_option("MODEL", options->model, "A name from the zoo or a file.")->required()->type_name("")->group("Model");
  options->flags.declare(
      app, {"backends", "data", "dtype", "device", "threads", "dimensions", "options", "backend_library",
            "backend_path", "allow_code", "cpus", "load_timeout", "run_timeout", "memory_limit", "sandbox"});
  app.add_option("--rtol", options->relative, "Relative tolerance. Default: 0.001, more for lower precisions.")
      ->type_name("X")
      ->group("Flags");
  app.add_option("--atol", options->absolute, "Absolute tolerance. Default: 1e-7, more for lower precisions.")
      ->type_name("X")
      ->group("Flags");
  options->format.declare(app);
  return [options](Surroundings& world) { return act(world, *options); };
}

}  // namespace infermeter
