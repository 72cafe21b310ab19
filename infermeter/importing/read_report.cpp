#include "infermeter/importing/read_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <new>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "infermeter/plan/plan_file.hpp"
#include "infermeter/run/begin.hpp"
#include "infermeter/samples/samples_json.hpp"
#include "infermeter/store/record_json.hpp"
#include "infermeter/text/quoted.hpp"
#include "infermeter/text/utc_time.hpp"

namespace infermeter {
namespace {

using Json = nlohmann::json;

constexpr std::string_view kSchema = "infermeter.run/1";
constexpr int kDeepest = 64;  // what is nested deeper is left out: copying and writing it take a stack as deep

std::string dumped(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

// {"a": "b"} -> [["a", "b"]], as plans and trials keep pairs.
void as_pairs(Json& parent, const char* key) {
  Json pairs = Json::array();
  const Json object = parent.value(key, Json::object());
  for (const auto& [name, value] : object.items()) pairs.push_back({name, value});
  parent[key] = std::move(pairs);
}

Result<Plan> plan_of(Json plan) {
  for (Json& subject : plan.at("subjects")) {
    for (const char* key : {"dimensions", "batch_axes", "options", "load", "environment"}) as_pairs(subject, key);
  }
  Json data = plan.at("data");
  as_pairs(data, "distributions");
  plan["data"] = data.at("source");
  plan["distributions"] = data.at("distributions");
  plan["data_limit"] = data.at("limit");
  plan["data_seed"] = data.at("seed");
  plan["labels"] = data.at("labels");
  for (const char* asked : {"question", "tuning"}) plan.erase(asked);  // how long was measured is in the trials
  return plan_from_json(dumped(plan));
}

// "2026-11-21T11:42:00.123Z"
double seconds_of(const std::string& utc) {
  int year = 0;
  unsigned month = 0, day = 0, hours = 0, minutes = 0;
  double seconds = 0;
  if (std::sscanf(utc.c_str(), "%d-%u-%uT%u:%u:%lfZ", &year, &month, &day, &hours, &minutes, &seconds) != 6) return 0;
  const std::chrono::sys_days date = std::chrono::year(year) / std::chrono::month(month) / std::chrono::day(day);
  return static_cast<double>(date.time_since_epoch().count()) * 86400 + hours * 3600 + minutes * 60 + seconds;
}

std::uint64_t digest_of(const Json& text) {
  const auto digits = text.is_string() ? text.get<std::string>() : dumped(text);
  std::uint64_t number = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), number, 16);
  return number;
}

Result<std::vector<double>> times_in(const Json& times, const char* key) {
  const Json& list = times.at(key);
  if (!list.is_array()) return usage_error(fmt::format("{} is not a list of numbers", key));
  std::vector<double> values;
  values.reserve(list.size());
  for (const Json& value : list) {
    // Not NaN, which JSON cannot hold: a number that is beyond all doubles.
    const bool is_time = value.is_number() && std::isfinite(value.get<double>()) && value.get<double>() >= 0;
    if (!is_time) {
      return usage_error(fmt::format("{}[{}] is {}, and a time is a number of at least 0", key, values.size(),
                                     printable(dumped(value), 60)));
    }
    values.push_back(value.get<double>());
  }
  return values;
}

Result<Done> add_times(const Json& times, std::vector<double>& begin_s, std::vector<double>& end_s) {
  INFERMETER_TRY(begin_s, times_in(times, "begin_s"));
  INFERMETER_TRY(end_s, times_in(times, "latency_s"));
  if (begin_s.size() != end_s.size()) return usage_error("it has not as many begins as latencies");
  if (!std::ranges::is_sorted(begin_s)) return usage_error("begin_s goes backwards");
  for (std::size_t i = 0; i < begin_s.size(); ++i) end_s[i] += begin_s[i];
  return Done{};
}

// What no trial can have had, though its kind is right.
Result<Done> check_figures(const Samples& samples) {
  const std::pair<const char*, std::optional<double>> durations[] = {
      {"wall_s", samples.wall_s},           {"open_s", samples.open_s},
      {"load_s", samples.load_s},           {"compile_s", samples.compile_s},
      {"ready_s", samples.ready_s},         {"first_inference_s", samples.first_inference_s},
      {"energy_j", samples.energy.energy_j}};
  for (const auto& [key, value] : durations)
    if (value && *value < 0) return usage_error(fmt::format("{} is {}, and cannot be below 0", key, *value));
  if (samples.items_per_iteration >= 1) return Done{};
  return usage_error(fmt::format("items_per_iteration is {}, and is at least 1", samples.items_per_iteration));
}

// Members of the report as the trial's own record calls them.
Result<Samples> trial_of(const Json& reported) {
  Json trial = reported;
  Json memory = Json::object();
  for (const auto& [key, value] : reported.at("memory").items()) {
    constexpr std::string_view ending = "_bytes";
    memory[key.ends_with(ending) ? key.substr(0, key.size() - ending.size()) : key] = value;
  }
  trial["memory"] = std::move(memory);
  as_pairs(trial, "executed");
  trial["input_digest"] = digest_of(reported.at("input_digest"));
  trial["output_digest"] = digest_of(reported.at("output_digest"));
  if (reported.at("signal").is_null()) trial.erase("signal");
  for (const char* key : {"started_at", "memory_timeline", "samples", "warmup_samples"}) trial.erase(key);
  INFERMETER_TRY(Samples samples, samples_from_json(dumped(trial)));
  INFERMETER_TRY_DONE(check_figures(samples));
  INFERMETER_TRY_DONE(add_times(reported.at("samples"), samples.begin_s, samples.end_s));
  INFERMETER_TRY_DONE(add_times(reported.at("warmup_samples"), samples.warmup_begin_s, samples.warmup_end_s));
  return samples;
}

// Each trial has a place of its own in the order of the run.
Result<Done> check_places(const std::vector<Samples>& trials) {
  if (trials.empty()) return usage_error("it has no trials");
  std::set<int> places;
  for (const Samples& trial : trials) {
    if (trial.process < 0) return usage_error(fmt::format("it is damaged: a trial is of process {}", trial.process));
    if (trial.position < 0 || !places.insert(trial.position).second) {
      return usage_error(fmt::format("it is damaged: two trials, or none, can be at position {}", trial.position));
    }
  }
  return Done{};
}

Result<RunRecord> record_of(const Json& report) {
  RunRecord record;
  if (const auto joined = report.find("joined"); joined != report.end() && !joined->empty()) {
    return usage_error("it is a comparison of two runs, and not a run");
  }
  record.id = report.at("id");
  if (!is_run_id(record.id)) {
    return usage_error(fmt::format("it is damaged: its id {} is none of a run", in_quotes(record.id)));
  }
  record.created_at = seconds_of(report.at("created_at"));
  if (!(record.created_at > 0) || utc_time(record.created_at).empty())
    return usage_error("it is damaged: its created_at is not a time");
  record.finished = report.at("finished");
  if (!record.finished) return usage_error(fmt::format("run {} was not finished", record.id));
  INFERMETER_TRY(record.plan, plan_of(report.at("plan")));
  if (const auto plan = check_plan(record.plan); !plan.ok()) {
    return usage_error(fmt::format("it is damaged: its plan: {}", plan.error().message));
  }
  INFERMETER_TRY(record.environment, environment_from_json(dumped(report.at("environment"))));
  INFERMETER_TRY(record.models, models_from_json(dumped(report.at("models"))));
  for (const Json& trial : report.at("trials")) {
    if (!trial.contains("samples")) return usage_error("it has no iterations: write it without --no-samples");
    auto read = trial_of(trial);
    if (!read.ok()) {
      return usage_error(fmt::format("it is damaged: trial {}: {}", record.trials.size(), read.error().message));
    }
    Samples samples = std::move(read).value();
    if (samples.subject < 0 || static_cast<std::size_t>(samples.subject) >= record.plan.subjects.size()) {
      return usage_error("a trial refers to a subject that is not in the plan");
    }
    record.trials.push_back(std::move(samples));
  }
  INFERMETER_TRY_DONE(check_places(record.trials));
  if (record.models.size() != record.plan.subjects.size())
    return usage_error("its models are not those of its subjects");
  return record;
}

}  // namespace

Result<RunRecord> record_from_report(std::string_view json) {
  const auto shallow = [](int depth, Json::parse_event_t, const Json&) { return depth <= kDeepest; };
  const Json report = Json::parse(json, shallow, false);
  if (report.is_discarded() || !report.is_object() || report.value("schema", Json()) != kSchema) {
    return usage_error(
        fmt::format("it is not a JSON report of a run ({}; `infermeter report --format json`)", kSchema));
  }
  try {
    return record_of(report);
  } catch (const std::bad_alloc&) {
    throw;                                 // says nothing of the report
  } catch (const std::exception& error) {  // a member that is missing, or of another kind
    return usage_error(fmt::format("it is damaged: {}", error.what()));
  }
}

}  // namespace infermeter
