#include "infermeter/report/comparison/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "infermeter/report/numbers/effect_text.hpp"
#include "infermeter/report/numbers/format.hpp"
#include "infermeter/report/numbers/number_text.hpp"
#include "infermeter/report/run/accuracy_text.hpp"
#include "infermeter/report/run/row.hpp"
#include "infermeter/report/run/subject_label.hpp"
#include "infermeter/text/counts.hpp"
#include "infermeter/text/quoted.hpp"
#include "infermeter/text/utc_time.hpp"

namespace infermeter {
namespace {

std::string comparison_label(const RunRecord& record, int subject) {
  return printable(short_label(record, subject), 120);
}

const PairedComparison& compared_pairs(const Verdict& verdict, const Answer& answer) {
  const int subject = answer.subjects.front();
  return *std::ranges::find(verdict.comparison->primary, subject, &PairedComparison::candidate);
}

// "after 16 pairs, 45 s"; of two runs "from 3 and 5 processes".
std::string after(const Verdict& verdict, const Answer& answer) {
  const PairedComparison& c = compared_pairs(verdict, answer);
  if (!verdict.comparison->paired) {
    return fmt::format("from {} and {}", c.baseline_processes, counted(c.candidate_processes, "process", "processes"));
  }
  return fmt::format("after {}, {}", counted(answer.n, "pair", "pairs"), format_duration(verdict.comparison->wall_s));
}

// "95 % interval 2.40 … 3.70 %". A decision may have none: coins that fell alike reject no difference far out.
std::string interval_clause(const PairedComparison& pairs) {
  if (!pairs.interval) return "too few pairs for an interval";
  return fmt::format("{:.3g} % interval {}", 100 * pairs.interval->confidence,
                     sizes_text(pairs.metric, *pairs.interval));
}

std::string pairs_clause(const Answer& answer) {
  if (!answer.needed) return "";
  return fmt::format("; about {} would settle it (--max-pairs, --until-resolved)",
                     counted(answer.needed->more, "more pair", "more pairs"));
}

std::string unresolved_text(const RunRecord& record, const Verdict& verdict, const Answer& answer) {
  const PairedComparison& c = compared_pairs(verdict, answer);
  const std::string candidate = comparison_label(record, c.candidate), baseline = comparison_label(record, c.baseline);
  const std::string start =
      fmt::format("undecided whether {} is {} or {} than {} {}", candidate, words_of(c.metric).better,
                  words_of(c.metric).worse, baseline, place_text(record, c.candidate));
  if (!c.withheld.empty()) return start + ": " + printable(c.withheld, 300);
  if (!c.estimate) {
    return start + (verdict.comparison->paired ? ": there is no whole pair" : ": one of the runs has no such figure");
  }
  if (!c.interval) {
    return fmt::format("{}: {} {}, too few for an interval{}", start, effect_text(c.metric, *c.estimate),
                       after(verdict, answer), pairs_clause(answer));
  }
  return fmt::format("{}: {:.3g} % interval {} {} (margin {:.4g} %){}", start, 100 * c.interval->confidence,
                     effects_text(c.metric, *c.interval), after(verdict, answer), 100 * record.plan.question->margin,
                     pairs_clause(answer));
}

std::string decision_text(const RunRecord& record, const Verdict& verdict, const Answer& answer) {
  if (answer.direction == Direction::unresolved) return unresolved_text(record, verdict, answer);
  const PairedComparison& c = compared_pairs(verdict, answer);
  const std::string candidate = comparison_label(record, c.candidate), baseline = comparison_label(record, c.baseline);
  const std::string rest = fmt::format("{}; {}), {}{}", metric_name(c.metric), interval_clause(c),
                                       verdict.comparison->paired ? "decided " : "", after(verdict, answer));
  const double margin = std::log1p(record.plan.question->margin);
  if (c.direction == Direction::equivalent) {
    return fmt::format("{} and {} differ by less than {} {} ({}", candidate, baseline, size_text(margin),
                       place_text(record, c.candidate), rest);
  }
  return fmt::format(
      "{} {} {} than {}{} {} ({}", candidate, words_of(c.metric).verb, effect_text(c.metric, *c.estimate), baseline,
      std::abs(*c.estimate) < margin ? ", which is less than the margin," : "", place_text(record, c.candidate), rest);
}

std::string other_outputs_text(const RunRecord& record, const Verdict& verdict, const Answer& answer) {
  const SubjectOutputs& outputs = *verdict.subjects.at(static_cast<std::size_t>(answer.subjects.front())).outputs;
  return fmt::format("the outputs of {} differ from those of {} ({}), so their times do not compare the same work",
                     comparison_label(record, outputs.subject), comparison_label(record, outputs.reference),
                     difference_words(outputs.comparison) + image_figures(outputs.comparison));
}

std::string power_text(const RunRecord& record, const Verdict& verdict, const Answer& answer) {
  const PairedComparison& c = compared_pairs(verdict, answer);
  return fmt::format(
      "with {} of {}, differences of {} or more are detected (80 % power); single pairs vary "
      "by "
      "{}",
      counted(answer.n, "pair", "pairs"), comparison_label(record, c.candidate), size_text(*c.minimum_effect),
      size_text(c.spread));
}

std::string machine_noise_text(const RunRecord& record) {
  if (!record.noise) return "this machine's own noise is not known: `infermeter doctor --aa 20` measures it";
  const MachineNoise& noise = *record.noise;
  return fmt::format("this machine's own noise: {} compared with itself varied by {} a pair ({} pairs, {})",
                     printable(noise.subject, 80), size_text(noise.standard_deviation), noise.pairs,
                     utc_time(noise.measured_at).substr(0, 10));
}

std::string machines_text(const RunRecord& record) {
  std::string machines;
  for (const JoinedRun& one : record.joined)
    machines +=
        fmt::format("{}{} ({:.12})", machines.empty() ? "" : ", ", printable(one.host, 60), printable(one.machine, 60));
  return fmt::format(
      "machines are compared, {}: the processes of each are samples of it, and nothing is paired; a difference is of "
      "the machines with all that was on them then",
      machines);
}

// What an interval of two runs leaves out, and who is in one of them alone.
std::string not_interleaved_text(const RunRecord& record) {
  std::string text = compares_machines(record) ? machines_text(record)
                                               : "the two runs were not interleaved: the interval covers how processes "
                                                 "vary within a run, not what changed on the "
                                                 "machine between the runs; where runs drift, it says 'faster' or "
                                                 "'slower' of equals more often than it claims";
  for (const JoinedRun& run : record.joined) {
    std::string labels;
    for (const std::string& label : run.unmatched) labels += (labels.empty() ? "" : ", ") + printable(label, 80);
    if (!labels.empty()) text += fmt::format("; only in {}: {}", printable(run.id, 60), labels);
  }
  return text;
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

std::string comparison_sentence(const RunRecord& record, const Verdict& verdict, const Answer& answer) {
  switch (answer.topic) {
    case AnswerTopic::outputs: return other_outputs_text(record, verdict, answer);
    case AnswerTopic::power: return power_text(record, verdict, answer);
    case AnswerTopic::noise: return machine_noise_text(record);
    case AnswerTopic::design: return not_interleaved_text(record);
    default: return decision_text(record, verdict, answer);
  }
}

std::string comparison_title(const RunRecord& record, const ComparisonVerdict& verdict) {
  if (compares_machines(record)) {
    std::string others;
    for (std::size_t i = 1; i < record.joined.size(); ++i)
      others += (others.empty() ? "" : ", ") + printable(record.joined[i].host, 60);
    return fmt::format("Machine {} against {}, process by process", others, printable(record.joined.front().host, 60));
  }
  if (!verdict.paired) {
    return fmt::format("Run {} against run {}, process by process", printable(record.joined.back().id, 60),
                       printable(record.joined.front().id, 60));
  }
  return fmt::format("{}, candidate against {}", counted(verdict.pairs, "pair", "pairs"), comparison_label(record, 0));
}

std::string comparison_legend(const ComparisonVerdict& verdict) {
  constexpr const char* decides = "* decides; the others are exploratory (p adjusted after Benjamini & Hochberg).";
  if (!verdict.paired) return fmt::format("{} Intervals and p: Welch's, on logarithms.", decides);
  return fmt::format("{} Detectable: the smallest difference that these pairs show with 80 % power.", decides);
}

std::vector<ComparisonRow> comparison_rows(const RunRecord& record, const ComparisonVerdict& verdict) {
  std::vector<ComparisonRow> rows;
  for (const PairedComparison& c : verdict.primary) rows.push_back(row_of(record, c, true));
  for (const PairedComparison& c : verdict.exploratory) rows.push_back(row_of(record, c, false));
  return rows;
}

}  // namespace infermeter
