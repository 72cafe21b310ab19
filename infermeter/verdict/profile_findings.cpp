#include "infermeter/verdict/profile_findings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string>

#include "infermeter/plan/imported.hpp"
#include "infermeter/verdict/answers/trial_diagnostics.hpp"

namespace infermeter {
namespace {

const OperatorProfile* profile_at(const RunRecord& record, int position) {
  const auto found = std::ranges::find(record.profiles, position, &OperatorProfile::position);
  return found == record.profiles.end() ? nullptr : &*found;
}

std::vector<const Samples*> timed_trials(const RunRecord& record, int subject) {
  std::vector<const Samples*> trials;
  for (const Samples& trial : record.trials) {
    if (trial.subject == subject) trials.push_back(&trial);
  }
  return trials;
}

// What each method saw of a subject, native ones first.
std::vector<StackTrials> stack_trials(const RunRecord& record, const SubjectProfile& one) {
  std::vector<StackTrials> methods;
  for (const Samples& trial : record.side_trials) {
    if (trial.purpose != Purpose::profile || trial.subject != one.subject) continue;
    for (const TrialStacks& stacks : record.stacks) {
      if (stacks.position != trial.position) continue;
      auto method = std::ranges::find(methods, stacks.method, [](const StackTrials& trials) -> const std::string& {
        return trials.trials.front().stacks->method;
      });
      if (method == methods.end()) method = methods.insert(methods.end(), StackTrials{});
      method->trials.push_back({.samples = &trial, .profile = profile_at(record, trial.position), .stacks = &stacks});
    }
  }
  for (StackTrials& method : methods) {
    method.operators = one.table.profile;
    method.timed = timed_trials(record, one.subject);
  }
  std::ranges::stable_partition(methods,
                                [](const StackTrials& trials) { return !trials.trials.front().stacks->is_python; });
  return methods;
}

std::vector<StackTree> stack_trees(const RunRecord& record, const SubjectProfile& one) {
  std::vector<StackTree> trees;
  for (const StackTrials& trials : stack_trials(record, one)) {
    StackTree tree = stack_tree(trials);
    if (!tree.nodes.empty()) trees.push_back(std::move(tree));
  }
  return trees;
}

std::vector<StackTree> stack_differences(const RunRecord& record, const SubjectProfile& baseline,
                                         const SubjectProfile& subject, const Explanation& why) {
  std::vector<StackTree> trees;
  const std::vector<StackTrials> of_baseline = stack_trials(record, baseline);
  for (const StackTrials& b : stack_trials(record, subject)) {
    const auto a = std::ranges::find_if(of_baseline, [&](const StackTrials& trials) {
      return trials.trials.front().stacks->method == b.trials.front().stacks->method;
    });
    if (a == of_baseline.end()) continue;
    StackTree tree = stack_difference(*a, b, why.groups);
    if (!tree.nodes.empty()) trees.push_back(std::move(tree));
  }
  return trees;
}

SubjectProfile operators_of(const RunRecord& record, int subject) {
  SubjectProfile one;
  one.subject = subject;
  for (const Samples& trial : record.side_trials) {
    if (trial.purpose != Purpose::profile || trial.subject != subject) continue;
    ++one.asked;
    const OperatorProfile* profile = profile_at(record, trial.position);
    if (profile != nullptr) one.trials.push_back({.samples = &trial, .profile = profile});
  }
  if (one.trials.empty()) return one;
  one.table = operator_table(one.trials, timed_trials(record, subject));
  if (one.table.profile == nullptr) return one;
  // The one iteration that stands for imported means is their sum, and no median.
  if (is_imported(record.plan) && !one.table.profile->has_events()) one.table.profiled_p50_s.reset();
  const std::string threads = one.trials.front().samples->executed_value("threads");
  if (record.peaks && threads != std::to_string(record.peaks->threads)) {
    one.roofline.reason =
        fmt::format("it runs with {} threads, and the machine's peaks are of {}", threads, record.peaks->threads);
  } else if (record.peaks) {
    const Precision dtype = record.plan.subjects[static_cast<std::size_t>(subject)].dtype;
    one.roofline = roofline(one.table, one.table.profile->operators, *record.peaks, std::string(to_string(dtype)));
  } else {
    one.roofline.reason = is_imported(record.plan) ? "the machine that was profiled is not known"
                                                   : "the machine's peaks were not measured";
  }
  return one;
}

bool is_about_profile(DiagnosticId id) {
  constexpr DiagnosticId about_profile[] = {
      DiagnosticId::no_operator_profile,  DiagnosticId::profile_too_long,  DiagnosticId::profile_cut,
      DiagnosticId::nodes_not_attributed, DiagnosticId::no_stack_profile,  DiagnosticId::stacks_by_signal,
      DiagnosticId::stacks_not_joined,    DiagnosticId::no_python_profile,
  };
  return std::ranges::find(about_profile, id) != std::end(about_profile);
}

SubjectProfile subject_profile(const RunRecord& record, int subject) {
  SubjectProfile one = operators_of(record, subject);
  one.stacks = stack_trees(record, one);
  return one;
}

}  // namespace

std::optional<ProfileFindings> find_in_profiles(const RunRecord& record) {
  const bool asked =
      std::ranges::any_of(record.side_trials, [](const Samples& trial) { return trial.purpose == Purpose::profile; });
  if (!asked) return std::nullopt;
  ProfileFindings findings;
  for (std::size_t i = 0; i < record.plan.subjects.size(); ++i) {
    findings.subjects.push_back(subject_profile(record, static_cast<int>(i)));
  }
  for (const SubjectProfile& one : findings.subjects) {
    const std::size_t first = first_of_group(record.plan, static_cast<std::size_t>(one.subject));
    const SubjectProfile& baseline = findings.subjects[first];
    if (first == static_cast<std::size_t>(one.subject) || one.trials.empty() || baseline.trials.empty()) continue;
    ProfileExplanation& why = findings.explanations.emplace_back();
    why.baseline = baseline.subject;
    why.subject = one.subject;
    why.explanation =
        explain(baseline.trials, one.trials, timed_trials(record, baseline.subject), timed_trials(record, one.subject));
    why.stacks = stack_differences(record, baseline, one, why.explanation);
  }
  return findings;
}

std::vector<Diagnostic> profile_diagnostics(const RunRecord& record, const ProfileFindings& findings) {
  std::vector<Diagnostic> found;
  for (const SubjectProfile& one : findings.subjects) {
    const std::string& label = record.plan.subjects[static_cast<std::size_t>(one.subject)].label;
    std::vector<Samples> trials;
    std::ranges::copy_if(record.side_trials, std::back_inserter(trials), [&](const Samples& trial) {
      return trial.purpose == Purpose::profile && trial.subject == one.subject;
    });
    // How a profile trial ran says nothing of the timed ones: only what is about the profile itself is reported.
    for (Diagnostic& diagnostic : merged_diagnostics(trials, label)) {
      if (is_about_profile(diagnostic.id)) found.push_back(std::move(diagnostic));
    }
    const auto failed = std::ranges::find_if(trials, [](const Samples& trial) { return trial.end != TrialEnd::ok; });
    if (failed != trials.end()) {
      found.push_back({.id = DiagnosticId::no_operator_profile,
                       .message = fmt::format("a profile trial {}: {}", to_string(failed->end), failed->message),
                       .about = label});
    }
    if (one.table.distorted) {
      found.push_back({.id = DiagnosticId::profile_distorted,
                       .message = fmt::format("its p50 is {:.1f} % higher while it is profiled",
                                              (*one.table.profiled_p50_s / *one.table.clean_p50_s - 1) * 100),
                       .about = label});
    }
  }
  return found;
}

}  // namespace infermeter
