#include "infermeter/verdict/answers/profile_answers.hpp"

namespace infermeter {
namespace {

constexpr double enough = 0.5;  // of a difference, for a reason to be one

Answer answer_of(const ProfileExplanation& one) {
  const Explanation& why = one.explanation;
  Answer answer{.topic = AnswerTopic::profile,
                .kind = AnswerKind::unknown,
                .tone = Tone::faint,
                .subjects = {one.subject},
                .baseline = one.baseline,
                .metric = "latency_profiled",
                .unit = "s",
                .n = static_cast<std::int64_t>(why.pairs),
                .n_of = "pairs",
                .reason = why.reason};
  if (!why.reason.empty()) return answer;
  answer.value = why.difference_s;
  answer.interval = Interval{.low = why.low_s, .high = why.high_s, .confidence = 0.95};
  if (!why.consistent) {
    answer.kind = AnswerKind::not_explained;
    answer.tone = Tone::warning;
  } else if (explained_share(why) >= enough) {
    answer.kind = AnswerKind::explained;
    answer.tone = Tone::plain;
  }
  return answer;
}

}  // namespace

double explained_share(const Explanation& explanation) {
  double share = 0;
  for (const Clause& clause : explanation.clauses) share += clause.share;
  return share;
}

std::vector<Answer> profile_answers(const ProfileFindings& findings) {
  std::vector<Answer> answers;
  for (const ProfileExplanation& one : findings.explanations) answers.push_back(answer_of(one));
  return answers;
}

}  // namespace infermeter
