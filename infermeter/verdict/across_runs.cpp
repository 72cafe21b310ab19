#include "infermeter/verdict/across_runs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "infermeter/text/quoted.hpp"
#include "infermeter/verdict/answers/like_for_like.hpp"
#include "infermeter/verdict/figures.hpp"

namespace infermeter {
namespace {

// Trials without their samples: what was executed is all that conditions need.
void add_subject(RunRecord& pair, const RunRecord& run, int subject) {
  const int index = static_cast<int>(pair.plan.subjects.size());
  pair.plan.subjects.push_back(subject_at(run, subject));
  const auto model = static_cast<std::size_t>(subject);
  pair.models.push_back(model < run.models.size() ? run.models[model] : ModelFacts{});
  for (const Samples& trial : run.trials) {
    if (trial.subject != subject) continue;
    Samples facts;
    facts.subject = index;
    facts.end = trial.end;
    facts.executed = trial.executed;
    facts.input_digest = trial.input_digest;
    pair.trials.push_back(std::move(facts));
  }
}

std::vector<Diagnostic> differing_settings(const RunRecord& run, int subject, const RunRecord& other, int other_subject,
                                           const std::string& name) {
  RunRecord pair;
  add_subject(pair, other, other_subject);
  add_subject(pair, run, subject);
  pair.plan.subjects[0].label = name;
  return like_for_like(pair, 0, 1);
}

bool is_change(DiagnosticId id) {
  return id == DiagnosticId::model_differs || id == DiagnosticId::runtime_version_differs;
}

// "under load (arrivals=poisson rate=10)", "without load"
std::string load_text(const Subject& subject) {
  Pairs load = subject.load;
  std::ranges::sort(load);
  std::string text;
  for (const auto& [key, value] : load) text += fmt::format("{}{}={}", text.empty() ? "" : " ", key, value);
  return text.empty() ? "without load" : fmt::format("under load ({})", printable(text, 200));
}

std::string on_another_machine(const RunRecord& run, const RunRecord& other, const std::string& name) {
  const std::string &here = run.environment.processor, &there = other.environment.processor;
  const bool tells = !here.empty() && !there.empty() && here != there;
  return fmt::format("'{}' was measured on another machine{}", name,
                     tells ? fmt::format(" ({}, here {})", there, here) : "");
}

}  // namespace

std::optional<int> same_subject(const RunRecord& run, int subject, const RunRecord& other) {
  const auto& candidates = other.plan.subjects;
  const auto labelled = std::ranges::find(candidates, subject_at(run, subject).label, &Subject::label);
  if (labelled != candidates.end()) return static_cast<int>(labelled - candidates.begin());
  const std::string series = series_of(run.plan, subject_at(run, subject));
  const auto is_same = [&](const Subject& candidate) { return series_of(other.plan, candidate) == series; };
  if (std::ranges::count_if(candidates, is_same) != 1) return std::nullopt;
  return static_cast<int>(std::ranges::find_if(candidates, is_same) - candidates.begin());
}

Conditions compare_conditions(const RunRecord& run, int subject, const RunRecord& other, int other_subject,
                              const std::string& name) {
  Conditions conditions;
  if (machine_fingerprint(run.environment) != machine_fingerprint(other.environment)) {
    conditions.obstacles.push_back(on_another_machine(run, other, name));
  }
  const std::string here = load_text(subject_at(run, subject)), there = load_text(subject_at(other, other_subject));
  if (here != there)
    conditions.obstacles.push_back(fmt::format("'{}' was measured {}, and this run {}", name, there, here));
  for (const Diagnostic& difference : differing_settings(run, subject, other, other_subject, name)) {
    (is_change(difference.id) ? conditions.changes : conditions.obstacles).push_back(difference.message);
  }
  return conditions;
}

bool is_repetition(const RunRecord& run, int subject, const RunRecord& other, int other_subject) {
  const Conditions conditions = compare_conditions(run, subject, other, other_subject, other.id);
  return conditions.obstacles.empty() && conditions.changes.empty() &&
         series_of(run.plan, subject_at(run, subject)) == series_of(other.plan, subject_at(other, other_subject));
}

}  // namespace infermeter
