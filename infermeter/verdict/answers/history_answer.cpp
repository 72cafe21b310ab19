#include "infermeter/verdict/answers/history_answer.hpp"

namespace infermeter {

Answer history_answer(const History& history, int index) {
  Answer answer{.topic = AnswerTopic::history,
                .kind = AnswerKind::unknown,
                .tone = Tone::faint,
                .subjects = {index},
                .about = history.series,
                .metric = history.metric,
                .unit = "share",
                .n = static_cast<std::int64_t>(history.figures.size()),
                .n_of = "runs"};
  if (history.too_few) return answer;
  if (history.changes.empty()) {
    answer.kind = AnswerKind::steady, answer.tone = Tone::plain;
    return answer;
  }
  const HistoryChange& last = history.changes.back();
  answer.kind = last.worse ? AnswerKind::worse : AnswerKind::better;
  answer.tone = last.worse ? Tone::bad : Tone::good;
  answer.place = last.point.index;
  answer.value = last.point.change;
  return answer;
}

}  // namespace infermeter
