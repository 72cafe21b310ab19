#include "infermeter/verdict/apart/join_runs.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <utility>

#include "infermeter/verdict/across_runs.hpp"
#include "infermeter/verdict/rounds/blocks.hpp"
#include "infermeter/verdict/rounds/rounds.hpp"

namespace infermeter {
namespace {

constexpr std::size_t max_labels = 5;

using Matches = std::vector<std::pair<int, int>>;  // subjects of before and after

Matches matches_of(const RunRecord& before, const RunRecord& after) {
  if (before.plan.subjects.size() == 1 && after.plan.subjects.size() == 1) return {{0, 0}};
  Matches matches;
  for (int subject = 0; subject < static_cast<int>(after.plan.subjects.size()); ++subject) {
    const auto other = same_subject(after, subject, before);
    if (!other || std::ranges::find(matches, *other, &std::pair<int, int>::first) != matches.end()) continue;
    matches.emplace_back(*other, subject);
  }
  return matches;
}

std::string labels_text(const RunRecord& run) {
  std::vector<std::string> labels;
  for (const Subject& subject : run.plan.subjects) labels.push_back(fmt::format("'{}'", subject.label));
  const bool more = labels.size() > max_labels;
  if (more) labels.resize(max_labels);
  return fmt::format("{}{}", fmt::join(labels, ", "), more ? ", …" : "");
}

void add_subject_of(RunRecord& joined, const RunRecord& run, int subject, int group) {
  const int index = static_cast<int>(joined.plan.subjects.size());
  Subject own = run.plan.subjects.at(static_cast<std::size_t>(subject));
  own.label = fmt::format("{} ({})", own.label, run.id);
  own.group = group;
  joined.plan.subjects.push_back(std::move(own));
  const auto model = static_cast<std::size_t>(subject);
  joined.models.push_back(model < run.models.size() ? run.models[model] : ModelFacts{});
  for (Samples trial : trials_of(run, subject)) {
    trial.subject = index;
    trial.position = static_cast<int>(joined.trials.size());
    joined.trials.push_back(std::move(trial));
  }
}

JoinedRun joined_run(const RunRecord& run, const std::vector<int>& matched) {
  JoinedRun joined{.id = run.id, .created_at = run.created_at, .level = level_of_rounds(run), .unmatched = {}};
  for (int subject = 0; subject < static_cast<int>(run.plan.subjects.size()); ++subject) {
    if (std::ranges::find(matched, subject) == matched.end())
      joined.unmatched.push_back(run.plan.subjects[static_cast<std::size_t>(subject)].label);
  }
  return joined;
}

const Samples* first_with_outputs(const RunRecord& record, int subject) {
  const auto found = std::ranges::find_if(record.trials, [&](const Samples& trial) {
    return trial.subject == subject && trial.end == TrialEnd::ok && trial.output_digest != 0;
  });
  return found == record.trials.end() ? nullptr : &*found;
}

}  // namespace

void compare_digests(RunRecord& joined, int baseline, int candidate) {
  const Samples* before = first_with_outputs(joined, baseline);
  const Samples* after = first_with_outputs(joined, candidate);
  if (before == nullptr || after == nullptr || before->input_digest != after->input_digest) return;
  SubjectOutputs outputs{.subject = candidate, .reference = baseline, .comparison = {}};
  outputs.comparison.items = 1;
  outputs.comparison.agree = before->output_digest == after->output_digest;
  outputs.comparison.undecided = !outputs.comparison.agree;
  OutputDifference all;
  all.name = "all outputs";
  all.within_tolerance = outputs.comparison.agree;
  if (outputs.comparison.agree) {
    all.max_absolute = 0;
  } else {
    all.undecided = "their bytes differ, and runs keep only digests: `infermeter validate` compares the values";
  }
  outputs.comparison.outputs.push_back(std::move(all));
  joined.outputs.push_back(std::move(outputs));
}

Result<RunRecord> join_runs(const RunRecord& before, const RunRecord& after, const Question& question) {
  if (before.id == after.id) return usage_error(fmt::format("both are run {}: name two runs", before.id));
  const Matches matches = matches_of(before, after);
  if (matches.empty()) {
    return usage_error(fmt::format("the runs {} and {} have no subject in common: {} there, {} here", before.id,
                                   after.id, labels_text(before), labels_text(after)));
  }
  RunRecord joined;
  joined.id = fmt::format("{} and {}", before.id, after.id);
  joined.created_at = after.created_at;
  joined.finished = before.finished && after.finished;
  joined.plan = after.plan;
  joined.plan.subjects.clear();
  joined.plan.order.clear();
  joined.plan.automatic = {};
  joined.plan.repeat_disturbed = 0;  // what was set aside is not taken
  joined.plan.tuning.reset();        // two races are compared as runs
  joined.plan.question = question;
  joined.environment = after.environment;
  joined.diagnostics = after.diagnostics;
  std::vector<int> of_before, of_after;
  for (const auto& [one, other] : matches) {
    const int group = static_cast<int>(of_before.size());
    add_subject_of(joined, before, one, group);
    add_subject_of(joined, after, other, group);
    compare_digests(joined, 2 * group, 2 * group + 1);
    of_before.push_back(one);
    of_after.push_back(other);
  }
  joined.joined = {joined_run(before, of_before), joined_run(after, of_after)};
  joined.joined.front().machine = machine_fingerprint(before.environment);
  joined.joined.back().machine = machine_fingerprint(after.environment);
  return joined;
}

}  // namespace infermeter
