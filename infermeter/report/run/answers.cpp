#include "infermeter/report/run/answers.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <initializer_list>

#include "infermeter/diagnostics/last_words.hpp"
#include "infermeter/plan/imported.hpp"
#include "infermeter/report/comparison/text.hpp"
#include "infermeter/report/numbers/format.hpp"
#include "infermeter/report/numbers/interval_text.hpp"
#include "infermeter/report/numbers/number_text.hpp"
#include "infermeter/report/profile/text.hpp"
#include "infermeter/report/run/accuracy_text.hpp"
#include "infermeter/report/run/row.hpp"
#include "infermeter/report/run/subject_label.hpp"
#include "infermeter/stats/comparison/rounds.hpp"
#include "infermeter/text/counts.hpp"
#include "infermeter/text/quoted.hpp"
#include "infermeter/text/terminal.hpp"
#include "infermeter/verdict/answers/fastest.hpp"
#include "infermeter/verdict/rounds.hpp"

namespace infermeter {
namespace {

constexpr std::size_t messages_shown = 3;

std::string answer_label(const RunRecord& record, int subject) {
  return printable(record.plan.subjects.at(static_cast<std::size_t>(subject)).label, 120);
}

std::string where(const RunRecord& record, const SubjectVerdict& verdict) {
  const Subject& subject = subject_of(record, verdict);
  return fmt::format("on {} at batch size {}", printable(subject.model, 60), subject.batch_size);
}

std::string bounds(double low, double high, double confidence) {
  return fmt::format("{:.0f} % interval {} … {}", confidence * 100, three_digits(low), three_digits(high));
}

std::string outputs_clause(const SubjectVerdict& verdict) {
  if (verdict.outputs == nullptr) return "; outputs were not compared";
  const auto& comparison = verdict.outputs->comparison;
  if (comparison.agree) return "; outputs agree" + image_figures(comparison);
  if (comparison.undecided) return "; whether outputs agree cannot be told";
  return fmt::format("; outputs DIFFER{}, so the times are not of the same work", image_figures(comparison));
}

// Of subjects that were loaded for several inferences at once.
std::string requests_clause(const RunRecord& record, std::initializer_list<int> subjects) {
  std::string text;
  for (const int subject : subjects) {
    const auto is_told = [&](const Samples& trial) {
      return trial.subject == subject && has_diagnostic(trial, DiagnosticId::one_request_at_a_time);
    };
    if (std::ranges::none_of(record.trials, is_told)) continue;
    text += fmt::format("; {} was measured one request at a time, and its options are for several",
                        answer_label(record, subject));
  }
  return text;
}

// Only where the whole interval lies on one side; the ratio is of the host's memory.
std::string memory_clause(const SubjectVerdict& verdict) {
  if (is_on_device(verdict)) return {};
  const Ratio* ratio = ratio_of(verdict, "memory_peak");
  if (ratio == nullptr || !ratio->estimate.value || !ratio->estimate.interval) return {};
  const double value = *ratio->estimate.value;
  if (ratio->estimate.interval->low > 1) return fmt::format("; its peak memory is {} smaller", format_ratio(value));
  if (ratio->estimate.interval->high < 1) return fmt::format("; its peak memory is {} larger", format_ratio(1 / value));
  return {};
}

// Objects of the program that measured them.
bool is_of_one_process(const RunRecord& record, const SubjectVerdict& verdict) {
  return std::ranges::any_of(record.trials, [&](const Samples& trial) {
    return trial.subject == verdict.subject && has_diagnostic(trial, DiagnosticId::not_isolated);
  });
}

// "takes 3.12 % less time than"; `factor` is baseline by candidate.
std::string time_change(double factor) {
  const double change = 1 / factor - 1;
  return fmt::format("{} % {} time", three_digits(std::abs(change) * 100), change < 0 ? "less" : "more");
}

// "between 14.1 % less and 10.0 % more", "between 1.10 % and 2.30 % less"
std::string time_range(const Interval& ratio) {
  const auto part = [](double factor) { return three_digits(std::abs(1 / factor - 1) * 100); };
  const auto word = [](double factor) { return factor > 1 ? "less" : "more"; };
  if ((ratio.low > 1) == (ratio.high > 1)) {
    return fmt::format("between {} % and {} % {}", part(ratio.low > 1 ? ratio.low : ratio.high),
                       part(ratio.low > 1 ? ratio.high : ratio.low), word(ratio.low));
  }
  return fmt::format("between {} % less and {} % more", part(ratio.high), part(ratio.low));
}

// "; about 5 more processes of each (40 s) would settle it (--processes 10)"
std::string what_would_settle(const RunRecord& record, const Estimate& ratio) {
  const int rounds = ratio.processes / 2;
  if (rounds < 2) return "";
  const double target = std::max(std::abs(std::log(*ratio.value)), std::log1p(record.plan.precision));
  const auto more = more_rounds(*ratio.interval, rounds, level_of_rounds(record), target);
  if (!more) return "; more processes are unlikely to settle it";
  double round_s = 0;
  for (const Samples& trial : record.trials) round_s += trial.wall_s;
  round_s *= static_cast<double>(record.plan.subjects.size()) / static_cast<double>(record.trials.size());
  return fmt::format("; about {} of each ({}) would settle it (--processes {})",
                     counted(*more, "more process", "more processes"), format_duration(round_s * *more),
                     rounds + *more);
}

// Times are compared as baseline / candidate: above 1 the candidate is faster.
Sentence speed_sentence(const RunRecord& record, const SubjectVerdict& verdict) {
  const std::string candidate = printable(short_label(record, verdict.subject), 120);
  const std::string baseline = printable(short_label(record, *verdict.baseline), 120);
  const std::string place = where(record, verdict);
  const Ratio* ratio = ratio_of(verdict, "latency_p50");
  if (ratio == nullptr || !ratio->estimate.value) {
    const std::string why = ratio == nullptr ? "" : printable(ratio->estimate.note);
    return {Tone::warning,
            fmt::format("cannot tell whether {} or {} is faster {}{}", candidate, baseline, place,
                        why.empty() ? "" : ": " + why),
            "cannot tell"};
  }
  const double value = *ratio->estimate.value;
  if (!ratio->estimate.interval) {
    return {Tone::warning,
            fmt::format("cannot tell whether {} or {} is faster {}: the ratio is {} without an interval, "
                        "which takes at least two processes of each ({})",
                        candidate, baseline, place, format_ratio(value),
                        is_of_one_process(record, verdict) ? "factories have them, objects of one process do not"
                                                           : "--processes 3"),
            "cannot tell"};
  }
  const auto [low, high, confidence] = *ratio->estimate.interval;
  const Direction direction = direction_of(ratio->estimate, record.plan.precision);
  if (direction == Direction::faster) {
    return {Tone::good,
            fmt::format("{} is {} faster than {} {} ({})", candidate, format_ratio(value), baseline, place,
                        bounds(low, high, confidence)),
            "faster"};
  }
  if (direction == Direction::slower) {
    return {Tone::warning,
            fmt::format("{} is {} slower than {} {} ({})", candidate, format_ratio(1 / value), baseline, place,
                        bounds(1 / high, 1 / low, confidence)),
            "slower"};
  }
  if (direction == Direction::equivalent) {
    return {Tone::good,
            fmt::format("{} and {} take the same time {}, within {:g} % ({}: {})", candidate, baseline, place,
                        record.plan.precision * 100, candidate, time_range(*ratio->estimate.interval)),
            "same"};
  }
  const std::string known =
      tells_nothing(value, *ratio->estimate.interval)
          ? std::string("too few processes for an interval")
          : fmt::format("{:.0f} % interval: {}", confidence * 100, time_range(*ratio->estimate.interval));
  return {Tone::faint,
          fmt::format("undecided whether {} or {} is faster {}: {} took {} ({}){}", candidate, baseline, place,
                      candidate, time_change(value), known, what_would_settle(record, ratio->estimate)),
          "undecided"};
}

Sentence comparison_sentence(const RunRecord& record, const SubjectVerdict& verdict) {
  Sentence sentence = speed_sentence(record, verdict);
  sentence.text +=
      memory_clause(verdict) + requests_clause(record, {*verdict.baseline, verdict.subject}) + outputs_clause(verdict);
  const bool differ =
      verdict.outputs != nullptr && !verdict.outputs->comparison.agree && !verdict.outputs->comparison.undecided;
  if (differ) {
    sentence.tone = Tone::bad;
    sentence.verdict = "outputs differ";
  }
  return sentence;
}

// "openvino", "openvino or onnxruntime"
std::string any_of(const RunRecord& record, const std::vector<int>& subjects) {
  std::vector<std::string> labels;
  for (const int subject : subjects) labels.push_back(printable(short_label(record, subject), 120));
  return fmt::format("{}", fmt::join(labels, " or "));
}

Sentence group_sentence(const RunRecord& record, const Verdict& verdict, const GroupAnswer& answer) {
  const std::string place = where(record, verdict.subjects.at(static_cast<std::size_t>(answer.first)));
  const bool is_one = answer.fastest.size() == 1;
  std::string text = fmt::format("{} {}: {}", is_one ? "fastest" : "among the fastest", place,
                                 any_of(record, answer.fastest));
  if (!is_one) text += " (not told apart)";
  if (answer.least_memory.size() == 1) text += fmt::format("; least memory: {}", any_of(record, answer.least_memory));
  return {is_one ? Tone::good : Tone::faint, text, is_one ? "fastest" : "undecided"};
}

Sentence failure_sentence(const RunRecord& record, const SubjectVerdict& verdict, const Samples& trial) {
  const auto failures = verdict.summary.trials_failed + verdict.summary.trials_partial;
  const auto total = failures + verdict.summary.trials_ok;
  std::string text = fmt::format("{} did not finish in {} of {}: {}", answer_label(record, verdict.subject), failures,
                                 counted(total, "trial", "trials"), end_of(trial));
  if (!trial.message.empty()) text += "; " + printable(trial.message);
  const std::string said = printable(last_words(trial.stderr_tail), 160);
  if (!said.empty()) text += "; last line on stderr: " + said;
  return {Tone::bad, text, "failed"};
}

Sentence leak_sentence(const RunRecord& record, const SubjectVerdict& verdict) {
  const LeakEstimate& leak = *verdict.leak;
  const std::string label = answer_label(record, verdict.subject);
  const std::string_view outcome = to_string(leak.verdict);
  std::string slope = format_bytes(leak.bytes_per_iteration) + " per iteration";
  if (leak.interval) {
    slope +=
        fmt::format(" (95 % interval {} … {})", format_bytes(leak.interval->low), format_bytes(leak.interval->high));
  }
  switch (leak.verdict) {
    case LeakVerdict::leak: return {Tone::bad, fmt::format("{} leaks {}: {}", label, slope, leak.reason), "leaks"};
    case LeakVerdict::no_leak: {
      const std::string seen =
          leak.detectable_bytes_per_iteration
              ? fmt::format(" by {} or more per iteration", format_bytes(*leak.detectable_bytes_per_iteration))
              : "";
      return {Tone::good, fmt::format("{} does not leak{}: {}", label, seen, leak.reason), "no leak"};
    }
    case LeakVerdict::cannot_tell: break;
  }
  return {Tone::faint, fmt::format("{}: {} whether it leaks: {}", label, outcome, leak.reason), "cannot tell"};
}

// "11.2 ms (95 % interval 11.0 ms … 11.4 ms)"
std::string measured_text(const Estimate& estimate, std::string (*format)(double)) {
  std::string text = format(*estimate.value);
  if (!estimate.interval) return text + " (no interval: " + printable(estimate.note) + ")";
  if (tells_nothing(*estimate.value, *estimate.interval)) return text + " (too few processes for an interval)";
  return text + fmt::format(" ({:.0f} % interval {})", estimate.interval->confidence * 100,
                            bounds_in_unit_of(text, *estimate.interval, format));
}

Sentence measured_sentence(const RunRecord& record, const SubjectVerdict& verdict) {
  const std::string label = answer_label(record, verdict.subject), place = where(record, verdict);
  const Metric* latency = verdict.summary.metric("latency_p50");
  if (latency == nullptr || !latency->estimate.value) {
    const std::string why = latency == nullptr ? "" : ": " + printable(latency->estimate.note);
    return {Tone::faint, fmt::format("cannot tell how fast {} is {}{}", label, place, why), "cannot tell"};
  }
  std::string text =
      fmt::format("{} takes {} {}, median of {} in {}", label, measured_text(latency->estimate, format_time), place,
                  counted(latency->estimate.n, "iteration", "iterations"),
                  counted(latency->estimate.processes, "process", "processes"));
  const Metric* throughput = verdict.summary.metric("throughput");
  if (throughput != nullptr && throughput->estimate.value) {
    text += fmt::format("; throughput {}", measured_text(throughput->estimate, format_rate));
  }
  return {Tone::plain, text + requests_clause(record, {verdict.subject}), "measured"};
}

bool is_baseline(const Verdict& verdict, int subject) {
  return std::ranges::any_of(verdict.subjects, [&](const SubjectVerdict& one) { return one.baseline == subject; });
}

// Failures and leaks are among the answers, with more to say than the diagnostic.
bool is_told_elsewhere(DiagnosticId id) {
  return id == DiagnosticId::trial_failed || id == DiagnosticId::memory_leak || id == DiagnosticId::leak_unclear;
}

std::string message_of(const Diagnostic& diagnostic) {
  const std::string message = printable(diagnostic.message);
  if (diagnostic.about.empty()) return message;
  return printable(diagnostic.about, 120) + ": " + message;
}

}  // namespace

std::vector<Sentence> answers(const RunRecord& record, const Verdict& verdict) {
  std::vector<Sentence> sentences;
  if (verdict.comparison) sentences = comparison_answers(record, verdict);
  for (Sentence& sentence : sentences)
    for (const SubjectVerdict& subject : verdict.subjects)
      if (!sentence.verdict.empty()) sentence.text += requests_clause(record, {subject.subject});
  for (const GroupAnswer& answer : answer_groups(record, verdict)) {
    sentences.push_back(group_sentence(record, verdict, answer));
  }
  for (const auto& subject : verdict.subjects) {
    if (!verdict.comparison && subject.baseline && subject.summary.trials_ok + subject.summary.trials_partial > 0) {
      sentences.push_back(comparison_sentence(record, subject));
    }
  }
  if (is_imported(record.plan)) {
    sentences.push_back({Tone::faint,
                         "the times are those of files that other tools wrote: nothing was measured here, so that no "
                         "time without a profiler and no machine stands beside them",
                         "imported"});
  }
  if (verdict.profile) {
    for (auto& sentence : why_sentences(record, *verdict.profile)) sentences.push_back(std::move(sentence));
  }
  for (auto& sentence : accuracy_sentences(record, verdict)) sentences.push_back(std::move(sentence));
  for (const auto& subject : verdict.subjects) {
    const Samples* failed = failed_trial(record, subject.subject);
    if (failed != nullptr) sentences.push_back(failure_sentence(record, subject, *failed));
  }
  for (const auto& subject : verdict.subjects) {
    if (subject.leak) sentences.push_back(leak_sentence(record, subject));
  }
  // What went wrong comes first.
  std::ranges::stable_partition(sentences, [](const Sentence& sentence) { return sentence.tone == Tone::bad; });
  return sentences;
}

std::vector<Sentence> measured_answers(const RunRecord& record, const Verdict& verdict) {
  std::vector<Sentence> sentences;
  for (const auto& subject : verdict.subjects) {
    const bool ran = subject.summary.trials_ok + subject.summary.trials_partial > 0;
    const bool is_compared = subject.baseline || is_baseline(verdict, subject.subject);
    if (ran && !is_compared) sentences.push_back(measured_sentence(record, subject));
  }
  return sentences;
}

std::vector<Notice> notices(const Verdict& verdict) { return notices(verdict.diagnostics); }

std::vector<Notice> notices(const std::vector<Diagnostic>& diagnostics) {
  std::vector<Notice> all;
  for (const auto& diagnostic : diagnostics) {
    if (is_told_elsewhere(diagnostic.id)) continue;
    auto found = std::ranges::find(all, diagnostic.id, &Notice::id);
    if (found == all.end()) {
      const auto& known = info(diagnostic.id);
      all.push_back({diagnostic.id, known.severity, {}, std::string(known.remedy)});
      found = all.end() - 1;
    }
    std::string message = message_of(diagnostic);
    if (std::ranges::find(found->messages, message) == found->messages.end()) {
      found->messages.push_back(std::move(message));
    }
  }
  for (auto& notice : all) {
    if (notice.messages.size() <= messages_shown) continue;
    const auto more = notice.messages.size() - (messages_shown - 1);
    notice.messages.resize(messages_shown - 1);
    notice.messages.push_back(fmt::format("and {} more of the kind", more));
  }
  std::ranges::stable_sort(all, [](Severity a, Severity b) { return a > b; }, &Notice::severity);
  return all;
}

}  // namespace infermeter
