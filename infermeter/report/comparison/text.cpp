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

// "16 pairs, 45 s"; of two runs "3 and 5 processes".
std::string after(const ComparisonVerdict& verdict, const PairedComparison& comparison) {
  if (!verdict.paired) {
    return fmt::format("{} and {}", comparison.baseline_processes,
                       counted(comparison.candidate_processes, "process", "processes"));
  }
  return fmt::format("{}, {}", counted(static_cast<std::int64_t>(comparison.differences.size()), "pair", "pairs"),
                     format_duration(verdict.wall_s));
}

std::string confidence(const RunRecord& record, const PairedComparison& comparison) {
  const double share = comparison.interval ? comparison.interval->confidence : 1 - record.plan.question->alpha;
  return fmt::format("{:.3g} % interval", 100 * share);
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
  const std::string when = verdict.paired ? "after" : "from";
  if (!c.withheld.empty()) return because(printable(c.withheld, 300));
  if (!c.estimate) return because(verdict.paired ? "there is no whole pair" : "one of the runs has no such figure");
  if (!c.interval) {
    return because(fmt::format("{} {} {}, too few for an interval{}", effect_text(c.metric, *c.estimate), when,
                               after(verdict, c), pairs_clause(c)));
  }
  return because(fmt::format("{} {} {} {} (margin {}){}", confidence(record, c), effects_text(c.metric, *c.interval),
                             when, after(verdict, c), size_text(std::log1p(record.plan.question->margin)),
                             pairs_clause(c)));
}

Sentence answer(const RunRecord& record, const Verdict& verdict, const PairedComparison& c) {
  if (c.direction == Direction::unresolved) return unresolved(record, *verdict.comparison, c);
  const std::string candidate = comparison_label(record, c.candidate), baseline = comparison_label(record, c.baseline);
  const std::string rest = fmt::format("{}; {} {}), {} {}{}", metric_name(c.metric), confidence(record, c),
                                       sizes_text(c.metric, c.interval.value_or(Interval{})),
                                       verdict.comparison->paired ? "decided after" : "from",
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

// "better", "worse", or nothing where it cannot be told. Of exploratory metrics the adjusted p has to agree.
std::string_view sense(const PairedComparison& c, bool primary, double alpha) {
  if (!primary && c.p > alpha) return "";
  if (!c.interval || (c.interval->low <= 0 && c.interval->high >= 0)) return "";
  return c.interval->low > 0 ? " worse" : " better";
}

// What an interval of two runs leaves out, and who is in one of them alone.
std::vector<Sentence> about_runs(const RunRecord& record) {
  std::vector<Sentence> sentences = {
      {Tone::warning,
       "the two runs were not interleaved: the interval covers how processes vary within a run, not what changed on "
       "the "
       "machine between the runs; where runs drift, it says 'faster' or 'slower' of equals more often than it claims",
       "not interleaved"}};
  for (const JoinedRun& run : record.joined) {
    if (run.unmatched.empty()) continue;
    std::string labels;
    for (const std::string& label : run.unmatched) labels += (labels.empty() ? "" : ", ") + printable(label, 80);
    sentences.push_back({Tone::faint, fmt::format("only in {}: {}", printable(run.id, 60), labels), "not in both"});
  }
  return sentences;
}

ComparisonRow row_of(const RunRecord& record, const PairedComparison& c, bool primary) {
  ComparisonRow row;
  const std::string_view word = sense(c, primary, record.plan.question->alpha);
  const Tone tone = word.empty() ? Tone::faint : word == " worse" ? Tone::warning : Tone::good;
  row.subject.text = comparison_label(record, c.candidate);
  row.metric.text = metric_name(c.metric) + (primary ? " *" : "");
  row.change =
      c.estimate ? Cell{signed_number(c.metric, *c.estimate) + " %" + std::string(word), tone} : Cell{"–", Tone::faint};
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
  if (!verdict.comparison->paired) {
    for (Sentence& sentence : about_runs(record)) sentences.push_back(std::move(sentence));
  }
  if (auto sentence = power(record, *verdict.comparison)) sentences.push_back(std::move(*sentence));
  sentences.push_back(machine_noise(record));
  return sentences;
}

std::string comparison_title(const RunRecord& record, const ComparisonVerdict& verdict) {
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
