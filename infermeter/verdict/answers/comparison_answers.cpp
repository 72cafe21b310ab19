#include "infermeter/verdict/answers/comparison_answers.hpp"

#include <algorithm>
#include <cmath>

#include "infermeter/verdict/answers/asides.hpp"

namespace infermeter {
namespace {

const SubjectOutputs* candidate_outputs(const Verdict& verdict, int subject) {
  return verdict.subjects.at(static_cast<std::size_t>(subject)).outputs;
}

Answer other_outputs(const SubjectOutputs& outputs) {
  return {.topic = AnswerTopic::outputs,
          .kind = AnswerKind::outputs_differ,
          .tone = Tone::bad,
          .subjects = {outputs.subject},
          .baseline = outputs.reference};
}

void add_all_requests(const RunRecord& record, Answer& answer) {
  for (std::size_t i = 0; i < record.plan.subjects.size(); ++i) add_requests(record, static_cast<int>(i), answer);
}

Answer decision(const RunRecord& record, const Verdict& verdict, const PairedComparison& pairs) {
  Answer answer = answer_of_pairs(pairs);
  if (pairs.more_pairs)
    answer.needed = {.more = *pairs.more_pairs, .what = "pairs", .total = answer.n + *pairs.more_pairs};
  if (!pairs.withheld.empty()) answer.reason = pairs.withheld;
  // Of outputs that differ there is an answer of its own.
  const SubjectOutputs* outputs = candidate_outputs(verdict, pairs.candidate);
  if (pairs.direction != Direction::unresolved && !outputs_differ(outputs)) add_outputs(outputs, answer);
  add_all_requests(record, answer);
  return answer;
}

std::optional<Answer> power(const ComparisonVerdict& comparison) {
  const auto found =
      std::ranges::find_if(comparison.primary, [](const auto& pairs) { return pairs.minimum_effect.has_value(); });
  if (found == comparison.primary.end()) return std::nullopt;
  return Answer{.topic = AnswerTopic::power,
                .kind = AnswerKind::detectable,
                .subjects = {found->candidate},
                .baseline = found->baseline,
                .metric = found->metric,
                .value = std::expm1(*found->minimum_effect),
                .unit = "share",
                .n = static_cast<std::int64_t>(found->differences.size()),
                .n_of = "pairs"};
}

// What an interval of two runs leaves out.
Answer not_interleaved(const RunRecord& record) {
  return {.topic = AnswerTopic::design,
          .kind = AnswerKind::not_interleaved,
          .tone = Tone::warning,
          .about = record.joined.front().id};
}

Answer machine_noise(const RunRecord& record) {
  Answer answer{.topic = AnswerTopic::noise, .kind = AnswerKind::unknown};
  if (!record.noise) return answer;
  answer.kind = AnswerKind::machine_noise;
  answer.about = record.noise->subject;
  answer.metric = record.noise->metric;
  answer.value = std::expm1(record.noise->standard_deviation);
  answer.unit = "share";
  answer.n = record.noise->pairs;
  answer.n_of = "pairs";
  return answer;
}

}  // namespace

std::vector<Answer> comparison_answers(const RunRecord& record, const Verdict& verdict) {
  std::vector<Answer> answers;
  for (const PairedComparison& pairs : verdict.comparison->primary) {
    const SubjectOutputs* outputs = candidate_outputs(verdict, pairs.candidate);
    if (!outputs_differ(outputs)) continue;
    answers.push_back(other_outputs(*outputs));
    add_all_requests(record, answers.back());
  }
  for (const PairedComparison& pairs : verdict.comparison->primary) answers.push_back(decision(record, verdict, pairs));
  if (!verdict.comparison->paired) answers.push_back(not_interleaved(record));
  if (auto answer = power(*verdict.comparison)) answers.push_back(std::move(*answer));
  answers.push_back(machine_noise(record));
  return answers;
}

}  // namespace infermeter
