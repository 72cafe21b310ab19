// PlanDraft: what was asked for, by flags, variables and files, before the matrix is multiplied out. Each source writes
// over what an earlier one said; `make_plan` turns the result into a Plan.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "infermeter/diagnostics/result.hpp"
#include "infermeter/plan/plan.hpp"

namespace infermeter {

inline constexpr std::string_view kBatchAxisKey = "batch_axis";

// One subject written out; what it does not say comes from the plan.
struct SubjectDraft {
  std::string label{};
  std::string model{};
  std::string backend{};
  std::optional<std::int64_t> batch_size{};
  std::optional<std::string> device{};
  std::optional<Precision> dtype{};
  std::optional<int> threads{};
  std::optional<std::string> backend_library{};
  std::optional<int> group{};
  Pairs dimensions{}, batch_axes{}, options{}, load{}, environment{};  // added to the plan's, which they beat

  // What a table or a dict calls "options", "dimensions", "batch_axis", "load", "env"; nullptr: no such pairs.
  [[nodiscard]] Pairs* pairs(std::string_view key);
};

struct PlanDraft {
  std::vector<SubjectDraft> subjects{};
  std::vector<std::string> models{}, backends{};  // the matrix
  // Multiply every subject that does not say its own; empty: the defaults of Subject.
  std::vector<std::int64_t> batch_sizes{};
  std::vector<Precision> dtypes{};
  std::vector<int> threads{};
  // Subjects that say nothing of their load are measured under each of these; empty: under that of `defaults`, if any.
  std::vector<Pairs> loads{};
  Subject defaults{};  // device, dimensions, batch axes, options, load, library of every subject
  // Everything else; its subjects are those of an earlier stage, used if nothing else names any.
  Plan plan{.automatic = {.warmup = true, .iterations = true, .processes = true}};
  // Is the first subject to be compared with the others until it is known which is faster? Then in one group, whatever
  // the models are called, and `question` says how.
  bool is_comparison = false;
  Question question{};
  std::optional<double> run_timeout_s{};   // default: what a plan usually has, and the duration that is asked for
  bool wants_automatic_processes = false;  // said, not by default
  bool wants_budget = false;               // on the command line: a default is passed over where it has no meaning
  std::optional<int> max_pairs{};          // default: 40, or 200 until resolved
  std::optional<int> repeat_disturbed{};   // default: 3 with automatic processes, a fifth of the pairs of a comparison
  std::string format{};                    // of the report; empty: not said
  // What a file names that is code, first of its kind: a model (is_factory) or library of its subjects, the library of
  // all of them, a folder of back ends. Refused unless plan.allow_code; what is then said elsewhere takes its place.
  std::string code_of_file{}, library_of_file{}, folder_of_file{};
  // As well: the options of its subjects, and of all subjects, that lead to a server (server_url.hpp), "url=http://…".
  std::string server_of_file{};
  Pairs server_options_of_file{};
  Pairs prompts_of_file{};                  // files of prompts (prompt_file.hpp), which no server may be given
  std::vector<std::string> ambient_keys{};  // that infermeter.toml sets
};

// `[label=]MODEL@BACKEND[,key=value…]` (subject.hpp says the rules).
[[nodiscard]] Result<SubjectDraft> subject_draft_from_string(std::string_view text);

// What the draft does not say, `defaults` say. Without a label.
[[nodiscard]] Subject subject_of(const SubjectDraft& draft, const Subject& defaults);

// Sets what a key of the short form says: "batch", "dim.height", …; any other key is an option of the back end.
[[nodiscard]] Result<Done> set_subject_key(SubjectDraft& draft, std::string key, std::string value);

// Sets batch_size, dtype, device, threads, backend_library, label, model, backend or group from text. False: no such
// key.
[[nodiscard]] Result<bool> set_subject_value(SubjectDraft& draft, std::string_view key, std::string_view value);

// Adds or replaces the pair with this name.
void set_pair(Pairs& pairs, std::string name, std::string value);

// Adds or replaces dimensions, batch axes, options and environment with those that the draft says.
void set_pairs(Subject& subject, const SubjectDraft& draft);

// The draft's limits: those that were said, and for a run that is to last a certain time so much longer.
[[nodiscard]] Limits limits_of(const PlanDraft& draft);

// Three processes of each subject where no number was asked for: what judges runs by tests of its own, or takes many of
// them, does not let the data choose. Error: `auto` was asked for.
[[nodiscard]] Result<Done> use_fixed_processes(PlanDraft& draft);

// Multiplies out, labels, orders and checks. Subjects written out are compared with the first of them: they form one
// group per batch size of the plan (one that says its own is in the first), but two different names from the zoo are
// never in one group. The matrix has a group per model and batch size.
[[nodiscard]] Result<Plan> make_plan(const PlanDraft& draft);

}  // namespace infermeter
