#include "infermeter/verdict/load/load_answers.hpp"

#include <algorithm>

#include "infermeter/verdict/answers/asides.hpp"

namespace infermeter {
namespace {

Answer answer_with(const SubjectVerdict& subject, AnswerTopic topic, std::string_view counter) {
  Answer answer{
      .topic = topic, .kind = AnswerKind::measured, .subjects = {subject.subject}, .metric = std::string(counter)};
  if (const Estimate* estimate = subject.summary.estimate(counter)) {
    set_figure(*estimate, load_figure(counter)->unit, answer);
  }
  return answer;
}

}  // namespace

std::vector<Answer> load_answers(const Verdict& verdict) {
  std::vector<Answer> answers;
  for (const SubjectVerdict& subject : verdict.subjects) {
    if (!subject.load) continue;
    if (verdict.tuning && subject.subject != verdict.tuning->best) continue;  // the others' standings say it
    const LoadValidity& load = *subject.load;
    Answer answer = answer_with(subject, AnswerTopic::load, "achieved_rate");
    answer.kind = load.valid() ? AnswerKind::valid : AnswerKind::not_valid;
    answer.tone = load.valid() ? Tone::good : Tone::bad;
    answer.reason.clear();
    for (const LoadFinding& finding : load.findings) {
      answer.reason += (answer.reason.empty() ? "" : ", ") + std::string(to_string(finding.rule));
    }
    for (const char* counter : {"response_p50", "response_p99"}) {
      if (load.is_overloaded() || load.state_of(counter) != LoadFigureState::determined) continue;
      if (Answer figure = answer_with(subject, AnswerTopic::level, counter); figure.value) {
        answer.besides.push_back(std::move(figure));
      }
    }
    answers.push_back(std::move(answer));
  }
  return answers;
}

}  // namespace infermeter
