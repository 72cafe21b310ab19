#include "cli/flags/plan_flags.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <iterator>

#include "cli/output/output_file.hpp"
#include "infermeter/diagnostics/problems.hpp"
#include "infermeter/plan/setting.hpp"

namespace infermeter {
namespace {

constexpr std::size_t kLargestPlanFile = 1 << 20;
constexpr std::string_view kAmbientFile = "infermeter.toml";

struct FlagHelp {
  std::string_view key;    // of the setting
  std::string_view flags;  // as CLI11 takes them
  std::string_view value;
  std::string_view group;
  std::string_view help;
  std::optional<Use> use{};  // of this use only
};

constexpr auto kFlags = std::to_array<FlagHelp>({
    {"models", "--model", "MODEL…", "What is measured (instead of subjects: the matrix)",
     "Names from the zoo (`infermeter models`), files, or Python code: MODULE:FACTORY, FILE.py:FACTORY; both: resnet50 "
     "and vit_b_16. May be repeated."},
    {"backends", "--backend", "NAME…", "",
     "Back ends (`infermeter backends` lists them); both: pytorch and jax. May be repeated. Default: all that can load "
     "the model."},
    {"batch_sizes", "--batch-sizes", "N…", "", "Items per inference: 1 4, or 1,4; one subject each. Default: 1."},
    {"dtype", "--dtype", "TYPE…", "", "Executed precision: float32 (default), float16, bfloat16; one subject each."},
    {"device", "--device", "NAME", "",
     "auto (default), or a device of the back end (`infermeter backends`): cpu, cuda, mps, tpu."},
    {"threads", "--threads", "N…", "",
     "Threads within an operator; one subject each. Default 0: one per processor that workers may use."},
    {"dimensions", "--dim", "NAME=N", "", "Value of a named dynamic dimension: height=512. May be repeated."},
    {"batch_axis", "--batch-axis", "INPUT=AXIS", "",
     "The batch dimension of an input, counted from 0: x=1; x=none: x has no batch dimension; none: no input has one. "
     "Default: as declared by the model (docs/methodology.md). May be repeated."},
    {"options", "--option", "KEY=VALUE", "",
     "An option of the back end (`infermeter backends NAME`). May be repeated."},
    {"load", "--load", "KEY=VALUE", "",
     "Measure under load: rate=40, concurrency=8, scenario=offline, arrivals=FORM, samples=N (docs/load.md). May be "
     "repeated."},
    {"env", "--env", "NAME=VALUE", "",
     "Set an environment variable in the workers. They inherit only those that docs/plan.md lists. May be "
     "repeated."},
    {"backend_library", "--backend-library", "FILE", "", "The runtime's shared library. Default: searched for."},
    {"backend_path", "--backend-path", "FOLDER", "", "An additional folder of back ends (plug-ins)."},
    {"allow_code", "--allow-code", "", "",
     "Allow models that contain code (.pt, .pt2, pickles), and code named by a plan file: Python, libraries, folders "
     "of "
     "back ends."},
    {"metric", "--metric", "NAME", "What is asked",
     "The metric that is compared: p50 (default), p90, p95, p99, mean, throughput, peak_memory, load_time, "
     "compile_time, "
     "first_inference_time; under a load also response_p99 and the like (docs/load.md).",
     Use::comparison},
    {"margin", "--margin", "SHARE", "", "Ignore smaller differences: 1% (default), 0.02.", Use::comparison},
    {"alpha", "--alpha", "SHARE", "",
     "False-alarm rate: how often equal subjects may be called different. Default: 5%.", Use::comparison},
    {"max_pairs", "--max-pairs", "N", "",
     "Maximum number of pairs of processes. Default: 40, or 200 with --until-resolved.", Use::comparison},
    {"repeat_disturbed", "--repeat-disturbed", "N", "",
     "Measure up to N pairs again in which other programs, steal or throttling disturbed a process. Default: a fifth "
     "of --max-pairs, at most 8.",
     Use::comparison},
    {"budget", "--budget", "TIME", "", "Start no pair that would end later. Default: no limit.", Use::comparison},
    {"warmup", "--warmup", "N|auto|none", "How it is measured",
     "Untimed inferences between the first and the timed ones. Default: auto, from pilot processes. none: even the "
     "first inference is timed, for workloads that start cold each time."},
    {"iterations", "--iterations", "N|auto", "", "Timed inferences per process. Default: auto, from pilot processes."},
    {"duration", "--duration", "TIME", "", "Instead of --iterations: seconds of timed inferences per process."},
    {"processes", "--processes", "N|auto", "",
     "Worker processes per subject, the independent repetitions. auto (default): 3 to 20, until every answer is "
     "decided "
     "or known within --precision, or --budget is over.",
     Use::run},
    {"processes", "--processes", "N", "", "Worker processes per subject, the independent repetitions. Default: 3.",
     Use::fixed},
    {"precision", "--precision", "SHARE", "",
     "Smaller differences count as none; with --processes auto, intervals this narrow are enough. Default: 2%.",
     Use::run},
    {"precision", "--precision", "SHARE", "", "Smaller differences count as none. Default: 2%.", Use::fixed},
    {"budget", "--budget", "TIME", "", "With --processes auto: start no round that would end later. Default: 2m.",
     Use::run},
    {"repeat_disturbed", "--repeat-disturbed", "N", "",
     "Measure up to N rounds again in which other programs, steal or throttling disturbed a process; the disturbed "
     "ones are not used. Default: 3 with --processes auto, else 0.",
     Use::run},
    {"repeat_disturbed", "--repeat-disturbed", "N", "",
     "Measure up to N rounds again in which other programs, steal or throttling disturbed a process; the disturbed "
     "ones are not used. Default: 0.",
     Use::fixed},
    {"leak_iterations", "--leak-iterations", "N", "",
     "Check for memory leaks in one more process per subject, over N iterations (2000, for example). Default: 0, no "
     "check."},
    {"profile", "--profile", "", "",
     "Also profile the operators, in separate processes: the time of each, and why B is slower than A."},
    {"profile_processes", "--profile-processes", "N", "",
     "Profile processes per subject. Default with --profile: 8; a comparison needs 3."},
    {"profile_iterations", "--profile-iterations", "N", "", "Profiled inferences per process. Default: 20."},
    {"stacks", "--stacks", "auto|dwarf|off", "",
     "In profile trials, sample call stacks: by frame pointers (auto), or by copying 8 kB of stack and unwinding it "
     "later (dwarf). Default: auto."},
    {"python_profiler", "--python-profiler", "off|py-spy|cprofile|pyinstrument", "",
     "In profile trials, profile the Python code of back ends in Python. cProfile and pyinstrument slow Python down "
     "about three times. Default: off."},
    {"seed", "--seed", "N", "", "Seed of the trial order. Default: random; the report shows it."},
    {"cpus", "--cpus", "LIST", "", "Processors that workers may use: 0-3,8. Default: all."},
    {"outliers", "--outliers", "RULE", "",
     "Drop outliers and report how many: none (default), sigma:3, iqr:1.5, mad:3.5."},
    {"data", "--data", "SOURCE", "Inputs",
     "synthetic (default), a .npy or .npz file, a folder of images, an ONNX test_data_set folder."},
    {"data_limit", "--data-limit", "N", "", "Use at most N items. Default: all."},
    {"data_seed", "--data-seed", "N", "",
     "Seed of synthetic inputs. Default: 1, so that all runs use the same inputs."},
    {"labels", "--labels", "FILE", "",
     "Ground truth for accuracy: a class index per line, lines NAME,INDEX for images, or .npy (indices, masks)."},
    {"distribution", "--distribution", "[INPUT=]DIST", "",
     "Distribution of synthetic inputs: uniform:-1:1, normal:0:1, integers:0:255, zeros, ones. May be repeated."},
    {"load_timeout", "--load-timeout", "TIME", "Limits of a worker",
     "Time limit until the first inference has ended. Default: 5m."},
    {"run_timeout", "--run-timeout", "TIME", "", "Time limit from there to the end. Default: 10m, plus --duration."},
    {"memory_limit", "--memory-limit", "SIZE", "", "Limit of resident memory. Default: 80 % of the available memory."},
    {"sandbox", "--sandbox", "MODE", "",
     "auto (default): all that the kernel supports; strict: refuse to run without it; off."},
    {"output_dir", "--output-dir", "FOLDER", "Results", "Folder where runs are stored. Default: results."},
    {"store", "--store", "PLACE", "",
     "Where runs are stored instead: postgresql://HOST/DATABASE, service=NAME, or an SQLite file (docs/store.md). "
     "Passwords are kept in ~/.pgpass."},
    {"format", "--format", "FORMAT", "",
     "table (default), json, csv, markdown, html, latex, openmetrics, bencher, google-benchmark."},
});

// The word that an earlier runner had for the two that it knew.
constexpr std::string_view kBoth = "both";

struct Pair {
  std::string_view key;  // of the setting
  std::array<std::string_view, 2> names;
};
constexpr auto kPairs = std::to_array<Pair>({{"models", {"resnet50", "vit_b_16"}}, {"backends", {"pytorch", "jax"}}});

// Each name once, however often it is said.
std::vector<std::string> with_both_written_out(std::string_view key, const std::vector<std::string>& texts) {
  const auto* const pair = std::ranges::find(kPairs, key, &Pair::key);
  if (pair == kPairs.end() || std::ranges::find(texts, kBoth) == texts.end()) return texts;
  std::vector<std::string> names;
  const auto add = [&](std::string_view name) {
    if (std::ranges::find(names, name) == names.end()) names.emplace_back(name);
  };
  for (const std::string& text : texts) {
    if (text == kBoth) {
      for (const std::string_view name : pair->names) add(name);
    } else {
      add(text);
    }
  }
  return names;
}

bool is_list(const Setting& setting) { return setting.shape == Setting::Shape::list; }

void declare_flag(CLI::App& app, const FlagHelp& flag, const std::string& group, std::vector<std::string>& values) {
  const Setting& setting = *find_setting(flag.key);
  if (flag.value.empty()) {  // it is there or not
    app.add_flag_callback(
           std::string(flag.flags), [&values] { values = {"true"}; }, std::string(flag.help))
        ->group(group);
    return;
  }
  CLI::Option* option = app.add_option(std::string(flag.flags), values, std::string(flag.help));
  option->type_name(std::string(flag.value))->group(group);
  // A list takes what follows; of a single value the last one counts; pairs come one per flag.
  if (!is_list(setting)) option->allow_extra_args(false);
  if (setting.shape == Setting::Shape::one) option->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
  option->expected(1, is_list(setting) ? CLI::detail::expected_max_vector_size : 1);
  if (setting.shape == Setting::Shape::pairs) option->expected(1)->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
}

// "1,4" or "1 4".
std::vector<std::string> words_of(const std::string& text, const char* separators = ", ") {
  std::vector<std::string> words;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find_first_of(separators, begin), text.size());
    if (end > begin) words.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return words;
}

Result<Done> named(const Result<Done>& result, std::string_view name) {
  if (result.ok()) return Done{};
  return usage_error(fmt::format("{}: {}", name, result.error().message));
}

Result<Done> apply_ambient_file(PlanDraft& draft) {
  std::error_code error;
  if (!std::filesystem::exists(kAmbientFile, error)) return Done{};
  INFERMETER_TRY(const std::string text, read_text_file(kAmbientFile, kLargestPlanFile, "configuration file"));
  return apply_toml(draft, text, kAmbientFile, TomlKind::ambient);
}

Result<Done> apply_variables(PlanDraft& draft, const Surroundings& world) {
  if (world.variable(variable_name("iterations")) && world.variable(variable_name("duration"))) {
    return usage_error("INFERMETER_ITERATIONS and INFERMETER_DURATION exclude each other");
  }
  for (const Setting& setting : settings()) {
    // What is measured is said by flags or a plan; INFERMETER_BACKEND_PATH is a list that the library reads itself,
    // and each back end's library has a variable of its own.
    const bool readable =
        (setting.from == Setting::From::anywhere || setting.key == "data" || setting.key == "labels") &&
        setting.shape != Setting::Shape::pairs;
    const auto value = readable ? world.variable(variable_name(setting.key)) : std::nullopt;
    if (!value) continue;
    const auto texts = is_list(setting) ? words_of(*value) : std::vector<std::string>{*value};
    INFERMETER_TRY_DONE(named(apply_setting(setting, draft, texts), variable_name(setting.key)));
  }
  return Done{};
}

// Options of back ends that many ask for.
struct OptionFlag {
  std::string_view flag, key, help;
};
constexpr auto kOptionFlags = std::to_array<OptionFlag>({
    {"--prompt-tokens", "prompt_tokens", "Tokens of a prompt: 128, normal:256:64, uniform:16:64. Default: 128."},
    {"--output-tokens", "output_tokens", "Tokens of an answer, likewise. Default: 64."},
});

// What stands behind a flag that takes a list: `--batch-sizes 1 4`, `--batch-sizes 1,4`. A file whose name holds a
// comma is one model.
std::vector<std::string> written_out(const Setting& setting, const std::vector<std::string>& texts) {
  if (!is_list(setting) || setting.key == "subjects") return texts;
  std::vector<std::string> values;
  for (const std::string& text : texts) {
    std::error_code error;
    const bool is_whole = setting.key == "models" && std::filesystem::exists(text, error);
    const auto words = is_whole ? std::vector{text} : words_of(text, ",");
    values.insert(values.end(), words.begin(), words.end());
  }
  return values;
}

Result<Done> apply_values(PlanDraft& draft, const std::map<std::string_view, std::vector<std::string>>& values) {
  Problems problems;
  for (const auto& [key, texts] : values) {
    const Setting& setting = *find_setting(key);
    if (texts.empty()) continue;
    const auto applied = apply_setting(setting, draft, with_both_written_out(key, written_out(setting, texts)));
    // Subjects are positional: their sentences name themselves.
    problems.take(setting.flag.empty() ? applied : named(applied, fmt::format("--{}", setting.flag)));
  }
  return problems.result();
}

// Of the positional arguments those that name no back end: a file, or one plain word.
std::vector<std::string> take_bare_models(std::vector<std::string>& subjects) {
  const auto is_bare = [](const std::string& text) {
    std::error_code error;
    return text.find('@') == std::string::npos &&
           (text.find_first_of("=,") == std::string::npos || std::filesystem::exists(text, error));
  };
  std::vector<std::string> models;
  std::ranges::copy_if(subjects, std::back_inserter(models), is_bare);
  std::erase_if(subjects, is_bare);
  return models;
}

}  // namespace

