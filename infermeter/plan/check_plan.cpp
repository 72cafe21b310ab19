#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "infermeter/plan/load/load_shape.hpp"
#include "infermeter/plan/plan.hpp"
#include "infermeter/plan/quantity.hpp"
#include "infermeter/plan/server_url.hpp"

namespace infermeter {
namespace {

constexpr std::size_t kMostSubjects = 10'000;

Result<Done> check_text(std::string_view text, std::string_view what, std::string_view about) {
  if (text.empty()) return usage_error(fmt::format("{}: the {} is empty", about, what));
  if (text.find('\0') != std::string_view::npos) return usage_error(fmt::format("{}: the {} holds a NUL", about, what));
  if (!is_utf8(text)) return usage_error(fmt::format("{}: the {} is not valid UTF-8", about, what));
  return Done{};
}

Result<Done> check_pairs(const Pairs& pairs, std::string_view what, std::string_view about) {
  std::set<std::string_view> names;
  for (const auto& [name, value] : pairs) {
    INFERMETER_TRY_DONE(check_text(name, fmt::format("name of {}", what), about));
    if (!value.empty()) INFERMETER_TRY_DONE(check_text(value, fmt::format("value of {} {}", what, name), about));
    if (!names.insert(name).second) return usage_error(fmt::format("{}: {} {} is given twice", about, what, name));
  }
  return Done{};
}

Result<Done> check_dimensions(const Subject& subject, std::string_view about) {
  INFERMETER_TRY_DONE(check_pairs(subject.dimensions, "dimension", about));
  for (const auto& [name, value] : subject.dimensions) {
    const auto size = integer_from_string(value, 1, std::int64_t{1} << 40);
    if (!size) return usage_error(fmt::format("{}: dimension {}: {}", about, name, size.error().message));
  }
  return Done{};
}

Result<Done> check_batch_axes(const Subject& subject, std::string_view about) {
  std::set<std::string_view> names;
  for (const auto& [input, axis] : subject.batch_axes) {
    const bool is_none = axis == "none";
    if (!names.insert(input).second) {
      return usage_error(fmt::format("{}: the batch axis of input '{}' is given twice", about, input));
    }
    if (!is_utf8(input)) return usage_error(fmt::format("{}: the name of an input (--batch-axis) is not UTF-8", about));
    if (is_none) continue;
    if (input.empty()) {
      return usage_error(
          fmt::format("{}: --batch-axis {}: give it for an input, INPUT={}, or none", about, axis, axis));
    }
    const auto place = integer_from_string(axis, 0, 63);
    if (!place)
      return usage_error(fmt::format("{}: --batch-axis {}={}: {}, or none", about, input, axis, place.error().message));
  }
  return Done{};
}

// Those that every worker gets cannot be given.
Result<Done> check_environment(const Subject& subject, std::string_view about) {
  INFERMETER_TRY_DONE(check_pairs(subject.environment, "environment variable", about));
  for (const auto& [name, value] : subject.environment) {
    if (name.find('=') != std::string::npos)
      return usage_error(
          fmt::format("{}: an environment variable cannot be called '{}' (--env NAME=VALUE)", about, name));
    if (name == "HOME" || name == "TMPDIR" || name.starts_with("INFERMETER_"))
      return usage_error(
          fmt::format("{}: the environment variable {} is infermeter's own in a worker; leave it out of "
                      "--env",
                      about, name));
  }
  return Done{};
}

Result<Done> check_subject(const Subject& subject, std::size_t index, const Stopping& stopping) {
  const std::string nth = fmt::format("subject {}", index + 1);
  INFERMETER_TRY_DONE(check_text(subject.label, "label", nth));
  const std::string about = fmt::format("subject '{}'", subject.label);
  INFERMETER_TRY_DONE(check_text(subject.model, "model", about));
  INFERMETER_TRY_DONE(check_text(subject.backend, "back end", about));
  INFERMETER_TRY_DONE(check_text(subject.device, "device", about));
  if (!subject.backend_library.empty()) {
    INFERMETER_TRY_DONE(check_text(subject.backend_library, "back end's library", about));
  }
  if (subject.batch_size < 1) {
    return usage_error(
        fmt::format("{}: the batch size is {}: at least 1 is needed (--batch-sizes)", about, subject.batch_size));
  }
  if (subject.threads < 0) {
    return usage_error(fmt::format("{}: {} threads: 1 or more, or 0 for as many as there are processors (--threads)",
                                   about, subject.threads));
  }
  INFERMETER_TRY_DONE(check_dimensions(subject, about));
  INFERMETER_TRY_DONE(check_batch_axes(subject, about));
  INFERMETER_TRY_DONE(check_environment(subject, about));
  const auto load = load_shape_from_pairs(subject.load);
  if (!load) return usage_error(fmt::format("{}: {}", about, load.error().message));
  if (load->find_rate && !stopping.duration_s) {
    return usage_error(fmt::format("{}: a rate is found within a time: --duration 1m instead of a number", about));
  }
  INFERMETER_TRY_DONE(check_pairs(subject.options, "option", about));
  if (const auto server = check_server_options(subject); !server.ok()) {
    return usage_error(fmt::format("{}: {}", about, server.error().message));
  }
  return Done{};
}

Result<Done> check_subjects(const std::vector<Subject>& subjects, const Stopping& stopping) {
  if (subjects.empty()) {
    return usage_error(
        "nothing to measure: give subjects (resnet50@openvino), or --model and --backend, or --plan FILE.toml");
  }
  if (subjects.size() > kMostSubjects) {
    return usage_error(
        fmt::format("{} subjects are more than the {} that a plan may have", subjects.size(), kMostSubjects));
  }
  std::set<std::string_view> labels;
  for (std::size_t i = 0; i < subjects.size(); ++i) {
    INFERMETER_TRY_DONE(check_subject(subjects[i], i, stopping));
    if (!labels.insert(subjects[i].label).second) {
      return usage_error(
          fmt::format("two subjects have the label '{}': give one another (LABEL=MODEL@BACKEND)", subjects[i].label));
    }
  }
  return Done{};
}

Result<Done> check_seconds(double seconds, std::string_view what, std::string_view flag) {
  if (std::isfinite(seconds) && seconds > 0) return Done{};
  return usage_error(fmt::format("{} of {} s cannot be: it must be above 0 ({})", what, seconds, flag));
}

Result<Done> check_stopping(const Stopping& stopping) {
  if (stopping.warmup < 0) {
    return usage_error(fmt::format("{} warm-up iterations cannot be: 0 or more (--warmup)", stopping.warmup));
  }
  if (stopping.count_first && stopping.warmup > 0) {
    return usage_error(fmt::format(
        "{} warm-up iterations, and the first inference counts (--warmup none): one of the two", stopping.warmup));
  }
  if (stopping.iterations.has_value() == stopping.duration_s.has_value()) {
    return usage_error("a trial stops by --iterations or by --duration: exactly one of them must be set");
  }
  if (stopping.iterations && *stopping.iterations < 1) {
    return usage_error(
        fmt::format("{} iterations cannot be: at least 1 is needed (--iterations)", *stopping.iterations));
  }
  return stopping.duration_s ? check_seconds(*stopping.duration_s, "a duration", "--duration") : Done{};
}

Result<Done> check_question(const Question& question, const Plan& plan) {
  INFERMETER_TRY_DONE(check_levels(question));
  if (question.all_pairs && question.until_resolved) {
    return usage_error("--all-pairs and --until-resolved exclude each other");
  }
  if (question.budget_s) INFERMETER_TRY_DONE(check_seconds(*question.budget_s, "a budget", "--budget"));
  INFERMETER_TRY_DONE(check_text(question.metric, "metric (--metric)", "plan"));
  if (plan.subjects.size() >= 2) return Done{};
  return usage_error(fmt::format("a comparison needs at least two subjects, got only '{}': give a second one",
                                 plan.subjects.front().label));
}

Result<Done> check_tuning(const Tuning& tuning, const Plan& plan) {
  if (plan.subjects.size() < 2) {
    return usage_error(fmt::format("a race needs at least two settings, got only '{}': name more values (--over)",
                                   plan.subjects.front().label));
  }
  if (!(tuning.indifference >= 0 && tuning.indifference < 1)) {
    return usage_error(fmt::format("an indifference of {} cannot be: from 0 % to below 100 % (--indifference 2%)",
                                   tuning.indifference));
  }
  if (!(tuning.alpha > 0 && tuning.alpha <= 0.5)) {
    return usage_error(fmt::format("an alpha of {} cannot be: above 0 and at most 0.5 (--alpha 5%)", tuning.alpha));
  }
  const bool has_blocks = tuning.halving_blocks >= 0 && tuning.race_blocks > 0 && tuning.confirmation_pairs >= 0 &&
                          tuning.halving_blocks + tuning.race_blocks + tuning.confirmation_pairs == plan.processes;
  if (!has_blocks) return usage_error("the blocks of a race are not those of its plan");
  return check_seconds(tuning.budget_s, "a budget", "--budget");
}

Result<Done> check_data(const DataRequest& data) {
  INFERMETER_TRY_DONE(check_text(data.source, "source of the data (--data)", "plan"));
  if (data.limit < 0) return usage_error(fmt::format("a limit of {} data items cannot be (--data-limit)", data.limit));
  for (const auto& [input, distribution] : data.distributions) {
    INFERMETER_TRY_DONE(check_text(distribution, fmt::format("distribution of input '{}'", input), "plan"));
    if (!is_utf8(input)) return usage_error("the name of an input (--distribution) is not valid UTF-8");
  }
  return Done{};
}

Result<Done> check_order(const Plan& plan) {
  for (const PlannedTrial& trial : plan.order) {
    if (trial.subject >= plan.subjects.size() || trial.process < 0 ||
        trial.process >= plan.processes + plan.repeat_disturbed) {
      return usage_error(fmt::format("the order names process {} of subject {}, which the plan does not have",
                                     trial.process, trial.subject + 1));
    }
  }
  return Done{};
}

}  // namespace

Result<Done> check_levels(const Question& question) {
  if (!(question.margin >= 0 && question.margin < 1)) {
    return usage_error(fmt::format("a margin of {} cannot be: from 0 % to below 100 % (--margin 1%)", question.margin));
  }
  if (!(question.alpha > 0 && question.alpha <= 0.5)) {
    return usage_error(fmt::format("an alpha of {} cannot be: above 0 and at most 0.5 (--alpha 0.05)", question.alpha));
  }
  return Done{};
}

Result<Done> check_plan(const Plan& plan) {
  INFERMETER_TRY_DONE(check_subjects(plan.subjects, plan.stopping));
  if (plan.processes < 1 || plan.processes > 10'000) {
    return usage_error(
        fmt::format("{} worker processes per subject cannot be: 1 to 10000 (--processes)", plan.processes));
  }
  if (plan.repeat_disturbed < 0 || plan.repeat_disturbed > 10'000) {
    return usage_error(
        fmt::format("{} disturbed rounds cannot be repeated: 0 to 10000 (--repeat-disturbed)", plan.repeat_disturbed));
  }
  INFERMETER_TRY_DONE(check_stopping(plan.stopping));
  if (!(plan.precision > 0 && plan.precision < 1)) {
    return usage_error(
        fmt::format("a precision of {} cannot be: above 0 % and below 100 % (--precision 2%)", plan.precision));
  }
  if (plan.budget_s) INFERMETER_TRY_DONE(check_seconds(*plan.budget_s, "a budget", "--budget"));
  if (plan.question) INFERMETER_TRY_DONE(check_question(*plan.question, plan));
  if (plan.tuning) INFERMETER_TRY_DONE(check_tuning(*plan.tuning, plan));
  if (plan.leak_iterations < 0 || (plan.leak_iterations > 0 && plan.leak_iterations < 100)) {
    return usage_error(
        fmt::format("{} iterations cannot show a leak: at least 100, or 0 for no leak trial "
                    "(--leak-iterations 2000)",
                    plan.leak_iterations));
  }
  if (plan.profiling.processes < 0 || plan.profiling.iterations < 1) {
    return usage_error(
        fmt::format("a profile of {} processes of {} iterations cannot be: 0 or more, of at least 1 "
                    "(--profile-processes 8 --profile-iterations 20)",
                    plan.profiling.processes, plan.profiling.iterations));
  }
  INFERMETER_TRY_DONE(check_seconds(plan.limits.load_timeout_s, "a load limit", "--load-timeout"));
  INFERMETER_TRY_DONE(check_seconds(plan.limits.run_timeout_s, "a run limit", "--run-timeout"));
  if (plan.stopping.duration_s && *plan.stopping.duration_s >= plan.limits.run_timeout_s) {
    return usage_error(
        fmt::format("{:g} s of timed inferences do not end within a run limit of {:g} s: a longer --run-timeout, or a "
                    "shorter --duration",
                    *plan.stopping.duration_s, plan.limits.run_timeout_s));
  }
  INFERMETER_TRY_DONE(check_data(plan.data));
  if (std::ranges::any_of(plan.cpus, [](int cpu) { return cpu < 0; })) {
    return usage_error("a processor's number cannot be negative (--cpus)");
  }
  if (plan.outliers.kind != OutlierRule::Kind::none &&
      !(std::isfinite(plan.outliers.factor) && plan.outliers.factor > 0)) {
    return usage_error("the outlier rule's factor must be above 0 (--outliers)");
  }
  INFERMETER_TRY_DONE(check_text(plan.output_dir, "output folder (--output-dir)", "plan"));
  if (!is_utf8(plan.store)) return usage_error("the store (--store) is not valid UTF-8");
  if (!is_utf8(plan.backend_path)) return usage_error("the folder of plug-ins (--backend-path) is not valid UTF-8");
  return check_order(plan);
}

}  // namespace infermeter
