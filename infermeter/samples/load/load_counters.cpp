#include "infermeter/samples/load/load_counters.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <string>

namespace infermeter {
namespace {

constexpr auto figures_of_load = std::to_array<LoadFigure>({
    {"max_rate", "1/s", false},
    {"offered_rate", "1/s", false},
    {"achieved_rate", "1/s", false},
    {"samples_rate", "1/s", false},
    {"response_mean", "s"},
    {"response_p50", "s", true, 0.5},
    {"response_p90", "s", true, 0.9},
    {"response_p95", "s", true, 0.95},
    {"response_p99", "s", true, 0.99},
    {"response_p99_9", "s", true, 0.999},
    {"response_max", "s"},
    {"service_p50", "s", true, 0.5},
    {"service_p99", "s", true, 0.99},
    {"lag_p50", "s", true, 0.5},
    {"lag_p99", "s", true, 0.99},
    {"late_p99", "s", true, 0.99},
    {"in_flight_mean", "1"},
    {"in_flight_max", "1"},
    {"failed", "1"},
    {"failed_share", "share"},
    {"goodput", "1/s", false},
    {"goodput_share", "share", false},
    {"ttft_p50", "s", true, 0.5, true},
    {"ttft_p90", "s", true, 0.9, true},
    {"ttft_p99", "s", true, 0.99, true},
    {"itl_p50", "s", true, 0, true},
    {"itl_p99", "s", true, 0, true},
    {"tpot_p50", "s", true, 0.5, true},
    {"tpot_p90", "s", true, 0.9, true},
    {"tpot_p99", "s", true, 0.99, true},
    {"output_tokens_rate", "1/s", false, 0, true},
    {"output_tokens_mean", "1", true, 0, true},
    {"prompt_tokens_mean", "1", true, 0, true},
});

std::optional<double> per_s(std::uint64_t count, double duration_s) {
  if (count == 0 || !(duration_s > 0)) return std::nullopt;
  return static_cast<double>(count) / duration_s;
}

// Little's law, which holds whatever the arrivals: how many are there is the rate at which they leave, times how long
// each stays.
std::optional<double> mean_in_flight(const LoadRecord& record) {
  const auto rate = per_s(record.completed, record.duration_s), stay_s = record.response.mean_s();
  if (!rate || !stay_s) return std::nullopt;
  return *rate * *stay_s;
}

std::optional<double> most_in_flight(const LoadRecord& record) {
  if (record.timeline.empty()) return std::nullopt;
  return static_cast<double>(std::ranges::max(record.timeline, {}, &LoadBin::in_flight).in_flight);
}

std::optional<double> good_requests(std::string_view name, const LoadRecord& record) {
  if (!record.good) return std::nullopt;
  const double of = name == "goodput" ? record.duration_s : static_cast<double>(record.due);
  return of > 0 ? std::optional(static_cast<double>(*record.good) / of) : std::nullopt;
}

const HistogramRecord& times_of(std::string_view percentile, const LoadRecord& record) {
  if (percentile.starts_with("service_")) return record.service;
  if (percentile.starts_with("lag_")) return record.lag;
  return percentile.starts_with("late_") ? record.late : record.response;
}

std::optional<double> figure_in(const LoadFigure& figure, const LoadRecord& record) {
  const std::string_view name = figure.name;
  if (figure.percentile > 0) return times_of(name, record).quantile_s(figure.percentile);
  const std::uint64_t ended = record.completed + record.failed;
  if (name == "max_rate") return record.max_rate > 0 ? std::optional(record.max_rate) : std::nullopt;
  if (name == "offered_rate") return record.open_loop ? per_s(record.due, record.arrivals_s) : std::nullopt;
  if (name == "achieved_rate") return per_s(record.completed, record.duration_s);
  if (name == "samples_rate") return record.samples > 1 ? inferences_per_s(record) : std::nullopt;
  if (name == "response_mean") return record.response.mean_s();
  if (name == "response_max") return record.response.max_s();
  if (name == "in_flight_mean") return mean_in_flight(record);
  if (name == "in_flight_max") return most_in_flight(record);
  if (name == "goodput" || name == "goodput_share") return good_requests(name, record);
  if (name == "failed") return static_cast<double>(record.failed);
  if (name == "failed_share" && ended > 0) return static_cast<double>(record.failed) / static_cast<double>(ended);
  return std::nullopt;
}

}  // namespace

std::span<const LoadFigure> load_figures() { return figures_of_load; }

const LoadFigure* load_figure(std::string_view name) {
  const auto* found = std::ranges::find(figures_of_load, name, &LoadFigure::name);
  return found == figures_of_load.end() ? nullptr : found;
}

std::vector<Counter> load_counters(const LoadRecord& record) {
  std::vector<Counter> counters;
  for (const LoadFigure& figure : figures_of_load) {
    if (figure.of_generation) continue;
    if (const auto value = figure_in(figure, record)) {
      counters.push_back({std::string(figure.name), std::string(figure.unit), *value});
    }
  }
  return counters;
}

std::optional<double> inferences_per_s(const LoadRecord& record) {
  const auto requests = per_s(record.completed, record.duration_s);
  if (!requests) return std::nullopt;
  return *requests * static_cast<double>(record.samples);
}

}  // namespace infermeter
