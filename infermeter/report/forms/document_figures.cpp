// What pictures need beside the run's own report: made from every iteration, so that no picture computes a figure.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <map>

#include "infermeter/report/forms/document_part.hpp"
#include "infermeter/report/run/json_parts.hpp"
#include "infermeter/report/run/row.hpp"
#include "infermeter/stats/load/time_bins.hpp"
#include "infermeter/stats/load/token_course.hpp"
#include "infermeter/stats/summary/distribution.hpp"
#include "infermeter/stats/summary/ratio.hpp"
#include "infermeter/verdict/comparison.hpp"
#include "infermeter/verdict/judge.hpp"
#include "infermeter/verdict/rounds/blocks.hpp"
#include "infermeter/verdict/summary_options.hpp"

namespace infermeter {
namespace {

// Of larger groups every subject is compared with the first only: the pairs would be most of the document.
constexpr std::size_t largest_paired_group = 40;
constexpr std::string_view compared_metric = "latency_p50";

struct SubjectFigures {
  TimeDistribution distribution;
  RatioSide side;
  std::vector<GenerationRecord> generation;  // of its processes
};

void write_levels(JsonWriter& json, const char* key, std::span<const double> levels) {
  json.numbers(key, std::vector<double>(levels.begin(), levels.end()));
}

void write_fences(JsonWriter& json, const Fences& fences) {
  json.key("fences_s");
  json.begin_object();
  json.member("severe_low", fences.severe_low);
  json.member("mild_low", fences.mild_low);
  json.member("mild_high", fences.mild_high);
  json.member("severe_high", fences.severe_high);
  json.end_object();
}

// A point of a chart needs no more than seven digits; with all of them, half of a page would be these.
std::vector<double> for_charts(std::vector<double> values) {
  for (double& value : values) value = std::strtod(fmt::format("{:.7g}", value).c_str(), nullptr);
  return values;
}

void write_distribution(JsonWriter& json, std::size_t subject, const TimeDistribution& distribution) {
  json.begin_object();
  json.member("subject", std::uint64_t{subject});
  json.member("n", distribution.n);
  json.numbers("quantiles_s", for_charts(distribution.quantiles_s));
  json.key("processes");
  json.begin_array();
  for (const ProcessDistribution& process : distribution.processes) {
    json.begin_object();
    json.member("process", process.process);
    json.member("position", process.position);
    json.member("n", process.n);
    json.numbers("quantiles_s", for_charts(process.quantiles_s));
    write_fences(json, process.fences_s);
    json.end_object();
  }
  json.end_array();
  json.end_object();
}

void write_ratio(JsonWriter& json, std::size_t baseline, std::size_t subject, const Estimate& ratio) {
  json.begin_object();
  json.member("baseline", std::uint64_t{baseline});
  json.member("subject", std::uint64_t{subject});
  json.member("value", ratio.value);
  write_interval(json, "interval", ratio.interval);
  json.end_object();
}

std::vector<SubjectFigures> figures_of(const RunRecord& record) {
  const SummaryOptions options = summary_options(record);
  const MetricKind& kind = *metric_kind(compared_metric);
  std::vector<SubjectFigures> figures;
  for (std::size_t i = 0; i < record.plan.subjects.size(); ++i) {
    const std::vector<Samples> trials = trials_of(record, static_cast<int>(i));
    const SubjectTimes times = subject_times(trials, options);
    figures.push_back({distribution_of(times), ratio_side(kind, times, options.coverage), {}});
    for (const Samples& trial : trials) {
      if (trial.generation) figures.back().generation.push_back(*trial.generation);
    }
  }
  return figures;
}

void write_times_of_generation(JsonWriter& json, std::string_view name, HistogramRecord GenerationRecord::* times,
                               const std::vector<SubjectFigures>& figures) {
  std::vector<std::vector<HistogramRecord>> groups;
  for (const SubjectFigures& subject : figures) {
    auto& group = groups.emplace_back();
    for (const GenerationRecord& record : subject.generation) group.push_back(record.*times);
  }
  const TimeBins bins = time_bins(groups);
  if (bins.edges_s.empty()) return;
  json.begin_object();
  json.member("time", name);
  json.member("log", bins.is_log);
  json.numbers("edges_s", bins.edges_s);
  json.key("subjects");
  json.begin_array();
  for (std::size_t i = 0; i < groups.size(); ++i) {
    if (bins.counts[i] == 0) continue;
    json.begin_object();
    json.member("subject", std::uint64_t{i});
    json.member("n", bins.counts[i]);
    json.numbers("shares", bins.shares[i]);
    json.end_object();
  }
  json.end_array();
  json.end_object();
}

void write_course_time(JsonWriter& json, const char* name, const Estimate& estimate) {
  json.key(name);
  json.begin_object();
  json.member("value", estimate.value);
  write_interval(json, "interval", estimate.interval);
  json.member("processes", estimate.processes);
  json.end_object();
}

void write_course(JsonWriter& json, std::size_t subject, const TokenCourse& course) {
  json.begin_object();
  json.member("subject", std::uint64_t{subject});
  write_course_time(json, "growth_s", course.growth_s);
  json.key("points");
  json.begin_array();
  for (const CoursePoint& point : course.points) {
    json.begin_object();
    json.member("first", point.first);
    json.member("last", point.last);
    json.member("tokens_mean", point.tokens_mean);
    json.member("n", point.count);
    write_course_time(json, "p50_s", point.p50_s);
    write_course_time(json, "p90_s", point.p90_s);
    json.end_object();
  }
  json.end_array();
  json.end_object();
}

// Nothing of a time that has one point at most of each subject, as of prompts of one length.
void write_courses(JsonWriter& json, std::string_view name, std::vector<TimesOfTokens> GenerationRecord::* times,
                   const std::vector<SubjectFigures>& figures, const Coverage& coverage) {
  std::vector<TokenCourse> courses;
  for (const SubjectFigures& subject : figures) {
    std::vector<std::vector<TimesOfTokens>> processes;
    for (const GenerationRecord& record : subject.generation) processes.push_back(record.*times);
    courses.push_back(token_course(processes, coverage));
  }
  if (std::ranges::all_of(courses, [](const TokenCourse& course) { return course.points.size() < 2; })) return;
  json.begin_object();
  json.member("time", name);
  json.key("subjects");
  json.begin_array();
  for (std::size_t i = 0; i < courses.size(); ++i) {
    if (!courses[i].points.empty()) write_course(json, i, courses[i]);
  }
  json.end_array();
  json.end_object();
}

std::map<int, std::vector<std::size_t>> groups_of(const Plan& plan) {
  std::map<int, std::vector<std::size_t>> groups;
  for (std::size_t i = 0; i < plan.subjects.size(); ++i) groups[plan.subjects[i].group].push_back(i);
  return groups;
}

void write_figure_ratios(JsonWriter& json, const RunRecord& record, const std::vector<SubjectFigures>& figures,
                         const Verdict& verdict, const std::vector<std::size_t>& group, const Coverage& coverage) {
  const MetricKind& kind = *metric_kind(compared_metric);
  const auto& comparison = verdict.comparison;
  const std::size_t baselines = group.size() > largest_paired_group ? 1 : group.size();
  for (std::size_t b = 0; b < baselines; ++b) {
    for (std::size_t s = b + 1; s < group.size(); ++s) {
      const PairedComparison* const pairs =
          comparison ? paired(*comparison, static_cast<int>(group[b]), static_cast<int>(group[s]), compared_metric)
                     : nullptr;
      const Ratio* const judged = ratio_of(verdict.subjects.at(group[s]), compared_metric);
      Estimate ratio;
      if (pairs != nullptr && pairs->estimate) {
        ratio = ratio_of(*pairs);
      } else if (b == 0 && judged != nullptr) {
        ratio = judged->estimate;
      } else {
        ratio = ratio_of_sides(kind, figures[group[b]].side, figures[group[s]].side, coverage, pairing_of(record));
      }
      write_ratio(json, group[b], group[s], ratio);
      write_ratio(json, group[s], group[b], reversed(ratio));
    }
  }
}

}  // namespace

void write_figures(JsonWriter& json, const RunRecord& record, const Verdict& verdict) {
  const std::vector<SubjectFigures> figures = figures_of(record);
  const Coverage coverage = summary_options(record).coverage;
  json.begin_object();
  write_levels(json, "quantile_levels", pooled_levels());
  write_levels(json, "process_levels", process_levels());
  json.numbers("quantile_needs", pooled_needs());
  json.numbers("process_needs", process_needs());
  json.key("distributions");
  json.begin_array();
  for (std::size_t i = 0; i < figures.size(); ++i) {
    if (figures[i].distribution.n > 0) write_distribution(json, i, figures[i].distribution);
  }
  json.end_array();
  json.key("ratios");
  json.begin_array();
  for (const auto& [name, group] : groups_of(record.plan))
    write_figure_ratios(json, record, figures, verdict, group, coverage);
  json.end_array();
  write_fronts(json, record, verdict);
  json.key("generation");
  json.begin_array();
  write_times_of_generation(json, "ttft", &GenerationRecord::ttft, figures);
  write_times_of_generation(json, "itl", &GenerationRecord::itl, figures);
  write_times_of_generation(json, "tpot", &GenerationRecord::tpot, figures);
  json.end_array();
  json.key("courses");
  json.begin_array();
  write_courses(json, "itl", &GenerationRecord::itl_by_position, figures, coverage);
  write_courses(json, "ttft", &GenerationRecord::ttft_by_prompt, figures, coverage);
  json.end_array();
  json.end_object();
}

}  // namespace infermeter
