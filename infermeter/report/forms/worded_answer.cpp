#include "infermeter/report/forms/worded_answer.hpp"

#include <algorithm>

#include "infermeter/report/numbers/effect_text.hpp"
#include "infermeter/report/run/json_parts.hpp"
#include "infermeter/text/quoted.hpp"

namespace infermeter {
namespace {

constexpr std::size_t longest_detail = 1000;

void write_need(JsonWriter& json, const std::optional<AnswerNeed>& needed) {
  json.key("needed");
  if (!needed) return json.value(nullptr);
  json.begin_object();
  json.member("more", needed->more);
  json.member("what", needed->what);
  json.member("total", needed->total);
  json.member("seconds", needed->seconds);
  json.end_object();
}

void write_indices(JsonWriter& json, const Answer& answer) {
  json.key("subjects");
  json.begin_array();
  for (const int subject : answer.subjects) json.value(subject);
  json.end_array();
  json.member("baseline", answer.baseline);
  json.member("about", answer.about);
  json.member("place", answer.place ? std::optional(std::uint64_t{*answer.place}) : std::nullopt);
}

void write_figure(JsonWriter& json, const Answer& answer) {
  json.member("metric", answer.metric);
  json.member("value", answer.value);
  write_interval(json, "interval", answer.interval);
  json.member("direction", answer.direction ? std::optional(to_string(*answer.direction)) : std::nullopt);
  json.member("unit", answer.unit);
  json.member("n", answer.n);
  json.member("n_of", answer.n_of);
  json.member("processes", answer.processes);
  json.member("reason", answer.reason);
  write_need(json, answer.needed);
}

void write_answer(JsonWriter& json, const Answer& answer, const std::string* text) {
  json.begin_object();
  json.member("topic", to_string(answer.topic));
  json.member("kind", to_string(answer.kind));
  json.member("tone", to_string(answer.tone));
  json.member("verdict", word_of(answer));
  if (text != nullptr) json.member("text", *text);
  write_indices(json, answer);
  write_figure(json, answer);
  if (text != nullptr) {
    json.key("besides");
    json.begin_array();
    for (const Answer& aside : answer.besides) write_answer(json, aside, nullptr);
    json.end_array();
  }
  json.end_object();
}

}  // namespace

std::string word_of(const Answer& answer) {
  switch (answer.kind) {
    case AnswerKind::faster: return std::string(words_of(answer.metric).better);
    case AnswerKind::slower: return std::string(words_of(answer.metric).worse);
    case AnswerKind::unknown:
      if (answer.topic == AnswerTopic::noise) return "noise";
      if (answer.topic == AnswerTopic::profile) return "not explained";
      return answer.topic == AnswerTopic::accuracy ? "not known" : "cannot tell";
    case AnswerKind::measured: return answer.topic == AnswerTopic::accuracy ? "accuracy" : "measured";
    case AnswerKind::detectable: return "power";
    case AnswerKind::machine_noise: return "noise";
    case AnswerKind::outputs_undecided: return "undecided";
    case AnswerKind::outputs_not_comparable: return "not comparable";
    case AnswerKind::not_accurate_enough: return "less accurate";
    case AnswerKind::leak: return "leaks";
    case AnswerKind::part: return "they diverge";
    case AnswerKind::grow: return "grows";
    case AnswerKind::equals: return "as good";
    case AnswerKind::out: return "left behind";
    case AnswerKind::valid: return "valid load";
    case AnswerKind::not_valid: return "load not valid";
    case AnswerKind::on_front: return "Pareto front";
    default: break;
  }
  std::string name(to_string(answer.kind));
  std::ranges::replace(name, '_', ' ');
  return name;
}

void write_answers(JsonWriter& json, const std::vector<WordedAnswer>& answers) {
  json.key("answers");
  json.begin_array();
  for (const WordedAnswer& one : answers) write_answer(json, one.answer, &one.text);
  json.end_array();
}

void write_checks(JsonWriter& json, const std::vector<Check>& checks) {
  json.key("checks");
  json.begin_array();
  for (const Check& check : checks) {
    json.begin_object();
    json.member("name", printable(check.name));
    json.member("outcome", check.outcome ? to_string(*check.outcome) : "none");
    json.member("detail", printable(check.detail, longest_detail));
    json.member("caveat", check.is_caveat);
    json.end_object();
  }
  json.end_array();
}

}  // namespace infermeter
