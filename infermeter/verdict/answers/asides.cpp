#include "infermeter/verdict/answers/asides.hpp"

#include <algorithm>

namespace infermeter {

void set_figure(const Estimate& estimate, std::string_view unit, Answer& answer) {
  answer.value = estimate.value;
  answer.interval = estimate.interval;
  answer.unit = std::string(unit);
  answer.n = estimate.n;
  answer.n_of = "iterations";
  answer.processes = estimate.processes;
  answer.reason = estimate.note;
}

Answer answer_of_pairs(const PairedComparison& pairs) {
  Answer answer{.topic = AnswerTopic::speed,
                .kind = AnswerKind::unknown,
                .tone = Tone::faint,
                .subjects = {pairs.candidate},
                .baseline = pairs.baseline,
                .metric = pairs.metric};
  if (pairs.estimate) set_figure(ratio_of(pairs), "x", answer);
  const int apart = pairs.baseline_processes + pairs.candidate_processes;
  answer.n = apart > 0 ? apart : pairs.pairs();
  answer.n_of = apart > 0 ? "processes" : "pairs";
  answer.direction = pairs.direction;
  switch (pairs.direction) {
    case Direction::faster: answer.kind = AnswerKind::faster, answer.tone = Tone::good; break;
    case Direction::slower: answer.kind = AnswerKind::slower, answer.tone = Tone::warning; break;
    case Direction::equivalent: answer.kind = AnswerKind::equivalent, answer.tone = Tone::plain; break;
    case Direction::unresolved: answer.kind = pairs.interval ? AnswerKind::undecided : AnswerKind::unknown; break;
  }
  return answer;
}

bool outputs_differ(const SubjectOutputs* outputs) {
  return outputs != nullptr && !outputs->comparison.agree && !outputs->comparison.undecided;
}

void add_outputs(const SubjectOutputs* outputs, Answer& answer) {
  Answer aside{.topic = AnswerTopic::outputs,
               .kind = AnswerKind::outputs_not_compared,
               .subjects = answer.subjects,
               .baseline = answer.baseline};
  if (outputs_differ(outputs)) {
    aside.kind = AnswerKind::outputs_differ;
    aside.tone = Tone::bad;
  } else if (outputs != nullptr) {
    aside.kind = outputs->comparison.agree ? AnswerKind::outputs_agree : AnswerKind::outputs_undecided;
    aside.tone = outputs->comparison.agree ? Tone::good : Tone::faint;
  }
  answer.besides.push_back(std::move(aside));
}

void add_memory(const SubjectVerdict& subject, Answer& answer) {
  const Ratio* ratio = ratio_of(subject, "memory_peak");
  if (is_on_device(subject) || ratio == nullptr || !ratio->estimate.value || !ratio->estimate.interval) return;
  const auto [low, high, confidence] = *ratio->estimate.interval;
  if (low <= 1 && high >= 1) return;
  Answer aside{.topic = AnswerTopic::memory,
               .kind = low > 1 ? AnswerKind::less_memory : AnswerKind::more_memory,
               .subjects = answer.subjects,
               .baseline = answer.baseline,
               .metric = "memory_peak"};
  set_figure(ratio->estimate, "x", aside);
  answer.besides.push_back(std::move(aside));
}

void add_requests(const RunRecord& record, int subject, Answer& answer) {
  const auto is_reported = [&](const Samples& trial) {
    return trial.subject == subject && has_diagnostic(trial, DiagnosticId::one_request_at_a_time);
  };
  if (std::ranges::none_of(record.trials, is_reported)) return;
  answer.besides.push_back(
      {.topic = AnswerTopic::requests, .kind = AnswerKind::one_request_at_a_time, .subjects = {subject}});
}

}  // namespace infermeter