std::string variable_name(std::string_view key) {
  std::string name = "INFERMETER_";
  for (const char c : key) name += c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  return name;
}

Result<PlanDraft> ambient_draft(const Surroundings& world) {
  PlanDraft draft;
  INFERMETER_TRY_DONE(apply_ambient_file(draft));
  if (!draft.ambient_keys.empty()) {
    world.err << fmt::format("{} sets {}\n", kAmbientFile, fmt::join(draft.ambient_keys, ", "));
  }
  INFERMETER_TRY_DONE(apply_variables(draft, world));
  return draft;
}

void SomeFlags::declare(CLI::App& app, std::initializer_list<std::string_view> keys) {
  for (const FlagHelp& flag : kFlags) {
    if (flag.use.value_or(Use::fixed) != Use::fixed || std::ranges::find(keys, flag.key) == keys.end()) continue;
    declare_flag(app, flag, "Flags", values_[flag.key]);
  }
}

Result<Done> SomeFlags::apply(PlanDraft& draft) const {
  auto values = values_;
  INFERMETER_TRY_DONE(other_names_.add_to(values));
  return apply_values(draft, values);
}

void PlanFlags::declare(CLI::App& app, Use use) {
  app.add_option(
         "SUBJECT", values_["subjects"],
         "[label=]MODEL@BACKEND[,key=value…]: resnet50@openvino,threads=1. Keys: batch, dtype, device, threads, "
         "library, dim.NAME, batch_axis.INPUT, load.KEY, env.NAME; other keys are options of the back end. The first "
         "subject is "
         "the baseline.")
      ->type_name("")
      ->group("Subjects");
  std::string group;
  for (const FlagHelp& flag : kFlags) {
    if (!flag.group.empty()) group = flag.group;
    if (flag.use && *flag.use != use) continue;
    declare_flag(app, flag, group, values_[flag.key]);
  }
  other_names_.declare(app, values_);
  for (const OptionFlag& flag : kOptionFlags) {
    app.add_option(std::string(flag.flag), options_[flag.key], std::string(flag.help))
        ->type_name("N|DIST")
        ->group("Language models");
  }
  app.add_flag("--no-compare-outputs", no_compare_outputs_, "Do not compare the subjects' outputs.")
      ->group("How it is measured");
  if (use == Use::comparison) {
    app.add_flag("--until-resolved", until_resolved_,
                 "Test after every pair (with a test that permits it) until the result is clear.")
        ->group("What is asked");
    app.add_flag("--all-pairs", all_pairs_, "Measure --max-pairs pairs and test once.")->group("What is asked");
    app.add_flag("--drop-disturbed", drop_disturbed_,
                 "Leave out pairs in which a worker was throttled, lost over 2 % of its time to the hypervisor, or "
                 "shared its processors with more than half a processor of others; the report says how many.")
        ->group("What is asked");
  }
  app.add_option("--plan", plan_file_, "Read settings from a file (docs/plan.md); flags override it.")
      ->type_name("FILE.toml")
      ->group("What is measured (instead of subjects: the matrix)");
}

