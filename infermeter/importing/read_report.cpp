#include "infermeter/importing/read_report.hpp"

#include <fmt/format.h>

#include <charconv>
#include <chrono>
#include <cstdio>
#include <new>
#include <nlohmann/json.hpp>
#include <string>

#include "infermeter/plan/plan_file.hpp"
#include "infermeter/samples/samples_json.hpp"
#include "infermeter/store/record_json.hpp"

namespace infermeter {
namespace {

using Json = nlohmann::json;

constexpr std::string_view kSchema = "infermeter.run/1";

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
    for (const char* key : {"dimensions", "batch_axes", "options", "environment"}) as_pairs(subject, key);
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
  const auto& digits = text.get_ref<const std::string&>();
  std::uint64_t number = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), number, 16);
  return number;
}

void add_times(const Json& times, std::vector<double>& begin_s, std::vector<double>& end_s) {
  begin_s = times.at("begin_s").get<std::vector<double>>();
  end_s = times.at("latency_s").get<std::vector<double>>();
  if (begin_s.size() != end_s.size()) throw std::runtime_error("a trial has more begins than latencies");
  for (std::size_t i = 0; i < begin_s.size(); ++i) end_s[i] += begin_s[i];
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
  add_times(reported.at("samples"), samples.begin_s, samples.end_s);
  add_times(reported.at("warmup_samples"), samples.warmup_begin_s, samples.warmup_end_s);
  return samples;
}

Result<RunRecord> record_of(const Json& report) {
  RunRecord record;
  if (const auto joined = report.find("joined"); joined != report.end() && !joined->empty()) {
    return usage_error("it is a comparison of two runs, and not a run");
  }
  record.id = report.at("id");
  record.created_at = seconds_of(report.at("created_at"));
  record.finished = report.at("finished");
  if (!record.finished) return usage_error(fmt::format("run {} was not finished", record.id));
  INFERMETER_TRY(record.plan, plan_of(report.at("plan")));
  INFERMETER_TRY(record.environment, environment_from_json(dumped(report.at("environment"))));
  INFERMETER_TRY(record.models, models_from_json(dumped(report.at("models"))));
  for (const Json& trial : report.at("trials")) {
    if (!trial.contains("samples")) return usage_error("it has no iterations: write it without --no-samples");
    INFERMETER_TRY(Samples samples, trial_of(trial));
    if (samples.subject < 0 || static_cast<std::size_t>(samples.subject) >= record.plan.subjects.size()) {
      return usage_error("a trial is of no subject of its plan");
    }
    record.trials.push_back(std::move(samples));
  }
  if (record.models.size() != record.plan.subjects.size())
    return usage_error("its models are not those of its subjects");
  return record;
}

}  // namespace

Result<RunRecord> record_from_report(std::string_view json) {
  const Json report = Json::parse(json, nullptr, false);
  if (report.is_discarded() || !report.is_object() || report.value("schema", Json()) != kSchema) {
    return usage_error(fmt::format("it is no JSON report of a run ({}; `infermeter report --format json`)", kSchema));
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
