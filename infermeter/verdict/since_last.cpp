#include "infermeter/verdict/since_last.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "infermeter/stats/summary/metrics.hpp"
#include "infermeter/stats/summary/ratio.hpp"
#include "infermeter/verdict/across_runs.hpp"
#include "infermeter/verdict/rounds/blocks.hpp"
#include "infermeter/verdict/summary_options.hpp"
#include "infermeter/verdict/verdict.hpp"

namespace infermeter {
namespace {

constexpr std::string_view compared_with_last = "latency_p50";

RatioSide side_in(const RunRecord& run, int subject) {
  return ratio_side(trials_of(run, subject), *metric_kind(compared_with_last), summary_options(run));
}

ChangeSinceLast change_of(const RunRecord& run, int subject, const RunRecord& earlier, int before) {
  ChangeSinceLast found{.subject = subject, .change = {}, .change_interval = {}};
  const Estimate ratio = ratio_of_sides(*metric_kind(compared_with_last), side_in(earlier, before),
                                        side_in(run, subject), summary_options(run).coverage, Pairing::none);
  if (!ratio.value) return found;
  found.change = 1 / *ratio.value - 1;
  if (ratio.interval && ratio.interval->low > 0) {
    found.change_interval =
        Interval{1 / ratio.interval->high - 1, 1 / ratio.interval->low - 1, ratio.interval->confidence};
  }
  found.direction = direction_of(ratio, run.plan.precision);
  return found;
}

void add_once(std::vector<std::string>& all, std::string one) {
  if (std::ranges::find(all, one) == all.end()) all.push_back(std::move(one));
}

// Of the two environments; what subjects executed is reported by compare_conditions.
void add_environment(std::vector<std::string>& all, const Environment& before, const Environment& now) {
  const auto differs = [&](std::string_view what, const std::string& a, const std::string& b) {
    if (a != b)
      add_once(all, fmt::format("{}: {} then, {} now", what, a.empty() ? "not known" : a, b.empty() ? "not known" : b));
  };
  differs("host", before.hostname, now.hostname);
  differs("processor", before.processor, now.processor);
  differs("usable processors", std::to_string(before.processors_usable), std::to_string(now.processors_usable));
  differs("kernel", before.kernel, now.kernel);
  differs("distribution", before.distribution, now.distribution);
  differs("frequency governor", before.governor.value_or(""), now.governor.value_or(""));
  differs("virtualization", before.virtualization, now.virtualization);
  differs("infermeter", before.infermeter_version, now.infermeter_version);
  differs("build of infermeter", before.build, now.build);
  differs("commit of the working folder", before.git_commit.substr(0, 12), now.git_commit.substr(0, 12));
}

}  // namespace

bool has_same_subjects(const RunRecord& run, const RunRecord& earlier) {
  if (run.plan.subjects.size() != earlier.plan.subjects.size()) return false;
  return std::ranges::equal(run.plan.subjects, earlier.plan.subjects, {}, &Subject::label, &Subject::label);
}

SinceLast since_last(const RunRecord& run, const RunRecord& earlier) {
  SinceLast found{.run = earlier.id, .at = earlier.created_at, .subjects = {}, .differences = {}};
  add_environment(found.differences, earlier.environment, run.environment);
  for (int i = 0; i < static_cast<int>(run.plan.subjects.size()); ++i) {
    const auto before = same_subject(run, i, earlier);
    if (!before) continue;
    found.subjects.push_back(change_of(run, i, earlier, *before));
    const Conditions conditions = compare_conditions(run, i, earlier, *before, "the last run");
    for (const auto* sentences : {&conditions.obstacles, &conditions.changes})
      for (const std::string& sentence : *sentences) add_once(found.differences, sentence);
  }
  return found;
}

}  // namespace infermeter
