#include "infermeter/report/run/answers.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "infermeter/diagnostics/last_words.hpp"
#include "infermeter/plan/imported.hpp"
#include "infermeter/plan/python_words.hpp"
#include "infermeter/report/comparison/text.hpp"
#include "infermeter/report/load/load_text.hpp"
#include "infermeter/report/numbers/format.hpp"
#include "infermeter/report/numbers/interval_text.hpp"
#include "infermeter/report/numbers/number_text.hpp"
#include "infermeter/report/profile/text.hpp"
#include "infermeter/report/run/accuracy_text.hpp"
#include "infermeter/report/run/row.hpp"
#include "infermeter/report/run/subject_label.hpp"
#include "infermeter/report/tuning/text.hpp"
#include "infermeter/text/counts.hpp"
#include "infermeter/text/quoted.hpp"
#include "infermeter/text/terminal.hpp"

namespace infermeter {
namespace {

constexpr std::size_t messages_shown = 3;

const SubjectVerdict& verdict_of(const Verdict& verdict, int subject) {
  return verdict.subjects.at(static_cast<std::size_t>(subject));
}

std::string answer_label(const RunRecord& record, int subject) {
  return printable(subject_at(record, subject).label, 120);
}

std::string answer_short_label(const RunRecord& record, int subject) {
  return printable(short_label(record, subject), 120);
}

std::string bounds(double low, double high, double confidence) {
  return fmt::format("{:.0f} % interval {} … {}", confidence * 100, three_digits(low), three_digits(high));
}

std::string outputs_clause(const Verdict& verdict, const Answer& aside) {
  if (aside.kind == AnswerKind::outputs_not_compared) return "outputs were not compared";
  const std::string figures = image_figures(verdict_of(verdict, aside.subjects.front()).outputs->comparison);
  if (aside.kind == AnswerKind::outputs_agree) return "outputs agree" + figures;
  if (aside.kind == AnswerKind::outputs_undecided) return "whether outputs agree cannot be determined";
  return fmt::format("outputs DIFFER{}, so the times are not of the same work", figures);
}

// "; its peak memory is 1.20x smaller": what is said in the same breath.
std::string clause(const RunRecord& record, const Verdict& verdict, const Answer& aside) {
  switch (aside.kind) {
    case AnswerKind::less_memory: return fmt::format("its peak memory is {} smaller", format_ratio(*aside.value));
    case AnswerKind::more_memory: return fmt::format("its peak memory is {} larger", format_ratio(1 / *aside.value));
    case AnswerKind::least_memory: return "least memory: " + answer_short_label(record, aside.subjects.front());
    case AnswerKind::one_request_at_a_time:
      return fmt::format("{} was measured one request at a time, and its options are for several",
                         answer_label(record, aside.subjects.front()));
    default: break;
  }
  return aside.topic == AnswerTopic::outputs ? outputs_clause(verdict, aside) : "";
}

std::string clauses(const RunRecord& record, const Verdict& verdict, const Answer& answer) {
  std::string text;
  for (const Answer& aside : answer.besides) {
    if (const std::string one = clause(record, verdict, aside); !one.empty()) text += "; " + one;
  }
  return text;
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
std::string what_would_settle(const RunRecord& record, const Answer& answer) {
  if (answer.unsettled) return "; more processes are unlikely to settle it";
  if (!answer.needed) return "";
  const std::string more = counted(answer.needed->more, "more process", "more processes");
  if (is_imported(record.plan)) return fmt::format("; about {} of each would settle it", more);
  return fmt::format("; about {} of each ({}) would settle it (--processes {})", more,
                     format_duration(answer.needed->seconds.value_or(0)), answer.needed->total);
}

std::string no_interval_text(const RunRecord& record, const Verdict& verdict, const Answer& answer,
                             const std::string& start) {
  if (!answer.value) return answer.reason.empty() ? start : start + ": " + printable(answer.reason);
  return fmt::format("{}: the ratio is {} without an interval, which takes at least two processes of each ({})", start,
                     format_ratio(*answer.value),
                     is_of_one_process(record, verdict_of(verdict, answer.subjects.front()))
                         ? "factories have them, objects of one process do not"
                     : is_imported(record.plan) ? "LABEL=FILE,FILE"
                                                : "--processes 3");
}

// Times are compared as baseline / candidate: above 1 the candidate is faster.
std::string speed_text(const RunRecord& record, const Verdict& verdict, const Answer& answer) {
  const int subject = answer.subjects.front();
  const std::string candidate = answer_short_label(record, subject);
  const std::string baseline = answer_short_label(record, *answer.baseline);
  const std::string place = place_text(record, subject);
  if (!answer.direction) {
    return no_interval_text(record, verdict, answer,
                            fmt::format("undecided whether {} or {} is faster {}", candidate, baseline, place));
  }
  const double value = *answer.value;
  const auto [low, high, confidence] = *answer.interval;
  switch (*answer.direction) {
    case Direction::faster:
      return fmt::format("{} is {} faster than {} {} ({})", candidate, format_ratio(value), baseline, place,
                         bounds(low, high, confidence));
    case Direction::slower:
      return fmt::format("{} is {} slower than {} {} ({})", candidate, format_ratio(1 / value), baseline, place,
                         bounds(1 / high, 1 / low, confidence));
    case Direction::equivalent:
      return fmt::format("{} and {} take the same time {}, within {:g} % ({}: {})", candidate, baseline, place,
                         record.plan.precision * 100, candidate, time_range(*answer.interval));
    case Direction::unresolved: break;
  }
  const std::string known = is_uninformative(value, *answer.interval)
                                ? std::string("too few processes for an interval")
                                : fmt::format("{:.0f} % interval: {}", confidence * 100, time_range(*answer.interval));
  return fmt::format("undecided whether {} or {} is faster {}: {} took {} ({}){}", candidate, baseline, place,
                     candidate, time_change(value), known, what_would_settle(record, answer));
}

// "fastest on resnet50 at batch size 1: openvino", "among the fastest …: openvino or onnxruntime (undecided)"
std::string fastest_text(const RunRecord& record, const Answer& answer) {
  std::vector<std::string> labels;
  for (const int subject : answer.subjects) labels.push_back(answer_short_label(record, subject));
  const bool is_one = answer.kind == AnswerKind::fastest;
  return fmt::format("{} {}: {}{}", is_one ? "fastest" : "among the fastest", place_text(record, *answer.baseline),
                     fmt::join(labels, " or "), is_one ? "" : " (undecided)");
}

// A runtime's message begins with what was done and ends with what was wrong.
std::string both_ends(std::string_view message) {
  constexpr std::size_t whole = 300, first = 160, last = 130;
  if (message.size() <= whole) return printable(message);
  const auto is_within = [&](std::size_t at) { return (static_cast<unsigned char>(message[at]) & 0xC0U) == 0x80U; };
  std::size_t head = first, tail = message.size() - last;
  while (head > 0 && is_within(head)) --head;
  while (tail < message.size() && is_within(tail)) ++tail;
  return printable(message.substr(0, head)) + " … " + printable(message.substr(tail));
}

// Runtimes log what they then throw: one of the two is enough.
bool ends_alike(std::string_view message, std::string_view line) {
  constexpr std::size_t compared = 40;
  return message.find(line.substr(line.size() - std::min(line.size(), compared))) != std::string_view::npos;
}

std::string failure_text(const RunRecord& record, const Verdict& verdict, const Answer& answer) {
  const int subject = answer.subjects.front();
  const Samples& trial = *failed_trial(record, subject);
  std::string text =
      fmt::format("{} did not finish in {} of {}: {}", answer_label(record, subject), answer.n,
                  counted(answer.n + verdict_of(verdict, subject).summary.trials_ok, "trial", "trials"), end_of(trial));
  if (!answer.reason.empty()) text += "; " + both_ends(answer.reason);
  const std::string_view last_line = last_words(trial.stderr_tail);
  if (!last_line.empty() && !ends_alike(trial.message, last_line))
    text += "; last line on stderr: " + printable(last_line, 160);
  return text;
}

std::string leak_text(const RunRecord& record, const Verdict& verdict, const Answer& answer) {
  const LeakEstimate& leak = *verdict_of(verdict, answer.subjects.front()).leak;
  const std::string label = answer_label(record, answer.subjects.front());
  if (answer.kind == AnswerKind::undecided) {
    return fmt::format("{}: {} whether it leaks: {}", label, to_string(leak.verdict), answer.reason);
  }
  if (answer.kind == AnswerKind::no_leak) {
    const auto& detectable = leak.detectable_bytes_per_iteration;
    const std::string seen =
        detectable ? fmt::format(" by {} or more per iteration", format_bytes(*detectable)) : std::string();
    return fmt::format("{} does not leak{}: {}", label, seen, answer.reason);
  }
  std::string slope = format_bytes(*answer.value) + " per iteration";
  if (answer.interval) {
    slope += fmt::format(" (95 % interval {} … {})", format_bytes(answer.interval->low),
                         format_bytes(answer.interval->high));
  }
  return fmt::format("{} leaks {}: {}", label, slope, answer.reason);
}

// "11.2 ms (95 % interval 11.0 ms … 11.4 ms)"
std::string measured_text(const Answer& answer, std::string (*format)(double)) {
  std::string text = format(*answer.value);
  if (!answer.interval) return text + " (no interval: " + printable(answer.reason) + ")";
  if (is_uninformative(*answer.value, *answer.interval)) return text + " (too few processes for an interval)";
  return text + fmt::format(" ({:.0f} % interval {})", answer.interval->confidence * 100,
                            bounds_in_unit_of(text, *answer.interval, format));
}

std::string level_text(const RunRecord& record, const Answer& answer) {
  const std::string label = answer_label(record, answer.subjects.front());
  const std::string place = place_text(record, answer.subjects.front());
  if (!answer.value) {
    const std::string why = answer.reason.empty() ? "" : ": " + printable(answer.reason);
    return fmt::format("cannot tell how fast {} is {}{}", label, place, why);
  }
  std::string text =
      fmt::format("{} takes {} {}, median of {} in {}", label, measured_text(answer, format_time), place,
                  counted(answer.n, "iteration", "iterations"), counted(answer.processes, "process", "processes"));
  if (const Answer* throughput = beside(answer, AnswerTopic::level)) {
    text += fmt::format("; throughput {}", measured_text(*throughput, format_rate));
  }
  return text;
}

constexpr const char* imported_profiles =
    "the times are those of files that other tools wrote: nothing was measured here, so that no time without a "
    "profiler and no machine stands beside them";
constexpr const char* imported_times =
    "the times are those of files that other tools wrote: neither the machine nor the outputs are known";

std::string answer_text(const RunRecord& record, const Verdict& verdict, const Answer& answer) {
  switch (answer.topic) {
    case AnswerTopic::fastest: return fastest_text(record, answer);
    case AnswerTopic::level: return level_text(record, answer);
    case AnswerTopic::accuracy: return accuracy_sentence(record, verdict, answer);
    case AnswerTopic::completion: return failure_text(record, verdict, answer);
    case AnswerTopic::leak: return leak_text(record, verdict, answer);
    case AnswerTopic::profile: return why_sentence(record, *verdict.profile, answer);
    case AnswerTopic::load: return load_sentence(record, verdict, answer);
    case AnswerTopic::source: return record.trials.empty() ? imported_profiles : imported_times;
    default: break;
  }
  if (verdict.tuning) return tuning_sentence(record, verdict, answer);
  return verdict.comparison ? comparison_sentence(record, verdict, answer) : speed_text(record, verdict, answer);
}

// Failures and leaks are among the answers, with more to say than the diagnostic.
bool is_reported_elsewhere(DiagnosticId id) {
  return id == DiagnosticId::trial_failed || id == DiagnosticId::memory_leak || id == DiagnosticId::leak_unclear;
}

std::string message_of(const Diagnostic& diagnostic) {
  const std::string message = printable(diagnostic.message);
  if (diagnostic.about.empty()) return message;
  return printable(diagnostic.about, 120) + ": " + message;
}

}  // namespace

std::vector<WordedAnswer> worded_answers(const RunRecord& record, const Verdict& verdict) {
  std::vector<WordedAnswer> worded;
  for (const Answer& answer : verdict.answers) {
    std::string text = answer_text(record, verdict, answer) + clauses(record, verdict, answer);
    worded.push_back({answer, verdict.of_a_program ? in_python_words(text) : std::move(text)});
  }
  return worded;
}

std::vector<WordedAnswer> without_levels(std::vector<WordedAnswer> answers) {
  std::erase_if(answers, [](const WordedAnswer& one) { return one.answer.topic == AnswerTopic::level; });
  return answers;
}

std::string remedy_of(DiagnosticId id, bool of_a_program) {
  if (!of_a_program) return std::string(info(id).remedy);
  if (id == DiagnosticId::too_few_processes)
    return "Give factories to infermeter.run or infermeter.compare: rounds of one process have no interval.";
  return in_python_words(info(id).remedy);
}

std::vector<Notice> notices(const Verdict& verdict) {
  std::vector<Notice> all = notices(verdict.diagnostics);
  if (!verdict.of_a_program) return all;
  for (Notice& notice : all) {
    notice.remedy = remedy_of(notice.id, true);
    for (std::string& message : notice.messages) message = in_python_words(message);
  }
  return all;
}

std::vector<Notice> notices(const std::vector<Diagnostic>& diagnostics) {
  std::vector<Notice> all;
  for (const auto& diagnostic : diagnostics) {
    if (is_reported_elsewhere(diagnostic.id)) continue;
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
    notice.messages.push_back(fmt::format("and {} more like this", more));
  }
  std::ranges::stable_sort(all, [](Severity a, Severity b) { return a > b; }, &Notice::severity);
  return all;
}

}  // namespace infermeter
