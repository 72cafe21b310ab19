#include "infermeter/verdict/answers/fastest.hpp"

#include <algorithm>
#include <map>
#include <string_view>

#include "infermeter/stats/summary/metrics.hpp"
#include "infermeter/stats/summary/ratio.hpp"
#include "infermeter/verdict/rounds/blocks.hpp"
#include "infermeter/verdict/summary_options.hpp"

namespace infermeter {
namespace {

constexpr std::size_t least_subjects = 3;

double value_of(const SubjectVerdict& subject, std::string_view metric) {
  return *subject.summary.metric(metric)->estimate.value;
}

bool has_value(const SubjectVerdict& subject, std::string_view metric) {
  const Metric* found = subject.summary.metric(metric);
  return found != nullptr && found->estimate.value;
}

bool does_the_same_work(const SubjectVerdict& subject) {
  const bool differs =
      subject.outputs != nullptr && !subject.outputs->comparison.agree && !subject.outputs->comparison.undecided;
  return !differs && subject.summary.trials_failed + subject.summary.trials_partial == 0;
}

std::vector<int> lowest(const RunRecord& record, const std::vector<const SubjectVerdict*>& subjects,
                        std::string_view metric, const SummaryOptions& options) {
  const auto* best = *std::ranges::min_element(
      subjects, {}, [&](const SubjectVerdict* subject) { return value_of(*subject, metric); });
  std::vector<int> found = {best->subject};
  const MetricKind& kind = *metric_kind(metric);
  const auto side = [&](int subject) { return ratio_side(trials_of(record, subject), kind, options); };
  const RatioSide of_best = side(best->subject);
  for (const SubjectVerdict* subject : subjects) {
    if (subject == best) continue;
    const Estimate gain = ratio_of_sides(kind, side(subject->subject), of_best, options.coverage, pairing_of(record));
    if (!gain.interval || gain.interval->low <= 1) found.push_back(subject->subject);
  }
  return found;
}

}  // namespace

std::vector<GroupAnswer> answer_groups(const RunRecord& record, const Verdict& verdict) {
  if (record.plan.question) return {};
  std::map<int, std::vector<const SubjectVerdict*>> groups;
  for (const SubjectVerdict& subject : verdict.subjects) {
    if (subject.load || !has_value(subject, "latency_p50") || !does_the_same_work(subject)) continue;
    groups[record.plan.subjects[static_cast<std::size_t>(subject.subject)].group].push_back(&subject);
  }
  std::erase_if(groups, [](const auto& group) { return group.second.size() < least_subjects; });
  if (groups.empty()) return {};
  SummaryOptions options = summary_options(record);
  options.coverage = coverage_in_family(record, groups.size());
  std::vector<GroupAnswer> answers;
  for (const auto& [group, subjects] : groups) {
    GroupAnswer answer;
    answer.first = static_cast<int>(first_of_group(record.plan, static_cast<std::size_t>(subjects.front()->subject)));
    answer.fastest = lowest(record, subjects, "latency_p50", options);
    const bool on_host = std::ranges::all_of(subjects, [](const SubjectVerdict* subject) {
      return has_value(*subject, "memory_peak") && !has_value(*subject, "device_memory_peak");
    });
    if (on_host) answer.least_memory = lowest(record, subjects, "memory_peak", options);
    answers.push_back(std::move(answer));
  }
  return answers;
}

}  // namespace infermeter
