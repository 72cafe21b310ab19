#include "infermeter/verdict/answers/answer.hpp"

#include <algorithm>
#include <array>

namespace infermeter {
namespace {

// In the order of the enums.
constexpr std::array answer_topics = {
    "speed",      "fastest", "memory",  "power",      "noise",  "level",       "requests",  "outputs",    "accuracy",
    "completion", "leak",    "profile", "source",     "gate",   "expectation", "agreement", "repetition", "values",
    "history",    "layers",  "front",   "prediction", "design", "tuning",      "bound",     "load"};
static_assert(answer_topics.size() == static_cast<std::size_t>(AnswerTopic::load) + 1);

constexpr std::array answer_kinds = {"faster",
                                     "slower",
                                     "equivalent",
                                     "undecided",
                                     "unknown",
                                     "fastest",
                                     "least_memory",
                                     "less_memory",
                                     "more_memory",
                                     "detectable",
                                     "machine_noise",
                                     "measured",
                                     "not_measured",
                                     "one_request_at_a_time",
                                     "imported",
                                     "outputs_agree",
                                     "outputs_differ",
                                     "outputs_undecided",
                                     "outputs_not_compared",
                                     "outputs_not_comparable",
                                     "more_accurate",
                                     "less_accurate",
                                     "accurate_enough",
                                     "not_accurate_enough",
                                     "failed",
                                     "leak",
                                     "no_leak",
                                     "explained",
                                     "not_explained",
                                     "pass",
                                     "fail",
                                     "inconclusive",
                                     "does_not_repeat",
                                     "not_finite",
                                     "constant",
                                     "equal",
                                     "better",
                                     "worse",
                                     "steady",
                                     "part",
                                     "grow",
                                     "rounding_only",
                                     "on_front",
                                     "dominated",
                                     "as_predicted",
                                     "less_than_predicted",
                                     "more_than_predicted",
                                     "predicted",
                                     "not_interleaved",
                                     "searched",
                                     "best",
                                     "equals",
                                     "out",
                                     "valid",
                                     "not_valid"};
static_assert(answer_kinds.size() == static_cast<std::size_t>(AnswerKind::not_valid) + 1);

}  // namespace

std::string_view to_string(Tone tone) {
  switch (tone) {
    case Tone::plain: return "plain";
    case Tone::good: return "good";
    case Tone::warning: return "warning";
    case Tone::bad: return "bad";
    case Tone::faint: return "faint";
  }
  return "plain";
}

std::string_view to_string(AnswerTopic topic) { return answer_topics.at(static_cast<std::size_t>(topic)); }

std::string_view to_string(AnswerKind kind) { return answer_kinds.at(static_cast<std::size_t>(kind)); }

const Answer* beside(const Answer& answer, AnswerTopic topic) {
  const auto found = std::ranges::find(answer.besides, topic, &Answer::topic);
  return found == answer.besides.end() ? nullptr : &*found;
}

void worst_first(std::vector<Answer>& answers) {
  std::ranges::stable_partition(answers, [](const Answer& answer) { return answer.tone == Tone::bad; });
}

}  // namespace infermeter
