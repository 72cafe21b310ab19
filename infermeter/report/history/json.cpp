#include "infermeter/report/history/parts.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "infermeter/stats/summary/metrics.hpp"
#include "infermeter/text/utc_time.hpp"

namespace infermeter {
namespace {

std::int64_t number_of(std::size_t count) { return static_cast<std::int64_t>(count); }

std::optional<std::string> known(const std::string& text) { return text.empty() ? std::nullopt : std::optional(text); }

void write_run(JsonWriter& json, const Figure& figure) {
  json.begin_object();
  json.member("run", figure.run);
  json.member("at", utc_time(figure.created_at));
  json.member("label", figure.label);
  json.member("value", figure.value);
  json.member("low", figure.interval ? std::optional(figure.interval->low) : std::nullopt);
  json.member("high", figure.interval ? std::optional(figure.interval->high) : std::nullopt);
  json.member("processes", figure.processes);
  json.member("runtime_version", known(figure.runtime_version));
  json.member("model_sha256", known(figure.model_sha256));
  json.member("git_commit", known(figure.git_commit));
  json.member("infermeter_version", known(figure.infermeter_version));
  json.end_object();
}

void write_level(JsonWriter& json, const History& history, const Level& level) {
  json.begin_object();
  json.member("first_run", history.figures.at(level.begin).run);
  json.member("last_run", history.figures.at(level.end - 1).run);
  json.member("runs", number_of(level.end - level.begin));
  json.member("value", std::exp(level.mean_log));
  json.member("sd_log", level.sd);
  json.end_object();
}

void write_context(JsonWriter& json, const ContextChange& change) {
  json.begin_object();
  json.member("what", to_string(change.what));
  json.member("before", change.before);
  json.member("after", change.after);
  json.member("runs_off", change.runs_off);
  json.end_object();
}

void write_history_change(JsonWriter& json, const History& history, const HistoryChange& change) {
  const Figure& first = history.figures.at(change.point.index);
  json.begin_object();
  json.member("run", first.run);
  json.member("at", utc_time(first.created_at));
  json.member("index", number_of(change.point.index));
  json.member("change", change.point.change);
  json.member("worse", change.worse);
  json.member("by_scan", change.point.by_scan);
  json.member("by_e_divisive", change.point.by_e_divisive);
  json.member("statistic", change.point.statistic);
  json.member("p", change.point.p);
  json.key("context");
  json.begin_array();
  for (const auto& context : change.context) write_context(json, context);
  json.end_array();
  json.end_object();
}

void write_alarm(JsonWriter& json, const HistoryEntry& entry) {
  json.key("alarm");
  const HistoryChange* alarm = entry.history.alarm();
  if (alarm == nullptr) return json.value(nullptr);
  const Confirmation confirmation = entry.confirmation.value_or(Confirmation{});
  json.begin_object();
  json.member("run", entry.history.figures.at(alarm->point.index).run);
  json.member("confirm", known(confirmation.command));
  json.member("why_not", known(confirmation.why_not));
  json.end_object();
}

void write_summary(JsonWriter& json, const History& history) {
  const bool empty = history.figures.empty();
  json.member("series", history.series);
  json.member("machine", history.machine);
  json.member("runs", number_of(history.figures.size()));
  json.member("first_at", empty ? std::nullopt : known(utc_time(history.figures.front().created_at)));
  json.member("last_at", empty ? std::nullopt : known(utc_time(history.figures.back().created_at)));
  json.member("last_value", empty ? std::nullopt : std::optional(history.figures.back().value));
  json.member("left_out", history.left_out);
  json.member("disturbed", history.disturbed);
  json.member("too_few", history.too_few);
}

void write_entry(JsonWriter& json, const HistoryEntry& entry, bool with_runs) {
  const History& history = entry.history;
  json.begin_object();
  write_summary(json, history);
  json.key("levels");
  json.begin_array();
  for (const Level& level : history.levels) write_level(json, history, level);
  json.end_array();
  json.key("changes");
  json.begin_array();
  for (const HistoryChange& change : history.changes) write_history_change(json, history, change);
  json.end_array();
  write_alarm(json, entry);
  json.key("values");
  if (!with_runs) {
    json.value(nullptr);
  } else {
    json.begin_array();
    for (const Figure& figure : history.figures) write_run(json, figure);
    json.end_array();
  }
  json.end_object();
}

void write_machine(JsonWriter& json, const MachineName& machine) {
  json.begin_object();
  json.member("machine", machine.machine);
  json.member("hostname", known(machine.hostname));
  json.member("processor", known(machine.processor));
  json.end_object();
}

}  // namespace

void write_history(JsonWriter& json, const HistoryReport& report, bool with_runs) {
  const MetricKind* kind = metric_kind(report.metric);
  json.begin_object();
  json.member("schema", "infermeter.history/1");
  json.member("metric", report.metric);
  json.member("unit", kind == nullptr ? "" : kind->unit);
  json.member("lower_is_better", kind == nullptr || kind->lower_is_better);
  json.member("this_machine", report.this_machine);
  json.key("machines");
  json.begin_array();
  for (const MachineName& machine : report.machines) write_machine(json, machine);
  json.end_array();
  json.member("hidden_runs", report.hidden_runs);
  write_answers(json, worded_answers(report));
  write_checks(json, history_checks(report));
  json.key("series");
  json.begin_array();
  for (const HistoryEntry& entry : report.entries) write_entry(json, entry, with_runs);
  json.end_array();
  json.end_object();
}

std::string render_history_json(const HistoryReport& report, bool with_runs) {
  JsonWriter json;
  write_history(json, report, with_runs);
  return json.take() + '\n';
}

}  // namespace infermeter
