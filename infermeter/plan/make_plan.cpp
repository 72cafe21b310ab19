#include <fmt/format.h>

#include <algorithm>

#include "infermeter/plan/draft.hpp"
#include "infermeter/plan/prompt_file.hpp"
#include "infermeter/plan/server_url.hpp"
#include "infermeter/plan/subject.hpp"

namespace infermeter {
namespace {

constexpr std::size_t kMostSubjectsMade = 10'000;

template <class T>
std::vector<T> or_else(const std::vector<T>& values, const T& usual) {
  return values.empty() ? std::vector<T>{usual} : values;
}

Matrix matrix_of(const PlanDraft& draft) {
  return {.models = draft.models,
          .backends = draft.backends,
          .batch_sizes = or_else(draft.batch_sizes, draft.defaults.batch_size),
          .dtypes = or_else(draft.dtypes, draft.defaults.dtype),
          .threads = or_else(draft.threads, draft.defaults.threads),
          .loads = or_else(draft.loads, draft.defaults.load),
          .defaults = draft.defaults};
}

// A label that its user chose must still tell the copies apart.
std::string multiplied_label(const SubjectDraft& draft, const Matrix& m, const Subject& subject) {
  std::string label = draft.label;
  if (label.empty()) return label;
  if (!draft.batch_size && m.batch_sizes.size() > 1) label += fmt::format(",batch={}", subject.batch_size);
  if (!draft.dtype && m.dtypes.size() > 1) label += fmt::format(",dtype={}", to_string(subject.dtype));
  if (!draft.threads && m.threads.size() > 1) label += fmt::format(",threads={}", subject.threads);
  if (draft.load.empty() && m.loads.size() > 1)
    for (const auto& [key, value] : subject.load) label += fmt::format(",{}={}", key, value);
  return label;
}

// Names of one plain word are the zoo's: two of them are two networks, which nobody wants compared. Files and code may
// be variants of whatever comes first, and are compared with it.
bool is_name(std::string_view model) { return model.find_first_of("/.:") == std::string_view::npos; }

int usual_group(const std::string& model, std::size_t batch_index, std::vector<std::string>& networks) {
  std::size_t network = 0;
  if (is_name(model) && is_name(networks.front())) {
    network = static_cast<std::size_t>(std::ranges::find(networks, model) - networks.begin());
    if (network == networks.size()) networks.push_back(model);
  }
  return static_cast<int>(network * kMostSubjectsMade + batch_index);
}

// One of the values that multiply subjects, by their places.
struct MatrixPlace {
  std::size_t batch = 0, dtype = 0, threads = 0, load = 0;
};

std::vector<MatrixPlace> places_of(const Matrix& m) {
  std::vector<MatrixPlace> places;
  for (std::size_t b = 0; b < m.batch_sizes.size(); ++b)
    for (std::size_t d = 0; d < m.dtypes.size(); ++d)
      for (std::size_t t = 0; t < m.threads.size(); ++t)
        for (std::size_t l = 0; l < m.loads.size(); ++l) places.push_back({b, d, t, l});
  return places;
}

// A subject that says a value itself is not multiplied by it.
bool said_already(const SubjectDraft& written, const MatrixPlace& at) {
  return (written.batch_size && at.batch > 0) || (written.dtype && at.dtype > 0) ||
         (written.threads && at.threads > 0) || (!written.load.empty() && at.load > 0);
}

// How requests come is said as a whole. What is good of them is asked of all, unless a subject says its own.
void take_goodput(Pairs& load, const Pairs& of_plan) {
  const auto is_goodput = [](const auto& pair) { return pair.first == "goodput"; };
  const auto asked = std::ranges::find_if(of_plan, is_goodput);
  if (asked != of_plan.end() && std::ranges::none_of(load, is_goodput)) load.push_back(*asked);
}

// Subjects written out, once per batch size, dtype, thread count and load that they leave open.
std::vector<Subject> written_out(const PlanDraft& draft, const Matrix& m) {
  std::vector<Subject> subjects;
  std::vector<std::string> networks{draft.subjects.empty() ? std::string() : draft.subjects.front().model};
  for (const MatrixPlace& at : places_of(m)) {
    for (const SubjectDraft& written : draft.subjects) {
      if (said_already(written, at)) continue;
      Subject defaults = draft.defaults;
      if (written.load.empty()) defaults.load = m.loads[at.load];
      Subject subject = subject_of(written, defaults);
      if (!written.load.empty()) take_goodput(subject.load, m.loads[at.load]);
      subject.batch_size = written.batch_size.value_or(m.batch_sizes[at.batch]);
      subject.dtype = written.dtype.value_or(m.dtypes[at.dtype]);
      subject.threads = written.threads.value_or(m.threads[at.threads]);
      const std::size_t block = at.batch * m.loads.size() + at.load;
      subject.group = written.group.value_or(usual_group(written.model, block, networks));
      subject.label = multiplied_label(written, m, subject);
      subjects.push_back(std::move(subject));
    }
  }
  return subjects;
}

Error refuse(std::string_view what, const std::string& name) {
  return usage_error(
      fmt::format("the plan file names {}, '{}': if you trust it, add --allow-code or name it on the command line",
                  what, name.substr(0, 200)));
}

Result<Done> check_code(const PlanDraft& draft) {
  if (draft.plan.allow_code) return Done{};
  if (is_factory(draft.code_of_file)) return refuse("a model that is Python code", draft.code_of_file);
  if (!draft.code_of_file.empty()) return refuse("a library of a back end", draft.code_of_file);
  if (!draft.library_of_file.empty()) return refuse("a library of a back end", draft.library_of_file);
  if (!draft.folder_of_file.empty()) return refuse("a folder of back ends", draft.folder_of_file);
  if (!draft.server_of_file.empty()) return refuse("a server", draft.server_of_file);
  // Those that still stand.
  for (const auto& option : draft.server_options_of_file)
    if (std::ranges::find(draft.defaults.options, option) != draft.defaults.options.end())
      return refuse("a server", fmt::format("{}={}", option.first, option.second));
  return Done{};
}

// What a file says may not be what leaves this machine.
Result<Done> check_prompts(const PlanDraft& draft, const std::vector<Subject>& subjects) {
  if (draft.plan.allow_code) return Done{};
  for (const Subject& subject : subjects)
    for (const auto& option : draft.prompts_of_file)
      if (is_on_server(subject) && std::ranges::find(subject.options, option) != subject.options.end())
        return refuse("a file of prompts for a server", fmt::format("{}={}", option.first, option.second));
  return Done{};
}

Result<Done> check_matrix(const PlanDraft& draft, const Matrix& m) {
  if (!draft.models.empty() && draft.backends.empty()) {
    return usage_error(
        fmt::format("model {} has no back end: add, for example, --backend onnxruntime", draft.models.front()));
  }
  if (draft.models.empty() && !draft.backends.empty()) {
    return usage_error(fmt::format("back end {} has no model: add, for example, --model resnet50, or write MODEL@{}",
                                   draft.backends.front(), draft.backends.front()));
  }
  // Each factor alone may be long; their product is what must be bounded before it is made.
  double count = static_cast<double>(draft.subjects.size()) +
                 static_cast<double>(m.models.size()) * static_cast<double>(m.backends.size());
  count *= static_cast<double>(m.batch_sizes.size()) * static_cast<double>(m.dtypes.size()) *
           static_cast<double>(m.threads.size()) * static_cast<double>(m.loads.size());
  if (count <= static_cast<double>(kMostSubjectsMade)) return Done{};
  return usage_error(
      fmt::format("{:.0f} subjects are more than the {} that a plan may have", count, kMostSubjectsMade));
}

// Numbers each group by its first subject, so that groups are 0, 1, 2, … whatever they were called.
void renumber_groups(std::vector<Subject>& subjects) {
  std::vector<int> seen;
  for (Subject& subject : subjects) {
    auto found = std::ranges::find(seen, subject.group);
    if (found == seen.end()) found = seen.insert(seen.end(), subject.group);
    subject.group = static_cast<int>(found - seen.begin());
  }
}

constexpr int kUsualPairs = 40;
constexpr int kPairsUntilResolved = 200;

constexpr int kMaxAutomaticProcesses = 20;
constexpr int kMaxRoundsRepeated = 3, kMaxPairsRepeated = 8;
constexpr double kAutomaticBudget = 120;
constexpr double kLoadDuration = 10, kSearchDuration = 60;  // seconds

Result<Done> ask(Plan& plan, const PlanDraft& draft) {
  if (!draft.is_comparison) {
    plan.repeat_disturbed = draft.repeat_disturbed.value_or(plan.automatic.processes ? kMaxRoundsRepeated : 0);
    if (!plan.automatic.processes) {
      if (!draft.wants_budget) return Done{};
      return usage_error(
          fmt::format("--budget limits the rounds of `run --processes auto`, and here the number of processes is fixed "
                      "({}): leave it out",
                      plan.processes));
    }
    plan.processes = kMaxAutomaticProcesses;
    plan.budget_s = draft.question.budget_s.value_or(kAutomaticBudget);
    return Done{};
  }
  plan.automatic.processes = false;
  plan.question = draft.question;
  plan.processes = draft.max_pairs.value_or(draft.question.until_resolved ? kPairsUntilResolved : kUsualPairs);
  plan.repeat_disturbed = draft.repeat_disturbed.value_or(std::min(kMaxPairsRepeated, plan.processes / 5));
  for (Subject& subject : plan.subjects) subject.group = 0;
  return Done{};
}

}  // namespace

std::vector<Subject> expand(const Matrix& m) {
  std::vector<Subject> subjects;
  int group = 0;
  for (const std::string& model : m.models) {
    for (const MatrixPlace& at : places_of(m)) {
      for (const std::string& backend : m.backends) {
        Subject subject = m.defaults;
        subject.label.clear();
        subject.model = model;
        subject.backend = backend;
        subject.dtype = m.dtypes[at.dtype];
        subject.batch_size = m.batch_sizes[at.batch];
        subject.threads = m.threads[at.threads];
        subject.load = m.loads[at.load];
        subject.group = group + static_cast<int>(at.batch * m.loads.size() + at.load);
        subjects.push_back(std::move(subject));
      }
    }
    group += static_cast<int>(m.batch_sizes.size() * m.loads.size());
  }
  label_subjects(subjects);
  return subjects;
}

Limits limits_of(const PlanDraft& draft) {
  Limits limits = draft.plan.limits;
  limits.run_timeout_s =
      draft.run_timeout_s.value_or(limits.run_timeout_s + draft.plan.stopping.duration_s.value_or(0));
  return limits;
}

Result<Done> use_fixed_processes(PlanDraft& draft) {
  if (!draft.plan.automatic.processes) return Done{};
  if (draft.wants_automatic_processes) {
    return usage_error("processes: auto is for `infermeter run`; give a number here (--processes 5)");
  }
  draft.plan.automatic.processes = false;
  draft.plan.processes = Plan{}.processes;
  return Done{};
}

Result<Plan> make_plan(const PlanDraft& draft) {
  INFERMETER_TRY_DONE(check_code(draft));
  const Matrix matrix = matrix_of(draft);
  INFERMETER_TRY_DONE(check_matrix(draft, matrix));
  std::vector<Subject> subjects = written_out(draft, matrix);
  // Two given models are two groups; so are the subjects written out and the matrix.
  int next_group = 0;
  for (const Subject& subject : subjects) next_group = std::max(next_group, subject.group + 1);
  for (Subject& subject : expand(matrix)) {
    subject.group += next_group;
    subject.label.clear();
    subjects.push_back(std::move(subject));
  }
  renumber_groups(subjects);
  Plan plan = draft.plan;
  if (!subjects.empty()) plan.subjects = std::move(subjects);
  INFERMETER_TRY_DONE(check_prompts(draft, plan.subjects));
  INFERMETER_TRY_DONE(ask(plan, draft));
  // How many requests a load takes is no question for a pilot: the time it lasts is.
  const auto is_loaded = [](const Subject& subject) { return !subject.load.empty(); };
  if (plan.automatic.iterations && std::ranges::any_of(plan.subjects, is_loaded)) {
    plan.automatic.iterations = false;
    plan.stopping.iterations.reset();
    const auto seeks = [](const Subject& subject) {
      return std::ranges::any_of(subject.load, [](const auto& pair) { return pair.first == "find_rate"; });
    };
    plan.stopping.duration_s = std::ranges::any_of(plan.subjects, seeks) ? kSearchDuration : kLoadDuration;
  }
  plan.limits = limits_of(draft);
  label_subjects(plan.subjects);
  order_trials(plan);
  INFERMETER_TRY_DONE(check_plan(plan));
  return plan;
}

}  // namespace infermeter
