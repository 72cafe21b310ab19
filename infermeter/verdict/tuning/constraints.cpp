#include "infermeter/verdict/tuning/constraints.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "infermeter/stats/summary/metrics.hpp"
#include "infermeter/text/nearest.hpp"
#include "infermeter/verdict/gate/parse_expectation.hpp"
#include "infermeter/verdict/question.hpp"

namespace infermeter {
namespace {

using Kind = Expectation::Kind;

constexpr std::string_view where_constraints_stand = "--subject-to";

constexpr std::array bounding_kinds = {Kind::metric,        Kind::model_size,      Kind::parameters,
                                       Kind::output_figure, Kind::accuracy_figure, Kind::accuracy_drop};

// "--subject-to:0:0: …", as in files.
std::string without_place(std::string message) {
  const std::string start = std::string(where_constraints_stand) + ":";
  if (!message.starts_with(start)) return message;
  const std::size_t text = message.find(": ", start.size());
  return text == std::string::npos ? message : message.substr(text + 2);
}

Result<Expectation> bound_from(const std::string& text) {
  const ExpectationDraft draft{
      .that = {.text = text, .file = std::string(where_constraints_stand), .line = 0, .column = 0, .verbatim = false}};
  auto bound = parse_expectation(draft);
  const auto refuse = [&](const std::string& why) {
    return usage_error(fmt::format("{} '{}': {}", where_constraints_stand, text, why));
  };
  if (!bound) return refuse(without_place(bound.error().message));
  if (std::ranges::find(bounding_kinds, bound->kind) == bounding_kinds.end()) {
    return refuse(
        "a constraint bounds a figure of one setting: latency_p99 <= 50ms, throughput >= 100, peak_memory < 1GB, "
        "model_size < 30MB, accuracy_drop <= 0.01");
  }
  const MetricKind* kind = metric_kind(bound->name);
  if (bound->kind == Kind::metric && (kind == nullptr || !kind->per_process())) {
    return refuse(fmt::format("{} has no interval that it could be judged on", bound->name));
  }
  return bound;
}

}  // namespace

Result<std::vector<Expectation>> bounds_of(const Tuning& tuning) {
  std::vector<Expectation> bounds;
  for (const std::string& text : tuning.constraints) {
    INFERMETER_TRY(Expectation bound, bound_from(text));
    bounds.push_back(std::move(bound));
  }
  return bounds;
}

Result<std::string> objective_from_string(std::string_view name) {
  if (name == "model_size") return std::string(name);
  if (name == "memory") return std::string("memory_peak");
  auto metric = metric_from_string(name);
  if (metric) return metric;
  const std::vector<std::string> known = {"latency_p50", "latency_p90", "latency_p95", "latency_p99", "latency_mean",
                                          "throughput",  "memory_peak", "load_time",   "model_size"};
  return usage_error(fmt::format(
      "there is no objective '{}'{}: latency_p50, latency_p90, latency_p95, latency_p99, latency_mean, throughput, "
      "memory_peak, load_time, model_size, or a figure of a load (docs/load.md)",
      name.substr(0, 60), did_you_mean(name, known)));
}

Result<Done> check_objective(const Plan& plan) {
  INFERMETER_TRY(const std::vector<Expectation> bounds, bounds_of(*plan.tuning));
  for (const Expectation& bound : bounds) {
    if (is_measured(bound)) INFERMETER_TRY_DONE(check_has_metric(bound.name, plan));
  }
  INFERMETER_TRY_DONE(check_labels(bounds, plan));
  if (plan.tuning->objective == "model_size") return Done{};
  constexpr std::array<std::string_view, 5> best_at_zero = {"failed", "failed_share", "lag_p50", "lag_p99", "late_p99"};
  if (std::ranges::find(best_at_zero, plan.tuning->objective) != best_at_zero.end()) {
    return usage_error(fmt::format(
        "--objective {0}: it is 0 where all is well, and settings are compared by ratios; give it as a bound "
        "(--subject-to '{0} <= …')",
        plan.tuning->objective));
  }
  INFERMETER_TRY_DONE(metric_of_pairs(plan.tuning->objective, plan));
  return Done{};
}

bool is_measured(const Expectation& bound) { return bound.kind == Kind::metric; }

bool judges_outputs(const std::vector<Expectation>& bounds) {
  return std::ranges::none_of(bounds, [](const Expectation& bound) {
    return bound.kind == Kind::output_figure || bound.kind == Kind::accuracy_figure ||
           bound.kind == Kind::accuracy_drop;
  });
}

bool outputs_may_differ(const Plan& plan) {
  if (!plan.tuning) return false;
  const auto bounds = bounds_of(*plan.tuning);
  return bounds.ok() && !judges_outputs(*bounds);
}

}  // namespace infermeter
