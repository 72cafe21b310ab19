#include "infermeter/verdict/gate/study.hpp"
#include "infermeter/verdict/judge.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <utility>

namespace infermeter {
namespace {

// Worst first: an interruption explains all the others, and what could not be measured what was not kept to.
constexpr auto codes = std::to_array<int>({130, 2, 4, 3, 1, 5, 0});

int exit_code_of(const StudiedPart& part) {
  return part.gate.expectations.empty() ? judge(part.record).exit_code : part.verdict.exit_code;
}

template <class T>
void keep(std::vector<T>& all, int subject) {
  std::erase_if(all, [subject](const T& one) { return one.subject != subject; });
  for (T& one : all) one.subject = 0;
}

template <class T>
void keep_positions(std::vector<T>& all, const std::vector<Samples>& trials) {
  std::erase_if(
      all, [&](const T& one) { return std::ranges::find(trials, one.position, &Samples::position) == trials.end(); });
}

}  // namespace

StudiedPart study_part(StudyPartRequest request, std::vector<RunRecord> runs) {
  StudiedPart part{.name = std::move(request.name), .title = std::move(request.title)};
  part.gate = std::move(request.gate);
  for (std::size_t i = 1; i < runs.size(); ++i) part.earlier.push_back(runs[i].id);
  const Verdict verdict = judge(runs.front());
  part.verdict =
      judge_gate(part.gate, {.run = runs.front(), .verdict = verdict, .earlier = std::span(runs).subspan(1)});
  part.predictions = predict(runs.front(), verdict, request.counter, request.metric);
  part.record = std::move(runs.front());
  return part;
}

std::optional<Outcome> outcome_of(const StudiedPart& part) {
  if (exit_code_of(part) > 1 && exit_code_of(part) != 5) return Outcome::fail;
  if (part.gate.expectations.empty()) return std::nullopt;
  if (part.verdict.failed > 0) return Outcome::fail;
  return part.verdict.inconclusive > 0 ? Outcome::inconclusive : Outcome::pass;
}

std::optional<Outcome> outcome_of(const StudyRecord& study) {
  std::optional<Outcome> worst;
  for (const StudiedPart& part : study.parts) {
    const auto outcome = outcome_of(part);
    if (!outcome || worst == Outcome::fail) continue;
    if (!worst || *outcome != Outcome::pass) worst = outcome;
  }
  return worst;
}

int exit_code_of(const StudyRecord& study) {
  for (const int code : codes) {
    const auto has_it = [code](const StudiedPart& part) { return exit_code_of(part) == code; };
    if (std::ranges::any_of(study.parts, has_it)) return code;
  }
  return 0;
}

RunRecord only_subject(const RunRecord& run, int subject) {
  const auto index = static_cast<std::size_t>(subject);
  RunRecord alone = run;
  alone.plan.subjects = {run.plan.subjects.at(index)};
  alone.plan.subjects.front().group = 0;
  alone.plan.question.reset();
  if (index < run.models.size()) alone.models = {run.models[index]};
  std::erase_if(alone.plan.order, [index](const PlannedTrial& one) { return one.subject != index; });
  for (PlannedTrial& one : alone.plan.order) one.subject = 0;
  keep(alone.trials, subject);
  keep(alone.side_trials, subject);
  keep_positions(alone.profiles, alone.side_trials);
  keep_positions(alone.stacks, alone.side_trials);
  alone.outputs.clear();
  keep(alone.accuracy, subject);
  for (SubjectAccuracy& one : alone.accuracy) one.reference.reset(), one.paired.reset();
  return alone;
}

}  // namespace infermeter
