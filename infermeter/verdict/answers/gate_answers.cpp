#include "infermeter/verdict/answers/gate_answers.hpp"

namespace infermeter {
namespace {

AnswerKind kind_of_outcome(Outcome outcome) {
  switch (outcome) {
    case Outcome::pass: return AnswerKind::pass;
    case Outcome::fail: return AnswerKind::fail;
    case Outcome::inconclusive: break;
  }
  return AnswerKind::inconclusive;
}

Answer expectation_answer(const Expectation& expectation, const ExpectationVerdict& verdict, std::size_t place) {
  return {.topic = AnswerTopic::expectation,
          .kind = kind_of_outcome(verdict.outcome),
          .tone = tone_of(verdict.outcome),
          .subjects = {verdict.subject},
          .about = expectation.source.text,
          .place = place,
          .metric = expectation.name,
          .value = verdict.value,
          .interval = verdict.interval,
          .unit = std::string(unit_of(expectation.dimension)),
          .n = verdict.n,
          .n_of = verdict.n_of,
          .processes = verdict.processes,
          .reason = verdict.reason};
}

}  // namespace

Tone tone_of(Outcome outcome) {
  switch (outcome) {
    case Outcome::pass: return Tone::good;
    case Outcome::fail: return Tone::bad;
    case Outcome::inconclusive: return Tone::warning;
  }
  return Tone::plain;
}

std::vector<Answer> gate_answers(const Gate& gate, const GateVerdict& verdict) {
  const Outcome whole = outcome_of(verdict);
  std::vector<Answer> answers = {{.topic = AnswerTopic::gate,
                                  .kind = kind_of_outcome(whole),
                                  .tone = tone_of(whole),
                                  .about = gate.name,
                                  .n = static_cast<std::int64_t>(verdict.verdicts.size()),
                                  .n_of = "expectations"}};
  for (const Outcome outcome : {Outcome::fail, Outcome::inconclusive, Outcome::pass}) {
    for (std::size_t i = 0; i < verdict.verdicts.size(); ++i) {
      const ExpectationVerdict& one = verdict.verdicts[i];
      if (one.outcome == outcome) answers.push_back(expectation_answer(gate.expectations.at(one.expectation), one, i));
    }
  }
  return answers;
}

}  // namespace infermeter
