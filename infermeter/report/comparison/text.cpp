#include "infermeter/report/comparison/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "infermeter/report/numbers/effect_text.hpp"
#include "infermeter/report/numbers/format.hpp"
#include "infermeter/report/numbers/number_text.hpp"
#include "infermeter/report/numbers/utc_time.hpp"
#include "infermeter/report/run/accuracy_text.hpp"
#include "infermeter/report/run/row.hpp"
#include "infermeter/report/run/subject_label.hpp"
#include "infermeter/text/counts.hpp"
#include "infermeter/text/quoted.hpp"

namespace infermeter {
namespace {

std::string comparison_label(const RunRecord& record, int subject) {
  return printable(short_label(record, subject), 120);
}

std::string where_compared(const RunRecord& record, int subject) {
  const Subject& measured = record.plan.subjects.at(static_cast<std::size_t>(subject));
  return fmt::format("on {} at batch size {}", printable(measured.model, 60), measured.batch_size);
}

std::string after(const ComparisonVerdict& verdict, const PairedComparison& comparison) {
  return fmt::format("{}, {}", counted(static_cast<std::int64_t>(comparison.differences.size()), "pair", "pairs"),
                     format_duration(verdict.wall_s));
}

std::string confidence(const RunRecord& record) {
  return fmt::format("{:g} % interval", 100 * (1 - record.plan.question->alpha));
}

const SubjectOutputs* outputs_of(const Verdict& verdict, int subject) {
  return verdict.subjects.at(static_cast<std::size_t>(subject)).outputs;
}

std::string candidate_outputs_clause(const Verdict& verdict, int subject) {
  const SubjectOutputs* outputs = outputs_of(verdict, subject);
  if (outputs == nullptr) return "; outputs were not compared";
  if (outputs->comparison.undecided) return "; whether outputs agree cannot be told";
  return outputs->comparison.agree ? "; outputs agree" + image_figures(outputs->comparison) : "";
}

std::string pairs_clause(const PairedComparison& comparison) {
  if (!comparison.more_pairs) return "";
  return fmt::format("; about {} more pairs needed (--max-pairs, --until-resolved)", *comparison.more_pairs);
}

Sentence unresolved(const RunRecord& record, const ComparisonVerdict& verdict, const PairedComparison& c) {
  const std::string candidate = comparison_label(record, c.candidate), baseline = comparison_label(record, c.baseline);
  const std::string start =
      fmt::format("cannot tell whether {} is {} or {} than {} {}", candidate, words_of(c.metric).better,
                  words_of(c.metric).worse, baseline, where_compared(record, c.candidate));
  const auto because = [&](const std::string& why) {
    return Sentence{Tone::faint, fmt::format("{}: {}", start, why), "cannot tell"};
  };
  if (!c.estimate) return because("there is no whole pair");
  if (!c.interval) {
    return because(fmt::format("{} after {}, too few for an interval{}", effect_text(c.metric, *c.estimate),
                               after(verdict, c), pairs_clause(c)));
  }
  return because(fmt::format("{} {} after {} (margin {}){}", confidence(record), effects_text(c.metric, *c.interval),
                             after(verdict, c), size_text(std::log1p(record.plan.question->margin)), pairs_clause(c)));
}

Sentence answer(const RunRecord& record, const Verdict& verdict, const PairedComparison& c) {
  if (c.direction == Direction::unresolved) return unresolved(record, *verdict.comparison, c);
  const std::string candidate = comparison_label(record, c.candidate), baseline = comparison_label(record, c.baseline);
  const std::string rest = fmt::format("{}; {} {}), decided after {}{}", metric_name(c.metric), confidence(record),
                                       sizes_text(c.metric, c.interval.value_or(Interval{})),
                                       after(*verdict.comparison, c), candidate_outputs_clause(verdict, c.candidate));
  if (c.direction == Direction::equivalent) {
    return {Tone::plain,
            fmt::format("{} and {} differ by less than {} {} ({}", candidate, baseline,
                        size_text(std::log1p(record.plan.question->margin)), where_compared(record, c.candidate), rest),
            "equivalent"};
  }
  const bool small = std::abs(*c.estimate) < std::log1p(record.plan.question->margin);
  return {
      c.direction == Direction::faster ? Tone::good : Tone::warning,
      fmt::format("{} {} {} than {}{} {} ({}", candidate, words_of(c.metric).verb, effect_text(c.metric, *c.estimate),
                  baseline, small ? ", which is less than the margin," : "", where_compared(record, c.candidate), rest),
      std::string(c.direction == Direction::faster ? words_of(c.metric).better : words_of(c.metric).worse)};
}

Sentence other_outputs(const RunRecord& record, const SubjectOutputs& outputs) {
  return {Tone::bad,
          fmt::format("{} answers something else than {} ({}): their times are not of the same work",
                      comparison_label(record, outputs.subject), comparison_label(record, outputs.reference),
                      difference_words(outputs.comparison) + image_figures(outputs.comparison)),
          "outputs differ"};
}

std::optional<Sentence> power(const RunRecord& record, const ComparisonVerdict& verdict) {
  const auto measured =
      std::ranges::find_if(verdict.primary, [](const auto& c) { return c.minimum_effect.has_value(); });
  if (measured == verdict.primary.end()) return std::nullopt;
  return Sentence{
      Tone::plain,
      fmt::format("{} of {} show a difference of {} here with 80 % power, as looks were taken; a pair varies by {}",
                  counted(static_cast<std::int64_t>(measured->differences.size()), "pair", "pairs"),
                  comparison_label(record, measured->candidate), size_text(*measured->minimum_effect),
                  size_text(measured->spread)),
      "power"};
}

Sentence machine_noise(const RunRecord& record) {
  if (!record.noise) {
    return {Tone::plain, "this machine's own noise is not known: `infermeter doctor --aa 20` measures it", "noise"};
  }
  const MachineNoise& noise = *record.noise;
  return {Tone::plain,
          fmt::format("this machine's own noise: {} compared with itself varied by {} a pair ({} pairs, {})",
                      printable(noise.subject, 80), size_text(noise.standard_deviation), noise.pairs,
                      utc_time(noise.measured_at).substr(0, 10)),
          "noise"};
}

// How a row's change is meant: of the question's metric by its interval, of the others as the verdict has it.
Cell sense(const PairedComparison& c, bool primary) {
  const bool apart = c.interval && (c.interval->low > 0 || c.interval->high < 0);
  const Direction direction = !primary              ? c.direction
                              : !apart              ? Direction::unresolved
                              : c.interval->low > 0 ? Direction::slower
                                                    : Direction::faster;
  switch (direction) {
    case Direction::slower: return {" worse", Tone::warning};
    case Direction::faster: return {" better", Tone::good};
    case Direction::equivalent: return {" same", Tone::plain};
    case Direction::unresolved: break;
  }
  return {"", Tone::faint};
}

ComparisonRow row_of(const RunRecord& record, const PairedComparison& c, bool primary) {
  ComparisonRow row;
  const Cell word = sense(c, primary);
  row.subject.text = comparison_label(record, c.candidate);
  row.metric.text = metric_name(c.metric) + (primary ? " *" : "");
  row.change =
      c.estimate ? Cell{signed_number(c.metric, *c.estimate) + " %" + word.text, word.tone} : Cell{"–", Tone::faint};
  row.interval.text = "–";
  if (c.interval) {
    // More effect is less of a metric of which more is better.
    const bool turned = value_change(c.metric, c.interval->low) > value_change(c.metric, c.interval->high);
    const double low = turned ? c.interval->high : c.interval->low, high = turned ? c.interval->low : c.interval->high;
    row.interval.text = fmt::format("[{}, {}]", signed_number(c.metric, low), signed_number(c.metric, high));
  }
  row.p.text = c.p < 0.001 ? "<0.001" : fmt::format("{:.3f}", c.p);
  row.smallest.text = c.minimum_effect ? size_text(*c.minimum_effect) : "–";
  return row;
}

}  // namespace

std::vector<Sentence> comparison_answers(const RunRecord& record, const Verdict& verdict) {
  std::vector<Sentence> sentences;
  for (const PairedComparison& c : verdict.comparison->primary) {
    const SubjectOutputs* outputs = outputs_of(verdict, c.candidate);
    if (outputs != nullptr && !outputs->comparison.agree && !outputs->comparison.undecided) {
      sentences.push_back(other_outputs(record, *outputs));
    }
  }
  for (const PairedComparison& c : verdict.comparison->primary) sentences.push_back(answer(record, verdict, c));
  if (auto sentence = power(record, *verdict.comparison)) sentences.push_back(std::move(*sentence));
  sentences.push_back(machine_noise(record));
  return sentences;
}

std::vector<ComparisonRow> comparison_rows(const RunRecord& record, const ComparisonVerdict& verdict) {
  std::vector<ComparisonRow> rows;
  for (const PairedComparison& c : verdict.primary) rows.push_back(row_of(record, c, true));
  for (const PairedComparison& c : verdict.exploratory) rows.push_back(row_of(record, c, false));
  return rows;
}

}  // namespace infermeter
