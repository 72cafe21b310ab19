#include "infermeter/plan/setting.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "infermeter/plan/quantity.hpp"

namespace infermeter {
namespace {

using Texts = std::span<const std::string>;
using Shape = Setting::Shape;
using Type = Setting::Type;
using From = Setting::From;

constexpr std::int64_t kAnyNumber = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kMostItemsOfSetting = 1'000'000;
constexpr std::int64_t kMostThreadsOfSetting = 4096;
constexpr std::int64_t kMostProcesses = 10'000;
constexpr std::int64_t kFewestPairs = 6;  // fewer cannot exclude anything at 5 %
constexpr std::int64_t kMostLeakIterations = 100'000;
constexpr std::int64_t kMostProfileIterations = 1000;

Result<Done> set_texts(std::vector<std::string>& target, Texts values) {
  target.assign(values.begin(), values.end());
  return Done{};
}

Result<Done> set_subjects(PlanDraft& draft, Texts values) {
  draft.subjects.clear();
  for (const std::string& text : values) {
    INFERMETER_TRY(SubjectDraft subject, subject_draft_from_string(text));
    draft.subjects.push_back(std::move(subject));
  }
  return Done{};
}

Result<Done> set_batch_sizes(PlanDraft& draft, Texts values) {
  draft.batch_sizes.clear();
  for (const std::string& text : values) {
    INFERMETER_TRY(const std::int64_t size, integer_from_string(text, 1, kMostItemsOfSetting));
    draft.batch_sizes.push_back(size);
  }
  return Done{};
}

Result<Done> set_dtypes(PlanDraft& draft, Texts values) {
  draft.dtypes.clear();
  for (const std::string& text : values) {
    INFERMETER_TRY(const Precision dtype, precision_from_string(text));
    draft.dtypes.push_back(dtype);
  }
  return Done{};
}

Result<Done> set_threads(PlanDraft& draft, Texts values) {
  draft.threads.clear();
  for (const std::string& text : values) {
    INFERMETER_TRY(const std::int64_t threads, integer_from_string(text, 0, kMostThreadsOfSetting));
    draft.threads.push_back(static_cast<int>(threads));
  }
  return Done{};
}

constexpr std::string_view kAutomatic = "auto";
constexpr std::string_view kNone = "none";

// A number, where words are possible as well.
Result<std::int64_t> count_from_string(std::string_view text, std::int64_t low, std::string_view words,
                                       std::int64_t high = kAnyNumber) {
  const auto count = integer_from_string(text, low, high);
  if (count.ok()) return count;
  return usage_error(
      fmt::format("expected {}, or {}", words, count.error().message.substr(std::string_view("expected ").size())));
}

Result<Done> set_warmup(PlanDraft& draft, Texts values) {
  Stopping& stopping = draft.plan.stopping;
  draft.plan.automatic.warmup = values[0] == kAutomatic;
  stopping.count_first = values[0] == kNone;
  if (draft.plan.automatic.warmup) return Done{};
  if (stopping.count_first) return stopping.warmup = 0, Done{};
  INFERMETER_TRY(stopping.warmup, count_from_string(values[0], 0, "auto or none"));
  return Done{};
}

// The ways to stop put each other out: what is said last counts.
Result<Done> set_iterations(PlanDraft& draft, Texts values) {
  draft.plan.automatic.iterations = values[0] == kAutomatic;
  if (draft.plan.automatic.iterations) return Done{};
  INFERMETER_TRY(draft.plan.stopping.iterations, count_from_string(values[0], 1, kAutomatic));
  draft.plan.stopping.duration_s.reset();
  return Done{};
}

Result<double> positive_seconds(std::string_view text) {
  INFERMETER_TRY(const double seconds, seconds_from_string(text));
  if (seconds > 0) return seconds;
  return usage_error(fmt::format("expected a time above 0, such as 30s, got '{}'", text));
}

Result<Done> set_duration(PlanDraft& draft, Texts values) {
  INFERMETER_TRY(draft.plan.stopping.duration_s, positive_seconds(values[0]));
  draft.plan.stopping.iterations.reset();
  draft.plan.automatic.iterations = false;
  return Done{};
}

Result<Done> set_processes(PlanDraft& draft, Texts values) {
  draft.plan.automatic.processes = draft.wants_automatic_processes = values[0] == kAutomatic;
  if (draft.plan.automatic.processes) return Done{};
  INFERMETER_TRY(const std::int64_t processes, count_from_string(values[0], 1, kAutomatic, kMostProcesses));
  draft.plan.processes = static_cast<int>(processes);
  return Done{};
}

Result<std::uint64_t> seed_from_string(std::string_view text) {
  INFERMETER_TRY(const std::int64_t seed, integer_from_string(text, 0, kAnyNumber));
  return static_cast<std::uint64_t>(seed);
}

// A list of its own, as a file may have it, or one text.
Result<Done> set_processors(PlanDraft& draft, Texts values) {
  INFERMETER_TRY(draft.plan.cpus, processors_from_string(fmt::format("{}", fmt::join(values, ","))));
  return Done{};
}

Result<bool> truth_from_string(std::string_view text) {
  if (text == "true" || text == "false") return text == "true";
  return usage_error(fmt::format("expected true or false, got '{}'", text));
}

Result<Done> set_compare_outputs(PlanDraft& draft, Texts values) {
  INFERMETER_TRY(draft.plan.compare_outputs, truth_from_string(values[0]));
  return Done{};
}

Result<Done> set_max_pairs(PlanDraft& draft, Texts values) {
  INFERMETER_TRY(const std::int64_t pairs, integer_from_string(values[0], kFewestPairs, kMostProcesses));
  draft.max_pairs = static_cast<int>(pairs);
  return Done{};
}

constexpr auto kSettings = std::to_array<Setting>({
    {"subjects", "", Shape::list, Type::text, From::plan_file, set_subjects, nullptr},
    {"models", "model", Shape::list, Type::text, From::plan_file,
     [](PlanDraft& d, Texts v) { return set_texts(d.models, v); }, nullptr},
    {"backends", "backend", Shape::list, Type::text, From::plan_file,
     [](PlanDraft& d, Texts v) { return set_texts(d.backends, v); }, nullptr},
    {"batch_sizes", "batch-sizes", Shape::list, Type::integer, From::anywhere, set_batch_sizes, nullptr},
    {"dtype", "dtype", Shape::list, Type::text, From::anywhere, set_dtypes, nullptr},
    {"device", "device", Shape::one, Type::text, From::anywhere,
     [](PlanDraft& d, Texts v) -> Result<Done> { return d.defaults.device = v[0], Done{}; }, nullptr},
    {"threads", "threads", Shape::list, Type::integer, From::anywhere, set_threads, nullptr},
    {"dimensions", "dim", Shape::pairs, Type::integer_or_text, From::anywhere, nullptr,
     [](PlanDraft& d) -> Pairs& { return d.defaults.dimensions; }},
    {"batch_axis", "batch-axis", Shape::pairs, Type::integer_or_text, From::anywhere, nullptr,
     [](PlanDraft& d) -> Pairs& { return d.defaults.batch_axes; }},
    {"options", "option", Shape::pairs, Type::integer_or_text, From::plan_file, nullptr,
     [](PlanDraft& d) -> Pairs& { return d.defaults.options; }},
    {"load", "load", Shape::pairs, Type::number_or_text, From::plan_file, nullptr,
     [](PlanDraft& d) -> Pairs& { return d.defaults.load; }},
    {"env", "env", Shape::pairs, Type::integer_or_text, From::plan_file, nullptr,
     [](PlanDraft& d) -> Pairs& { return d.defaults.environment; }},
    {"backend_library", "backend-library", Shape::one, Type::text, From::plan_file,
     [](PlanDraft& d, Texts v) -> Result<Done> {
       d.defaults.backend_library = v[0];
       d.library_of_file.clear();
       return Done{};
     }, nullptr},
    {"backend_path", "backend-path", Shape::one, Type::text, From::plan_file,
     [](PlanDraft& d, Texts v) -> Result<Done> {
       d.plan.backend_path = v[0];
       d.folder_of_file.clear();
       return Done{};
     }, nullptr},
    {"allow_code", "allow-code", Shape::one, Type::boolean, From::command_line,
     [](PlanDraft& d, Texts v) -> Result<Done> {
       INFERMETER_TRY(d.plan.allow_code, truth_from_string(v[0]));
       return Done{};
     }, nullptr},
    {"warmup", "warmup", Shape::one, Type::integer_or_text, From::anywhere, set_warmup, nullptr},
    {"iterations", "iterations", Shape::one, Type::integer_or_text, From::anywhere, set_iterations, nullptr},
    {"duration", "duration", Shape::one, Type::number_or_text, From::anywhere, set_duration, nullptr},
    {"processes", "processes", Shape::one, Type::integer_or_text, From::anywhere, set_processes, nullptr},
    {"repeat_disturbed", "repeat-disturbed", Shape::one, Type::integer, From::anywhere,
     [](PlanDraft& d, Texts v) -> Result<Done> {
       INFERMETER_TRY(const std::int64_t blocks, integer_from_string(v[0], 0, kMostProcesses));
       d.repeat_disturbed = static_cast<int>(blocks);
       return Done{};
     }, nullptr},
    {"precision", "precision", Shape::one, Type::number_or_text, From::anywhere,
     [](PlanDraft& d, Texts v) -> Result<Done> {
       INFERMETER_TRY(d.plan.precision, share_from_string(v[0]));
       return Done{};
     }, nullptr},
    {"leak_iterations", "leak-iterations", Shape::one, Type::integer, From::anywhere,
     [](PlanDraft& d, Texts v) -> Result<Done> {
       INFERMETER_TRY(d.plan.leak_iterations, integer_from_string(v[0], 0, kMostLeakIterations));
       return Done{};
     }, nullptr},
    {"profile", "profile", Shape::one, Type::boolean, From::anywhere,
     [](PlanDraft& d, Texts v) -> Result<Done> {
       INFERMETER_TRY(const bool wanted, truth_from_string(v[0]));
       int& processes = d.plan.profiling.processes;
       processes = !wanted ? 0 : processes > 0 ? processes : kProfileProcesses;
       return Done{};
     }, nullptr},
    {"profile_processes", "profile-processes", Shape::one, Type::integer, From::anywhere,
     [](PlanDraft& d, Texts v) -> Result<Done> {
       INFERMETER_TRY(const std::int64_t processes, integer_from_string(v[0], 1, kMostProcesses));
       d.plan.profiling.processes = static_cast<int>(processes);
       return Done{};
     }, nullptr},
    {"profile_iterations", "profile-iterations", Shape::one, Type::integer, From::anywhere,
     [](PlanDraft& d, Texts v) -> Result<Done> {
       INFERMETER_TRY(d.plan.profiling.iterations, integer_from_string(v[0], 1, kMostProfileIterations));
       return Done{};
     }, nullptr},
    {"stacks", "stacks", Shape::one, Type::text, From::anywhere,
     [](PlanDraft& d, Texts v) -> Result<Done> {
       INFERMETER_TRY(d.plan.profiling.stacks, stack_sampling_from_string(v[0]));
       return Done{};
     }, nullptr},
    {"python_profiler", "python-profiler", Shape::one, Type::text, From::anywhere,
     [](PlanDraft& d, Texts v) -> Result<Done> {
       INFERMETER_TRY(d.plan.profiling.python, python_profiler_from_string(v[0]));
       return Done{};
     }, nullptr},
    {"compare", "", Shape::one, Type::boolean, From::plan_file,
     [](PlanDraft& d, Texts v) -> Result<Done> {
       INFERMETER_TRY(d.is_comparison, truth_from_string(v[0]));
       return Done{};
     }, nullptr},
    {"metric", "metric", Shape::one, Type::text, From::plan_file,
     [](PlanDraft& d, Texts v) -> Result<Done> { return d.question.metric = v[0], Done{}; }, nullptr},
    {"margin", "margin", Shape::one, Type::number_or_text, From::anywhere,
     [](PlanDraft& d, Texts v) -> Result<Done> {
       INFERMETER_TRY(d.question.margin, share_from_string(v[0]));
       return Done{};
     }, nullptr},
    {"alpha", "alpha", Shape::one, Type::number_or_text, From::anywhere,
     [](PlanDraft& d, Texts v) -> Result<Done> {
       INFERMETER_TRY(d.question.alpha, share_from_string(v[0]));
       return Done{};
     }, nullptr},
    {"max_pairs", "max-pairs", Shape::one, Type::integer, From::anywhere, set_max_pairs, nullptr},
    {"budget", "budget", Shape::one, Type::number_or_text, From::anywhere,
     [](PlanDraft& d, Texts v) -> Result<Done> {
       INFERMETER_TRY(d.question.budget_s, positive_seconds(v[0]));
       return Done{};
     }, nullptr},
    {"until_resolved", "until-resolved", Shape::one, Type::boolean, From::anywhere,
     [](PlanDraft& d, Texts v) -> Result<Done> {
       INFERMETER_TRY(d.question.until_resolved, truth_from_string(v[0]));
       return Done{};
     }, nullptr},
    {"all_pairs", "all-pairs", Shape::one, Type::boolean, From::anywhere,
     [](PlanDraft& d, Texts v) -> Result<Done> {
       INFERMETER_TRY(d.question.all_pairs, truth_from_string(v[0]));
       return Done{};
     }, nullptr},
    {"drop_disturbed", "drop-disturbed", Shape::one, Type::boolean, From::anywhere,
     [](PlanDraft& d, Texts v) -> Result<Done> {
       INFERMETER_TRY(d.question.drop_disturbed, truth_from_string(v[0]));
       return Done{};
     }, nullptr},
    {"seed", "seed", Shape::one, Type::integer, From::anywhere,
     [](PlanDraft& d, Texts v) -> Result<Done> {
       INFERMETER_TRY(d.plan.seed, seed_from_string(v[0]));
       return Done{};
     }, nullptr},
    {"data", "data", Shape::one, Type::text, From::plan_file,
     [](PlanDraft& d, Texts v) -> Result<Done> { return d.plan.data.source = v[0], Done{}; }, nullptr},
    {"data_limit", "data-limit", Shape::one, Type::integer, From::anywhere,
     [](PlanDraft& d, Texts v) -> Result<Done> {
       INFERMETER_TRY(d.plan.data.limit, integer_from_string(v[0], 0, kAnyNumber));
       return Done{};
     }, nullptr},
    {"data_seed", "data-seed", Shape::one, Type::integer, From::anywhere,
     [](PlanDraft& d, Texts v) -> Result<Done> {
       INFERMETER_TRY(d.plan.data.seed, seed_from_string(v[0]));
       return Done{};
     }, nullptr},
    {"labels", "labels", Shape::one, Type::text, From::plan_file,
     [](PlanDraft& d, Texts v) -> Result<Done> { return d.plan.data.labels = v[0], Done{}; }, nullptr},
    {"distribution", "distribution", Shape::pairs, Type::text, From::anywhere, nullptr,
     [](PlanDraft& d) -> Pairs& { return d.plan.data.distributions; }},
    {"outliers", "outliers", Shape::one, Type::text, From::anywhere,
     [](PlanDraft& d, Texts v) -> Result<Done> {
       INFERMETER_TRY(d.plan.outliers, outlier_rule_from_string(v[0]));
       return Done{};
     }, nullptr},
    {"load_timeout", "load-timeout", Shape::one, Type::number_or_text, From::anywhere,
     [](PlanDraft& d, Texts v) -> Result<Done> {
       INFERMETER_TRY(d.plan.limits.load_timeout_s, positive_seconds(v[0]));
       return Done{};
     }, nullptr},
    {"run_timeout", "run-timeout", Shape::one, Type::number_or_text, From::anywhere,
     [](PlanDraft& d, Texts v) -> Result<Done> {
       INFERMETER_TRY(d.run_timeout_s, positive_seconds(v[0]));
       return Done{};
     }, nullptr},
    {"memory_limit", "memory-limit", Shape::one, Type::number_or_text, From::anywhere,
     [](PlanDraft& d, Texts v) -> Result<Done> {
       INFERMETER_TRY(d.plan.limits.memory_limit_bytes, bytes_from_string(v[0]));
       return Done{};
     }, nullptr},
    {"sandbox", "sandbox", Shape::one, Type::text, From::anywhere,
     [](PlanDraft& d, Texts v) -> Result<Done> {
       INFERMETER_TRY(d.plan.sandbox, sandbox_from_string(v[0]));
       return Done{};
     }, nullptr},
    {"cpus", "cpus", Shape::list, Type::integer_or_text, From::anywhere, set_processors, nullptr},
    {"compare_outputs", "compare-outputs", Shape::one, Type::boolean, From::anywhere, set_compare_outputs, nullptr},
    {"output_dir", "output-dir", Shape::one, Type::text, From::anywhere,
     [](PlanDraft& d, Texts v) -> Result<Done> { return d.plan.output_dir = v[0], Done{}; }, nullptr},
    {"store", "store", Shape::one, Type::text, From::anywhere,
     [](PlanDraft& d, Texts v) -> Result<Done> { return d.plan.store = v[0], Done{}; }, nullptr},
    {"format", "format", Shape::one, Type::text, From::anywhere,
     [](PlanDraft& d, Texts v) -> Result<Done> { return d.format = v[0], Done{}; }, nullptr},
});

// A distribution and a batch axis may come without an input's name: they are every input's then.
Result<Done> apply_pairs(const Setting& setting, PlanDraft& draft, Texts values) {
  for (const std::string& text : values) {
    if (may_be_unnamed(setting) && text.find('=') == std::string::npos) {
      set_pair(setting.pairs(draft), "", text);
      continue;
    }
    INFERMETER_TRY(auto pair, pair_from_string(text, "it"));
    set_pair(setting.pairs(draft), std::move(pair.first), std::move(pair.second));
  }
  return Done{};
}

}  // namespace

std::span<const Setting> settings() { return kSettings; }

const Setting* find_setting(std::string_view key) {
  const auto found = std::ranges::find(kSettings, key, &Setting::key);
  return found == kSettings.end() ? nullptr : &*found;
}

Result<Done> apply_setting(const Setting& setting, PlanDraft& draft, std::span<const std::string> values) {
  if (setting.shape == Shape::pairs) return apply_pairs(setting, draft, values);
  if (setting.shape == Shape::one && values.size() != 1) {
    return usage_error(fmt::format("expected one value, got {}", values.size()));
  }
  if (values.empty()) return usage_error("expected at least one value, got none");
  for (const std::string& value : values) {
    if (value.empty()) return usage_error("the value is empty");
  }
  return setting.apply(draft, values);
}

}  // namespace infermeter
