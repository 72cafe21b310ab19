#include "infermeter/verdict/question.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>
#include <utility>
#include <vector>

#include "infermeter/samples/load/load_counters.hpp"
#include "infermeter/stats/load/requests_needed.hpp"
#include "infermeter/stats/summary/metrics.hpp"
#include "infermeter/text/nearest.hpp"

namespace infermeter {
namespace {

constexpr auto short_names = std::to_array<std::pair<std::string_view, std::string_view>>({
    {"p50", "latency_p50"},
    {"p90", "latency_p90"},
    {"p95", "latency_p95"},
    {"p99", "latency_p99"},
    {"mean", "latency_mean"},
    {"throughput", "throughput"},
    {"peak_memory", "memory_peak"},
    {"load_time", "load_time"},
});

}  // namespace

Design design_of(const Plan& plan) {
  const Question& question = *plan.question;
  return {.alpha = question.alpha,
          .margin = std::log1p(question.margin),
          .looks = question.all_pairs ? std::vector{plan.processes} : usual_looks(plan.processes),
          .until_resolved = question.until_resolved};
}

Result<std::string> metric_from_string(std::string_view name) {
  std::vector<std::string> known;
  for (const auto& [word, metric] : short_names) {
    if (name == word || name == metric) return std::string(metric);
    known.emplace_back(word);
  }
  for (const LoadFigure& figure : load_figures()) known.emplace_back(figure.name);
  if (const MetricKind* kind = metric_kind(name); kind != nullptr && kind->per_process()) return std::string(name);
  return usage_error(
      fmt::format("there is no metric '{}'{}: p50, p90, p95, p99, mean, throughput, peak_memory, "
                  "load_time, or a figure of a load (docs/load.md)",
                  name, did_you_mean(name, known)));
}

Result<Done> check_has_metric(std::string_view metric, const Plan& plan) {
  const MetricKind* kind = metric_kind(metric);
  if (kind == nullptr || kind->source != MetricKind::Source::load_counter) return Done{};
  if (load_figure(metric)->of_generation) return Done{};
  constexpr std::string_view found_rate = "max_rate";
  const auto lacks = [](const Subject& subject, std::string_view key) {
    return std::ranges::find(subject.load, key, &Pairs::value_type::first) == subject.load.end();
  };
  for (const Subject& subject : plan.subjects) {
    if (subject.load.empty()) {
      return usage_error(fmt::format(
          "{} is a figure of a load, and '{}' is measured without one: --load rate=40, --load concurrency=4 "
          "(docs/load.md)",
          metric, subject.label));
    }
    if (metric == found_rate && lacks(subject, "find_rate")) {
      return usage_error(
          fmt::format("{} is looked for only where '{}' has an objective for it: "
                      "--load find_rate='response_p99 <= 50ms'",
                      metric, subject.label));
    }
    if (metric.starts_with("goodput") && lacks(subject, "goodput")) {
      return usage_error(
          fmt::format("{} counts requests that keep bounds, and '{}' has none: --load goodput='ttft<=200ms'", metric,
                      subject.label));
    }
  }
  return Done{};
}

Result<std::string> metric_of_pairs(std::string_view name, const Plan& plan) {
  INFERMETER_TRY(std::string metric, metric_from_string(name));
  INFERMETER_TRY_DONE(check_has_metric(metric, plan));
  const MetricKind& kind = *metric_kind(metric);
  const auto& iterations = plan.stopping.iterations;
  if (plan.automatic.iterations || !iterations || *iterations >= kind.least_iterations()) return metric;
  return usage_error(
      fmt::format("a process needs {0} iterations for a {1} of its own, by which pairs are compared, and {2} are asked "
                  "for: --iterations {0}, or leave it out",
                  kind.least_iterations(), name, *iterations));
}

Result<std::string> metric_of_question(const Plan& plan) {
  INFERMETER_TRY(std::string metric, metric_of_pairs(plan.question->metric, plan));
  const LoadFigure* figure = load_figure(metric);
  const auto& requests = plan.stopping.iterations;
  const bool is_loaded =
      std::ranges::any_of(plan.subjects, [](const Subject& subject) { return !subject.load.empty(); });
  if (!is_loaded || figure == nullptr || figure->percentile <= 0.5 || plan.automatic.iterations || !requests)
    return metric;
  const auto needed = requests_needed(figure->percentile);
  if (*requests >= needed) return metric;
  return usage_error(
      fmt::format("{} needs {} requests in each process, and {} are asked for: --requests {}, or a longer --duration",
                  metric, needed, *requests, needed));
}

}  // namespace infermeter
