#include "infermeter/report/overview/effects.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <ranges>

#include "infermeter/report/numbers/effect_text.hpp"
#include "infermeter/report/run/row.hpp"
#include "infermeter/report/run/subject_label.hpp"
#include "infermeter/report/tuning/text.hpp"
#include "infermeter/text/quoted.hpp"

namespace infermeter {
namespace {

constexpr std::size_t longest_effect_name = 120;

std::string name_of(const RunRecord& record, int subject) {
  return printable(short_label(record, subject), longest_effect_name);
}

bool has_run(const SubjectVerdict& subject) { return subject.summary.trials_ok + subject.summary.trials_partial > 0; }

Headline direction_word(Direction direction, std::string_view metric) {
  const bool is_time = metric.starts_with("latency_") || metric.ends_with("_time");
  switch (direction) {
    case Direction::faster: return {Tone::good, "", is_time ? "faster" : "better"};
    case Direction::slower: return {Tone::warning, "", is_time ? "slower" : "worse"};
    case Direction::equivalent: return {Tone::good, "", "same"};
    case Direction::unresolved: break;
  }
  return {Tone::faint, "", "undecided"};
}

// What went wrong counts more than any time.
Headline effect_verdict(const RunRecord& record, const SubjectVerdict& subject, const Effect& effect) {
  if (failed_trial(record, subject.subject) != nullptr) return {Tone::bad, "", "failed"};
  if (!has_run(subject)) return {Tone::faint, "", "not measured"};
  const bool differ =
      subject.outputs != nullptr && !subject.outputs->comparison.agree && !subject.outputs->comparison.undecided;
  if (differ) return {Tone::bad, "", "outputs differ"};
  return direction_word(subject.direction.value_or(Direction::unresolved), effect.metric);
}

// Without what all groups share: "resnet50, batch size 1" needs no dtype where all have the same. A model that is
// compared with another (a variant, with what it was made of) is in that one's group.
std::string group_name(const RunRecord& record, const SubjectVerdict& verdict) {
  const auto& subjects = record.plan.subjects;
  const Subject& own = subject_of(record, verdict);
  const auto differs = [&](auto member) {
    return std::ranges::any_of(subjects, [&](const Subject& one) { return one.*member != own.*member; });
  };
  const auto compared_with = static_cast<std::size_t>(verdict.baseline.value_or(verdict.subject));
  std::string name = printable(subjects.at(compared_with).model, 60);
  if (differs(&Subject::batch_size)) name += fmt::format(", batch size {}", own.batch_size);
  const auto is_of_group = [&](const Subject& one) { return one.group == own.group; };
  const auto has_own_dtype = [&](const Subject& one) { return one.dtype == own.dtype; };
  const bool shares_dtype = std::ranges::all_of(subjects | std::views::filter(is_of_group), has_own_dtype);
  if (shares_dtype && differs(&Subject::dtype)) name += fmt::format(", {}", to_string(own.dtype));
  return name;
}

void add_ratio(Effect& effect, const SubjectVerdict& subject) {
  effect.metric = "latency_p50";
  const Ratio* ratio = ratio_of(subject, effect.metric);
  if (ratio == nullptr || !ratio->estimate.value) return;
  effect.change = 1 / *ratio->estimate.value - 1;  // of times: baseline by candidate
  if (const auto& found = ratio->estimate.interval; found && found->low > 0) {
    effect.change_interval = Interval{1 / found->high - 1, 1 / found->low - 1, found->confidence};
  }
}

void add_pairs(Effect& effect, const PairedComparison& pairs) {
  effect.metric = pairs.metric;
  if (!pairs.estimate) return;
  effect.change = value_change(pairs.metric, *pairs.estimate);
  if (!pairs.interval) return;
  const double one = value_change(pairs.metric, pairs.interval->low);
  const double other = value_change(pairs.metric, pairs.interval->high);
  effect.change_interval = Interval{std::min(one, other), std::max(one, other), pairs.interval->confidence};
}

const PairedComparison* primary_of(const Verdict& verdict, int candidate) {
  if (!verdict.comparison) return nullptr;
  const auto& primary = verdict.comparison->primary;
  const auto found = std::ranges::find(primary, candidate, &PairedComparison::candidate);
  return found == primary.end() ? nullptr : &*found;
}

// Of a race: what the fresh pairs say of the best one.
std::vector<Effect> effects_of_race(const RunRecord& record, const TuningVerdict& tuning) {
  std::vector<Effect> effects;
  for (const auto* pairs : {&tuning.against_default, &tuning.against_second}) {
    if (!*pairs) continue;
    const PairedComparison& found = **pairs;
    Effect effect{.subject = found.candidate,
                  .baseline = found.baseline,
                  .group = printable(record.plan.subjects.at(static_cast<std::size_t>(found.candidate)).model, 60),
                  .label = "against " + setting_label(record, found.baseline),
                  .against = setting_label(record, found.baseline)};
    add_pairs(effect, found);
    effect.verdict = direction_word(found.direction, effect.metric);
    effects.push_back(std::move(effect));
  }
  return effects;
}

}  // namespace

std::vector<Effect> effects_of(const RunRecord& record, const Verdict& verdict) {
  if (verdict.tuning) return effects_of_race(record, *verdict.tuning);
  std::vector<Effect> effects;
  for (const Group& group : groups_of(record, verdict)) {
    for (const SubjectVerdict* subject : group.subjects) {
      if (!subject->baseline && failed_trial(record, subject->subject) == nullptr) continue;
      // Under load a median alone says nothing: only what was asked for is compared.
      const bool is_asked = subject->summary.trials_ok == 0 || primary_of(verdict, subject->subject) != nullptr;
      if (subject->load && !is_asked) continue;
      Effect effect{.subject = subject->subject,
                    .baseline = subject->baseline,
                    .group = group_name(record, *subject),
                    .label = name_of(record, subject->subject)};
      if (subject->baseline) effect.against = name_of(record, *subject->baseline);
      // What a subject did before it failed is no figure of it.
      if (subject->summary.trials_ok == 0) {
        effect.metric = record.plan.question ? record.plan.question->metric : "latency_p50";
      } else if (const PairedComparison* pairs = primary_of(verdict, subject->subject)) {
        add_pairs(effect, *pairs);
      } else {
        add_ratio(effect, *subject);
      }
      effect.verdict = effect_verdict(record, *subject, effect);
      effects.push_back(std::move(effect));
    }
  }
  return effects;
}

double margin_of(const RunRecord& record) {
  if (record.plan.tuning) return record.plan.tuning->indifference;
  return record.plan.question ? record.plan.question->margin : record.plan.precision;
}

}  // namespace infermeter
