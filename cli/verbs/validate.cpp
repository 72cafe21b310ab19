// infermeter validate: does B answer as A does? Or: does a model answer as was recorded?
#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>
#include <memory>
#include <span>

#include "cli/flags/html_flag.hpp"
#include "cli/flags/layers_flags.hpp"
#include "cli/flags/plan_flags.hpp"
#include "cli/flags/verbosity.hpp"
#include "cli/output/difference_pictures.hpp"
#include "cli/output/help.hpp"
#include "cli/output/output_file.hpp"
#include "cli/output/progress.hpp"
#include "cli/output/report_output.hpp"
#include "cli/verbs/verb.hpp"
#include "infermeter/models/resolve.hpp"
#include "infermeter/plan/quantity.hpp"
#include "infermeter/plan/subject.hpp"
#include "infermeter/report/validation/report.hpp"
#include "infermeter/text/quoted.hpp"
#include "infermeter/text/shell_quote.hpp"
#include "infermeter/validate/recorded.hpp"
#include "infermeter/validate/validate.hpp"

namespace infermeter {
namespace {

constexpr const char *kSubjects = "Subjects", *kInputs = "Inputs of two subjects", *kJudged = "What is judged",
                     *kResults = "Results";

struct ValidateOptions {
  std::vector<std::string> subjects;
  SomeFlags flags;
  std::optional<std::int64_t> perturb;
  std::string noise, max_drop, max_increase, text;
  std::int64_t text_tokens = 256;
  std::optional<double> relative, absolute;
  std::vector<std::string> by_output;  // NAME=RTOL[:ATOL]
  bool fail_inconclusive = false, force = false, no_samples = false;
  std::size_t worst = 5;
  std::string format, output;
  HtmlFlag html;
  VerbosityFlags verbosity;
  LayersFlags layers;
  DifferencePictures pictures;
};

HelpText validate_help() {
  return {
      .usage = "infermeter validate A [B] [flags]",
      .about =
          "Compares the outputs of A and B: both run on the same inputs, each in a worker process, and every output is "
          "compared, per sample and overall. A runs twice: no tolerance is below the difference between its two runs. "
          "With one subject: its outputs are compared with those recorded in ONNX test data sets. The exit "
          "code is 0 if they agree and 1 if not.",
      .examples =
          {{"infermeter validate resnet50@onnxruntime resnet50@openvino",
            "Two runtimes, on a synthetic input and nine copies of it with noise."},
           {"infermeter validate model.onnx@onnxruntime quantised.onnx@onnxruntime --data inputs.npy --rtol 0.05",
            "Two files, on the rows of an array, within 5 % of the largest value of each output."},
           {"infermeter validate model.onnx@onnxruntime quantised.onnx@onnxruntime --data inputs.npy --labels "
            "labels.txt --max-drop 50%",
            "With labels: how much accuracy the second one loses."},
           {"infermeter validate tiny_llama@onnxruntime-genai tiny_llama@openvino-genai --text book.txt --max-increase "
            "1%",
            "Language models: how much worse the second one predicts a text."},
           {"infermeter validate my.onnx --backend openvino --data my/test_data_set_0",
            "One subject against recorded outputs: input_*.pb and output_*.pb."},
           {"infermeter validate unet2d@onnxruntime unet2d@openvino --html validation.html",
            "With an HTML page: every sample, and pictures of outputs that are images."},
           {"infermeter validate model.onnx@onnxruntime --data model --rtol 0.01",
            "All test_data_set_* folders in it, with a wider tolerance."}},
      .notes = {"An element agrees if |B - A| <= ATOL + RTOL * max |A| of its output over all samples. The default "
                "tolerance is that of the coarser of the two executed precisions (docs/methodology.md).",
                "Noise stays in the valid range: the bounds of the distribution for synthetic inputs, the range of "
                "each channel of the first item for other data. Integers that are identifiers (token ids, classes, "
                "masks) are unchanged.",
                "With --max-drop the labels decide: the result is a failure if the whole 95 % interval of the drop is "
                "above the limit, and inconclusive if the interval contains it. Outputs must then be comparable, not "
                "equal within a tolerance. Likewise --max-increase, by the perplexity of texts.",
                kExitCodes}};
}

void declare_inputs(CLI::App& app, ValidateOptions& options) {
  app.add_option("--perturb", options.perturb,
                 "Use the first item of --data and copies of it with noise, N in all. Default without --data: 10.")
      ->type_name("N")
      ->group(kInputs);
  app.add_option("--noise", options.noise,
                 "Standard deviation of the noise, as a share of the valid range. Default: 1%.")
      ->type_name("SHARE")
      ->group(kInputs);
  app.add_option("--text", options.text,
                 "A text (UTF-8) that language models are to predict: perplexity, KL divergence, and agreement on the "
                 "next token. Read with the models' own tokenizer.")
      ->type_name("FILE")
      ->group(kInputs);
  app.add_option(
         "--text-tokens", options.text_tokens,
         "Tokens of each text that the file is cut into. Default: 256. --data-limit says how many texts; default: "
         "64.")
      ->type_name("N")
      ->group(kInputs);
}

void declare_judged(CLI::App& app, ValidateOptions& options) {
  app.add_option("--rtol", options.relative, "Relative tolerance of every output. Default: by executed precision.")
      ->type_name("X")
      ->group(kJudged);
  app.add_option("--atol", options.absolute, "Absolute tolerance of every output. Default: 0.")
      ->type_name("X")
      ->group(kJudged);
  app.add_option("--tolerance", options.by_output,
                 "Tolerance of one output: logits=0.01 or logits=0.01:1e-6. May be repeated.")
      ->type_name("OUTPUT=RTOL[:ATOL]")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->group(kJudged);
  app.add_option("--max-drop,--tolerance-accuracy", options.max_drop,
                 "The largest accuracy drop allowed: 1%, 0.01. Needs labels, which then decide the result.")
      ->type_name("SHARE")
      ->group(kJudged);
  app.add_option("--max-increase", options.max_increase,
                 "The largest increase of perplexity allowed: 0.5%. Needs --text, or tokens with --labels next.")
      ->type_name("SHARE")
      ->group(kJudged);
  app.add_flag("--fail-inconclusive", options.fail_inconclusive,
               "Exit code 5 if the result is undecided or inconclusive.")
      ->group(kJudged);
}

void declare_results(CLI::App& app, ValidateOptions& options) {
  app.add_option("--worst", options.worst, "Show the N worst samples. Default: 5.")->type_name("N")->group(kResults);
  app.add_option("--format", options.format, "table (default), json, markdown.")->type_name("FORMAT")->group(kResults);
  app.add_option("--output", options.output, "Write the report to this file instead of standard output.")
      ->type_name("FILE")
      ->group(kResults);
  options.html.declare(app, kResults);
  app.add_flag("--force", options.force, "Overwrite existing files.")->group(kResults);
  app.add_flag("--no-samples", options.no_samples, "Leave single samples out of JSON.")->group(kResults);
  options.verbosity.declare(app, kResults);
  options.pictures.declare(app);
  options.layers.declare(app);
}

void declare_validate_flags(CLI::App& app, ValidateOptions& options) {
  app.add_option("SUBJECT", options.subjects,
                 "[label=]MODEL@BACKEND[,key=value…], the baseline first; or MODEL, with --backend.")
      ->required()
      ->type_name("")
      ->group(kSubjects);
  options.flags.declare(
      app,
      {"backends",     "data",       "data_limit", "labels",       "distribution", "data_seed",    "dtype",
       "device",       "threads",    "dimensions", "batch_axis",   "options",      "env",          "backend_library",
       "backend_path", "allow_code", "cpus",       "load_timeout", "run_timeout",  "memory_limit", "sandbox"});
  app.get_option("--allow-code")->description("Allow models that contain code (.pt, .pt2, pickles).");
  options.flags.declare_other_names(app);
  app.get_option("--framework")->description("--backend.");
  declare_inputs(app, options);
  declare_judged(app, options);
  declare_results(app, options);
}

Result<Plan> gather_validation(Surroundings& world, const ValidateOptions& options, std::string& format) {
  INFERMETER_TRY(PlanDraft draft, ambient_draft(world));
  INFERMETER_TRY_DONE(options.flags.apply(draft));
  format = !options.format.empty() ? options.format : !draft.format.empty() ? draft.format : "table";
  for (const std::string& text : options.subjects) {
    if (!draft.backends.empty() && text.find('@') == std::string::npos) {
      draft.models.push_back(text);
      continue;
    }
    if (!draft.backends.empty()) {
      return usage_error(fmt::format("'{}' names its back end: leave --backend out, or the @", text));
    }
    INFERMETER_TRY(SubjectDraft subject, subject_draft_from_string(text));
    draft.subjects.push_back(std::move(subject));
  }
  return make_plan(draft);
}

Result<double> number_in(std::string_view text, std::string_view flag) {
  double value = 0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (status == std::errc{} && end == text.data() + text.size() && std::isfinite(value)) return value;
  return usage_error(fmt::format("{}: '{}' is not a number", flag, text));
}

// logits=0.01:1e-6
Result<std::pair<std::string, AskedTolerance>> by_output(const std::string& text) {
  const std::size_t equals = text.rfind('=');
  if (equals == std::string::npos || equals == 0) {
    return usage_error(fmt::format("--tolerance: '{}' is not of the form OUTPUT=RTOL or OUTPUT=RTOL:ATOL", text));
  }
  const std::string_view numbers = std::string_view(text).substr(equals + 1);
  const std::size_t colon = numbers.find(':');
  AskedTolerance tolerance;
  INFERMETER_TRY(tolerance.relative, number_in(numbers.substr(0, colon), "--tolerance"));
  if (colon != std::string_view::npos) {
    INFERMETER_TRY(tolerance.absolute, number_in(numbers.substr(colon + 1), "--tolerance"));
  }
  return std::pair(text.substr(0, equals), tolerance);
}

Result<Done> check_tolerance(const std::optional<double>& value, std::string_view flag) {
  if (!value || (*value >= 0 && *value < 1e300)) return Done{};
  return usage_error(fmt::format("{}: expected a number of at least 0, got {}", flag, *value));
}

Result<double> share(const std::string& text, std::string_view flag) {
  const auto value = share_from_string(text);
  if (!value.ok()) return usage_error(fmt::format("{}: {}", flag, value.error().message));
  return *value;
}

Result<ValidationRequest> make_request(const ValidateOptions& options, Plan plan) {
  ValidationRequest request;
  const bool is_synthetic = plan.data.source == "synthetic";
  const bool one_by_one = !is_synthetic || plan.data.limit > 0 || !plan.data.labels.empty() || !options.text.empty();
  request.perturb = options.perturb.value_or(one_by_one ? 0 : kUsualPerturbed);
  if (options.perturb && *options.perturb < 1) {
    return usage_error(fmt::format("--perturb: expected a number of at least 1, got {}", *options.perturb));
  }
  if (!options.noise.empty()) {
    INFERMETER_TRY(request.noise, share(options.noise, "--noise"));
  }
  if (!options.max_drop.empty()) {
    INFERMETER_TRY(request.max_drop, share(options.max_drop, "--max-drop"));
  }
  if (!options.max_increase.empty()) {
    INFERMETER_TRY(request.max_increase, share(options.max_increase, "--max-increase"));
  }
  request.text = options.text;
  request.text_tokens = options.text_tokens;
  request.tolerance = {.relative = options.relative, .absolute = options.absolute};
  for (const std::string& text : options.by_output) {
    INFERMETER_TRY(auto one, by_output(text));
    INFERMETER_TRY_DONE(check_tolerance(one.second.relative, "--tolerance"));
    INFERMETER_TRY_DONE(check_tolerance(one.second.absolute, "--tolerance"));
    request.by_output.push_back(std::move(one));
  }
  request.plan = std::move(plan);
  return request;
}

// What makes no sense where outputs were recorded.
Result<Done> check_recorded(const ValidateOptions& options) {
  const bool asks_for_two = options.perturb || !options.noise.empty() || !options.max_drop.empty() ||
                            !options.max_increase.empty() || !options.text.empty() || !options.by_output.empty() ||
                            !options.output.empty() || options.flags.has("labels") || options.layers.wanted ||
                            options.html.wanted() || !options.pictures.folder.empty();
  if (!asks_for_two) return Done{};
  return usage_error(
      "--perturb, --noise, --labels, --text, --max-drop, --max-increase, --tolerance, --output, --html, --diff-images "
      "and --layers are for two "
      "subjects: give a second one");
}

Result<Validation> run_validation(Surroundings& world, const ValidateOptions& options, const ValidationRequest& request,
                                  const Launcher& launcher, RunCheck check) {
  std::vector<std::string> labels;
  for (const Subject& subject : request.plan.subjects) labels.push_back(printable(subject.label, 60));
  ProgressDisplay display(world, options.verbosity.level(), std::move(labels));
  const RunContext context{.launcher = launcher,
                           .cache = default_cache(),
                           .on_progress = [&display](const Progress& progress) { display.show(progress); },
                           .interrupt = world.interrupt,
                           .command = shell_quoted(world.arguments),
                           .models = std::move(check.models),
                           .is_checked = true};
  return validate(request, context);
}

int validate_exit_code(const Validation& validation, const ValidateOptions& options) {
  switch (outcome_of(validation)) {
    case Outcome::pass: return 0;
    case Outcome::fail: return 1;
    case Outcome::inconclusive: break;
  }
  return options.fail_inconclusive ? 5 : 0;
}

// Instead of a validation.
Result<int> act_layers(Surroundings& world, const ValidateOptions& options, const Plan& plan, const Launcher& launcher,
                       const RunCheck& check, Format format) {
  if (!options.pictures.folder.empty() || !options.output.empty() || format == Format::markdown) {
    return usage_error("--layers looks inside instead of validating: leave out --diff-images, --output and markdown");
  }
  std::array<ModelFacts, 2> models;
  for (std::size_t i = 0; i < models.size(); ++i) {
    const auto known = check.models.find(plan.subjects.at(i).model);
    if (known == check.models.end()) {
      return usage_error(fmt::format("--layers: '{}' is not an ONNX file", plan.subjects.at(i).model));
    }
    models.at(i) = known->second;
  }
  return show_layers(world, options.layers, plan, models, launcher,
                     {.json = format == Format::json,
                      .overwrite = options.force,
                      .quiet = options.verbosity.level() == Verbosity::quiet,
                      .html = options.html});
}

std::vector<std::string> output_names(const Validation& validation) {
  std::vector<std::string> names;
  for (const OutputDifference& output : validation.outputs.outputs) names.push_back(output.name);
  return names;
}

Result<Done> draw_pictures(Surroundings& world, const DifferencePictures& pictures, const Launcher& launcher,
                           const KeptDifferences& kept, const Validation& validation, bool overwrite) {
  INFERMETER_TRY(const auto files,
                 pictures.draw(world, launcher, kept, output_names(validation), validation.items, overwrite));
  world.err << (files.empty() ? "no output is an image or a volume: nothing was drawn\n"
                              : fmt::format("{} pictures in {}\n", files.size(), printable(pictures.folder, 200)));
  return Done{};
}

Result<Done> write_validation_page(Surroundings& world, const ValidateOptions& options, const KeptDifferences& kept,
                                   const Validation& validation) {
  const auto pictures = difference_pictures(kept, output_names(validation), validation.items);
  return options.html.write(world, validation_part(validation, pictures), options.force,
                            options.verbosity.level() == Verbosity::quiet);
}

// Two subjects beside each other.
Result<int> compare_two(Surroundings& world, const ValidateOptions& options, Plan plan, const Launcher& launcher,
                        Format format) {
  INFERMETER_TRY(ValidationRequest request, make_request(options, std::move(plan)));
  INFERMETER_TRY_DONE(
      use_text(request, {.launcher = launcher, .cache = default_cache(), .interrupt = world.interrupt}));
  RunCheck check = check_validation(request, {.launcher = launcher, .cache = default_cache()});
  options.layers.check(launcher, options.force, check.problems);
  options.pictures.check(launcher, options.force, check.problems);
  check.problems.take(options.html.check(options.force));
  if (!options.output.empty()) check.problems.take(check_new_file(options.output, options.force));
  check.problems.take(
      check_distinct(std::array{NamedFile{"--output", options.output}, NamedFile{"--html", options.html.file},
                                NamedFile{"--layers-plot", options.layers.plot}}));
  INFERMETER_TRY_DONE(check.problems.result());
  if (options.layers.wanted) return act_layers(world, options, request.plan, launcher, check, format);
  KeptDifferences kept(DifferencePictures::worst_items);
  if (!options.pictures.folder.empty() || options.html.wanted()) {
    request.on_outputs = [&kept](std::size_t item, const DataItem&, const ItemValues& baseline,
                                 const ItemValues& candidate) -> Result<Done> {
      kept.add(item, baseline, candidate);
      return Done{};
    };
  }
  const auto validation = run_validation(world, options, request, launcher, std::move(check));
  const int signal = world.signal == nullptr ? 0 : world.signal->load();
  if (!validation.ok() && signal != 0) {
    world.err << "interrupted: nothing was compared to its end\n";
    return 128 + signal;
  }
  if (!validation.ok()) return validation.error();
  const bool to_file = !options.output.empty();
  const RenderOptions look{.color = !to_file && use_color(world),
                           .width = to_file ? world.asked_width.value_or(80) : world.width,
                           .samples = !options.no_samples};
  const std::string text = render_validation(*validation, format, look, options.worst);
  Problems unwritten;
  if (to_file) {
    unwritten.take(write_file(options.output, text, options.force));
  } else {
    world.out << text;
  }
  if (!options.pictures.folder.empty()) {
    unwritten.take(draw_pictures(world, options.pictures, launcher, kept, *validation, options.force));
  }
  if (options.html.wanted()) unwritten.take(write_validation_page(world, options, kept, *validation));
  INFERMETER_TRY_DONE(unwritten.result("not written"));
  return validate_exit_code(*validation, options);
}

Result<Format> validation_format(const std::string& name) {
  return format_among(name, {Format::table, Format::json, Format::markdown}, "a validation");
}

Result<int> validate_action(Surroundings& world, const ValidateOptions& options) {
  std::string format_name;
  INFERMETER_TRY_DONE(check_tolerance(options.relative, "--rtol"));
  INFERMETER_TRY_DONE(check_tolerance(options.absolute, "--atol"));
  INFERMETER_TRY(Plan plan, gather_validation(world, options, format_name));
  INFERMETER_TRY(const Format format, validation_format(format_name));
  if (plan.subjects.size() > 2) {
    return usage_error(
        fmt::format("validate compares two subjects, the baseline first; these are {}", plan.subjects.size()));
  }
  INFERMETER_TRY(const Launcher launcher, find_launcher(plan.backend_path));
  if (plan.subjects.size() == 2) return compare_two(world, options, std::move(plan), launcher, format);
  INFERMETER_TRY_DONE(check_recorded(options));
  if (format == Format::markdown)
    return usage_error("one subject has no markdown report: --format takes table or json");
  const RunContext context{.launcher = launcher, .cache = default_cache(), .interrupt = world.interrupt};
  INFERMETER_TRY(const auto found,
                 validate_recorded(plan, {.relative = options.relative, .absolute = options.absolute}, context));
  world.out << render_recorded(found, format);
  return found.agree() ? 0 : 1;
}

}  // namespace

Action declare_validate(CLI::App& app) {
  auto options = std::make_shared<ValidateOptions>();
  set_help(app, validate_help());
  declare_validate_flags(app, *options);
  return [options](Surroundings& world) { return validate_action(world, *options); };
}

}  // namespace infermeter
