#include "infermeter/verdict/rounds/enough_rounds.hpp"

#include <algorithm>
#include <cmath>

#include "infermeter/stats/comparison/rounds.hpp"
#include "infermeter/verdict/judge.hpp"
#include "infermeter/verdict/rounds/blocks.hpp"
#include "infermeter/verdict/rounds/rounds.hpp"

namespace infermeter {
namespace {

bool is_narrow(const Estimate& estimate, double precision) {
  if (!estimate.value) return true;  // no number of processes changes that
  return estimate.interval && estimate.interval->low > 0 &&
         std::log(estimate.interval->high / estimate.interval->low) <= 2 * std::log1p(precision);
}

bool is_alone(const Verdict& verdict, const SubjectVerdict& subject) {
  return !subject.baseline && std::ranges::none_of(verdict.subjects, [&](const SubjectVerdict& other) {
    return other.baseline == subject.subject;
  });
}

bool is_answered(const Verdict& verdict, const SubjectVerdict& subject, double precision) {
  if (subject.baseline) {
    const bool has_ratio = !subject.ratios.empty() && subject.ratios.front().estimate.value;
    return !has_ratio || subject.direction != Direction::unresolved;
  }
  const Metric* latency = subject.summary.metric("latency_p50");
  return !is_alone(verdict, subject) || latency == nullptr || is_narrow(latency->estimate, precision);
}

}  // namespace

bool has_enough_rounds(const RunRecord& record) {
  const int rounds = complete_blocks(record);
  if (!record.plan.automatic.processes || rounds < kLeastRounds) return false;
  if (is_out_of_time(record, rounds) || is_of_a_program(record)) return true;
  if (!is_round_look(rounds)) return false;
  const Verdict verdict = judge(record);
  return std::ranges::all_of(verdict.subjects, [&](const SubjectVerdict& subject) {
    return is_answered(verdict, subject, record.plan.precision);
  });
}

}  // namespace infermeter
