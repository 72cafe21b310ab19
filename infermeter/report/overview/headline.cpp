#include "infermeter/report/overview/headline.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "infermeter/report/numbers/format.hpp"
#include "infermeter/report/run/subject_label.hpp"
#include "infermeter/text/counts.hpp"
#include "infermeter/text/quoted.hpp"

namespace infermeter {
namespace {

constexpr std::size_t listed_names = 3;
using Names = std::vector<std::string>;

int badness(Tone tone) {
  constexpr std::array worse_and_worse = {Tone::plain, Tone::good, Tone::faint, Tone::warning, Tone::bad};
  return static_cast<int>(std::ranges::find(worse_and_worse, tone) - worse_and_worse.begin());
}

Headline sentence_of(const WordedAnswer& answer) { return {answer.tone(), answer.text, word_of(answer.answer)}; }

// "a", "a and b", "a, b and 4 more"
std::string names_text(const Names& names) {
  if (names.size() < 2) return fmt::format("{}", fmt::join(names, ""));
  const bool cut = names.size() > listed_names;
  const auto first = static_cast<std::ptrdiff_t>(cut ? listed_names - 1 : names.size() - 1);
  return fmt::format("{} and {}", fmt::join(names.begin(), names.begin() + first, ", "),
                     cut ? fmt::format("{} more", names.size() - static_cast<std::size_t>(first)) : names.back());
}

using Member = std::string Effect::*;

// Each once: labels of candidates, or the groups that one came out so in.
Names names_of(const std::vector<Effect>& effects, std::string_view verdict, Member member) {
  Names names;
  for (const Effect& one : effects) {
    const bool known = std::ranges::find(names, one.*member) != names.end();
    if (one.verdict.verdict == verdict && !known) names.push_back(one.*member);
  }
  return names;
}

bool is_shared(const std::vector<Effect>& effects, Member member) {
  return std::ranges::all_of(effects, [&](const Effect& one) { return one.*member == effects.front().*member; });
}

Names leaking(const RunRecord& record, const Verdict& verdict) {
  Names names;
  for (const SubjectVerdict& subject : verdict.subjects) {
    if (!subject.leak || subject.leak->verdict != LeakVerdict::leak) continue;
    names.push_back(fmt::format("{} leaks {} per iteration", printable(short_label(record, subject.subject), 120),
                                format_bytes(subject.leak->bytes_per_iteration)));
  }
  return names;
}

Names loads_not_valid(const RunRecord& record, const Verdict& verdict) {
  Names names;
  for (const SubjectVerdict& subject : verdict.subjects) {
    if (subject.load && !subject.load->valid()) {
      names.push_back(printable(short_label(record, subject.subject), 120));
    }
  }
  return names;
}

// "segv and hang failed; the outputs of nan differ; leaky leaks 102 kB per iteration"
Headline troubles(const RunRecord& record, const Verdict& verdict, const std::vector<Effect>& effects,
                  std::size_t answers) {
  Names clauses;
  const Names failed = names_of(effects, "failed", &Effect::label);
  const Names differ = names_of(effects, "outputs differ", &Effect::label);
  if (!failed.empty()) clauses.push_back(names_text(failed) + " failed");
  if (!differ.empty()) clauses.push_back(fmt::format("the outputs of {} differ", names_text(differ)));
  const Names loads = loads_not_valid(record, verdict);
  if (!loads.empty()) clauses.push_back(fmt::format("the load of {} is NOT valid", names_text(loads)));
  const Names leaks = leaking(record, verdict);
  if (!leaks.empty())
    clauses.push_back(leaks.size() == 1 ? leaks.front() : fmt::format("{} subjects leak", leaks.size()));
  if (clauses.empty()) clauses.push_back(counted(answers, "problem"));
  return {Tone::bad, fmt::format("{}", fmt::join(clauses, "; ")), "problems"};
}

constexpr std::array<std::string_view, 7> order_of_verdicts = {"slower", "worse",     "faster",      "better",
                                                               "same",   "undecided", "not measured"};

// "slower in 2 of 6 (mlp, batch size 1; mlp, batch size 4), undecided in 4"; of several candidates "2 of 6 slower (a;
// b)". Names stand where they are few: of all verdicts together no more than three.
std::string tally(const std::vector<Effect>& effects, bool by_group) {
  Names clauses;
  std::size_t room = listed_names;
  for (const std::string_view verdict : order_of_verdicts) {
    const auto count =
        std::ranges::count_if(effects, [&](const Effect& one) { return one.verdict.verdict == verdict; });
    if (count == 0) continue;
    const std::string of = clauses.empty() ? fmt::format("{} of {}", count, effects.size()) : fmt::format("{}", count);
    const Names names = names_of(effects, verdict, by_group ? &Effect::group : &Effect::label);
    const bool fits = names.size() <= room && static_cast<std::size_t>(count) < effects.size();
    if (fits) room -= names.size();
    clauses.push_back(fmt::format("{}{}",
                                  by_group ? fmt::format("{} in {}", verdict, of) : fmt::format("{} {}", of, verdict),
                                  fits ? fmt::format(" ({})", fmt::join(names, "; ")) : ""));
  }
  return fmt::format("{}", fmt::join(clauses, ", "));
}

Headline counts_of(const std::vector<Effect>& effects) {
  const bool by_group = is_shared(effects, &Effect::label) && is_shared(effects, &Effect::against);
  const Headline& first = effects.front().verdict;
  const bool alike =
      std::ranges::all_of(effects, [&](const Effect& one) { return one.verdict.verdict == first.verdict; });
  const std::string whom = by_group ? fmt::format("{} against {}", effects.front().label, effects.front().against)
                           : is_shared(effects, &Effect::against) ? "against " + effects.front().against
                                                                  : "against the baselines";
  return {alike ? first.tone : Tone::plain, fmt::format("{}: {}", whom, tally(effects, by_group)),
          alike ? first.verdict : "mixed"};
}

}  // namespace

Headline worst_of(const std::vector<WordedAnswer>& answers) {
  if (answers.empty()) return {};
  return sentence_of(
      *std::ranges::max_element(answers, {}, [](const WordedAnswer& one) { return badness(one.tone()); }));
}

Headline headline_of_run(const RunRecord& record, const Verdict& verdict, const std::vector<Effect>& effects,
                         const std::vector<WordedAnswer>& answers) {
  if (verdict.tuning && !answers.empty()) return sentence_of(answers.front());
  const auto bad = std::ranges::count(answers, Tone::bad, &WordedAnswer::tone);
  if (bad > 1) return troubles(record, verdict, effects, static_cast<std::size_t>(bad));
  if (bad == 1) return sentence_of(*std::ranges::find(answers, Tone::bad, &WordedAnswer::tone));
  if (effects.size() < 2) return answers.empty() ? Headline{} : sentence_of(answers.front());
  const auto is_fastest = [](const WordedAnswer& one) { return one.answer.kind == AnswerKind::fastest; };
  const auto fastest = std::ranges::find_if(answers, is_fastest);
  if (is_shared(effects, &Effect::group) && fastest != answers.end()) {
    return {fastest->tone(), fmt::format("{}; {}", fastest->text, counts_of(effects).text), word_of(fastest->answer)};
  }
  return counts_of(effects);
}

}  // namespace infermeter
