#include "infermeter/verdict/answers/run_answers.hpp"

#include <algorithm>
#include <cmath>

#include "infermeter/plan/imported.hpp"
#include "infermeter/stats/comparison/rounds.hpp"
#include "infermeter/verdict/answers/accuracy_answers.hpp"
#include "infermeter/verdict/answers/asides.hpp"
#include "infermeter/verdict/answers/comparison_answers.hpp"
#include "infermeter/verdict/answers/fastest.hpp"
#include "infermeter/verdict/answers/profile_answers.hpp"
#include "infermeter/verdict/load/load_answers.hpp"
#include "infermeter/verdict/rounds/rounds.hpp"
#include "infermeter/verdict/tuning/tuning_answers.hpp"

namespace infermeter {
namespace {

bool ran(const SubjectVerdict& subject) { return subject.summary.trials_ok + subject.summary.trials_partial > 0; }

// More processes of each, if they settle it.
void add_need(const RunRecord& record, const Estimate& ratio, Answer& answer) {
  const int rounds = ratio.processes / 2;
  if (rounds < 2) return;
  const double target = std::max(std::abs(std::log(*ratio.value)), std::log1p(record.plan.precision));
  const auto more = more_rounds(*ratio.interval, rounds, level_of_rounds(record), target);
  answer.unsettled = !more;
  if (!more) return;
  const double round_s = wall_s(record.trials) *
                         (static_cast<double>(record.plan.subjects.size()) / static_cast<double>(record.trials.size()));
  answer.needed = {.more = *more, .what = "processes", .total = rounds + *more, .seconds = round_s * *more};
}

void set_direction(const RunRecord& record, const Estimate& ratio, Answer& answer) {
  answer.direction = direction_of(ratio, record.plan.precision);
  switch (*answer.direction) {
    case Direction::faster: answer.kind = AnswerKind::faster, answer.tone = Tone::good; return;
    case Direction::slower: answer.kind = AnswerKind::slower, answer.tone = Tone::warning; return;
    case Direction::equivalent: answer.kind = AnswerKind::equivalent, answer.tone = Tone::good; return;
    case Direction::unresolved: break;
  }
  answer.kind = AnswerKind::undecided;
  answer.tone = Tone::faint;
  add_need(record, ratio, answer);
}

Answer compared(const RunRecord& record, const SubjectVerdict& subject) {
  Answer answer{.topic = AnswerTopic::speed,
                .kind = AnswerKind::unknown,
                .tone = Tone::warning,
                .subjects = {subject.subject},
                .baseline = subject.baseline,
                .metric = "latency_p50"};
  if (const Ratio* ratio = ratio_of(subject, answer.metric)) {
    set_figure(ratio->estimate, "x", answer);
    if (ratio->estimate.value && ratio->estimate.interval) set_direction(record, ratio->estimate, answer);
  }
  add_memory(subject, answer);
  add_requests(record, *subject.baseline, answer);
  add_requests(record, subject.subject, answer);
  add_outputs(subject.outputs, answer);
  if (answer.besides.back().kind == AnswerKind::outputs_differ) {
    answer.kind = AnswerKind::outputs_differ;
    answer.tone = Tone::bad;
  }
  return answer;
}

Answer group_answer(const GroupAnswer& group) {
  const bool is_one = group.fastest.size() == 1;
  Answer answer{.topic = AnswerTopic::fastest,
                .kind = is_one ? AnswerKind::fastest : AnswerKind::undecided,
                .tone = is_one ? Tone::good : Tone::faint,
                .subjects = group.fastest,
                .baseline = group.first,
                .metric = "latency_p50"};
  if (group.least_memory.size() == 1) {
    answer.besides.push_back({.topic = AnswerTopic::memory,
                              .kind = AnswerKind::least_memory,
                              .subjects = group.least_memory,
                              .metric = "memory_peak"});
  }
  return answer;
}

Answer failure(const SubjectVerdict& subject, const Samples& trial) {
  return {.topic = AnswerTopic::completion,
          .kind = AnswerKind::failed,
          .tone = Tone::bad,
          .subjects = {subject.subject},
          .n = subject.summary.trials_failed + subject.summary.trials_partial,
          .n_of = "trials",
          .reason = trial.message};
}

Answer leak_answer(const SubjectVerdict& subject) {
  const LeakEstimate& leak = *subject.leak;
  Answer answer{.topic = AnswerTopic::leak,
                .kind = AnswerKind::undecided,
                .tone = Tone::faint,
                .subjects = {subject.subject},
                .metric = "memory_growth",
                .value = leak.bytes_per_iteration,
                .interval = leak.interval,
                .unit = "bytes/iteration",
                .reason = leak.reason};
  if (leak.verdict == LeakVerdict::leak) answer.kind = AnswerKind::leak, answer.tone = Tone::bad;
  if (leak.verdict == LeakVerdict::no_leak) answer.kind = AnswerKind::no_leak, answer.tone = Tone::good;
  return answer;
}

Answer level(const SubjectVerdict& subject, const std::string& metric) {
  Answer answer{.topic = AnswerTopic::level,
                .kind = AnswerKind::unknown,
                .tone = Tone::faint,
                .subjects = {subject.subject},
                .metric = metric};
  const Metric* found = subject.summary.metric(metric);
  if (found == nullptr) return answer;
  set_figure(found->estimate, found->unit, answer);
  if (answer.value) answer.kind = AnswerKind::measured, answer.tone = Tone::plain;
  return answer;
}

Answer measured(const RunRecord& record, const SubjectVerdict& subject) {
  Answer answer = level(subject, "latency_p50");
  if (!answer.value) return answer;
  if (Answer throughput = level(subject, "throughput"); throughput.value) answer.besides.push_back(throughput);
  add_requests(record, subject.subject, answer);
  return answer;
}

bool is_compared(const Verdict& verdict, const SubjectVerdict& subject) {
  return subject.baseline ||
         std::ranges::any_of(verdict.subjects, [&](const auto& other) { return other.baseline == subject.subject; });
}

void append_answers(std::vector<Answer>& all, std::vector<Answer> more) {
  all.insert(all.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

void add_comparisons(const RunRecord& record, const Verdict& verdict, std::vector<Answer>& answers) {
  for (const GroupAnswer& group : answer_groups(record, verdict)) answers.push_back(group_answer(group));
  for (const SubjectVerdict& subject : verdict.subjects) {
    // Under load a median says little of a subject: that of another rate or number of clients is another matter.
    if (!verdict.comparison && subject.baseline && ran(subject) && !subject.load) {
      answers.push_back(compared(record, subject));
    }
  }
  for (const SubjectVerdict& subject : verdict.subjects) {
    if (ran(subject) && !is_compared(verdict, subject) && !subject.load) answers.push_back(measured(record, subject));
  }
}

}  // namespace

std::vector<Answer> run_answers(const RunRecord& record, const Verdict& verdict) {
  std::vector<Answer> answers;
  if (verdict.comparison) answers = comparison_answers(record, verdict);
  if (verdict.tuning) {
    answers = tuning_answers(record, verdict);
  } else {
    add_comparisons(record, verdict, answers);
  }
  append_answers(answers, load_answers(verdict));
  if (is_imported(record.plan)) {
    answers.push_back({.topic = AnswerTopic::source, .kind = AnswerKind::imported, .tone = Tone::faint});
  }
  if (verdict.profile) append_answers(answers, profile_answers(*verdict.profile));
  append_answers(answers, accuracy_answers(verdict));
  for (const SubjectVerdict& subject : verdict.subjects) {
    const Samples* failed = failed_trial(record, subject.subject);
    if (failed != nullptr && !verdict.tuning) answers.push_back(failure(subject, *failed));
  }
  for (const SubjectVerdict& subject : verdict.subjects)
    if (subject.leak) answers.push_back(leak_answer(subject));
  worst_first(answers);
  return answers;
}

}  // namespace infermeter