bool PlanFlags::names_subjects() const {
  return !plan_file_.empty() || !values_.at("subjects").empty() || !values_.at("models").empty();
}

std::map<std::string_view, std::vector<std::string>> PlanFlags::values() const {
  auto values = values_;
  for (const auto& [key, text] : options_) {
    if (!text.empty()) values["options"].push_back(fmt::format("{}={}", key, text));
  }
  return values;
}

std::map<std::string_view, std::vector<std::string>> PlanFlags::given() const {
  auto values = this->values();
  return other_names_.add_to(values).ok() ? values : this->values();  // what is wrong is said when the plan is gathered
}

std::string PlanFlags::changing_flag(std::initializer_list<std::string_view> but) const {
  for (const auto& [key, texts] : given()) {
    // What a resumed run is allowed is no change of it.
    const bool changes = key != "output_dir" && key != "store" && key != "format" && key != "allow_code" &&
                         key != "sandbox" && std::ranges::find(but, key) == but.end();
    if (changes && !texts.empty()) return fmt::format("--{}", find_setting(key)->flag);
  }
  if (until_resolved_) return "--until-resolved";
  if (all_pairs_) return "--all-pairs";
  if (drop_disturbed_) return "--drop-disturbed";
  return no_compare_outputs_ ? "--no-compare-outputs" : "";
}

bool PlanFlags::gives(std::string_view key) const { return !given().at(key).empty(); }

Result<Done> PlanFlags::apply_flags(PlanDraft& draft) const {
  // Subjects on the command line replace those of the file, whichever way either names them.
  if (!values_.at("subjects").empty() || !values_.at("models").empty()) {
    draft.subjects.clear();
    draft.code_of_file.clear();
    draft.server_of_file.clear();
  }
  if (!values_.at("subjects").empty()) draft.models.clear(), draft.backends.clear();
  auto values = this->values();
  INFERMETER_TRY_DONE(other_names_.add_to(values));
  if (!values.at("iterations").empty() && !values.at("duration").empty()) {
    return usage_error("--iterations and --duration exclude each other");
  }
  const std::vector<std::string> models = take_bare_models(values["subjects"]);
  INFERMETER_TRY_DONE(apply_values(draft, values));
  if (other_names_.names_framework() && draft.batch_sizes.empty()) draft.batch_sizes = {1, 8, 32, 128};
  draft.models.insert(draft.models.end(), models.begin(), models.end());
  if (no_compare_outputs_) draft.plan.compare_outputs = false;
  if (until_resolved_) draft.question.until_resolved = true;
  if (all_pairs_) draft.question.all_pairs = true;
  if (drop_disturbed_) draft.question.drop_disturbed = true;
  draft.wants_budget = !values["budget"].empty();
  return Done{};
}

Result<PlanDraft> PlanFlags::gather(const Surroundings& world) const {
  INFERMETER_TRY(PlanDraft draft, ambient_draft(world));
  if (!plan_file_.empty()) {
    INFERMETER_TRY(const std::string text, read_text_file(plan_file_, kLargestPlanFile, "plan file"));
    INFERMETER_TRY_DONE(apply_toml(draft, text, plan_file_));
  }
  INFERMETER_TRY_DONE(apply_flags(draft));
  return draft;
}

}  // namespace infermeter
