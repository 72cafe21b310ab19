#include "infermeter/report/forms/renderers.hpp"
#include "infermeter/report/options.hpp"
#include "infermeter/report/run/answers.hpp"
#include "infermeter/report/run/json_parts.hpp"
#include "infermeter/text/utc_time.hpp"
#include "infermeter/verdict/judge.hpp"

namespace infermeter {
namespace {

// About 22 characters a number, two numbers an iteration: so that the buffer grows once.
std::size_t expected_size(const RunRecord& record, bool with_samples) {
  std::size_t iterations = 0;
  for (const auto& trial : record.trials) iterations += trial.begin_s.size() + trial.warmup_begin_s.size();
  return 16384 + record.trials.size() * 4096 + (with_samples ? iterations * 44 : 0);
}

void write_models(JsonWriter& json, const RunRecord& record) {
  json.key("models");
  json.begin_array();
  for (const auto& model : record.models) write_model(json, model);
  json.end_array();
}

void write_subjects(JsonWriter& json, const RunRecord& record, const Verdict& verdict) {
  json.key("subjects");
  json.begin_array();
  for (const auto& subject : verdict.subjects) {
    write_subject(json, record.plan.subjects.at(static_cast<std::size_t>(subject.subject)), subject, record.trials,
                  verdict.of_a_program);
  }
  json.end_array();
}

void write_trials(JsonWriter& json, std::string_view name, const std::vector<Samples>& trials,
                  const std::function<TrialIterations(const Samples&)>& iterations) {
  json.key(name);
  json.begin_array();
  for (const auto& trial : trials) {
    const auto given = iterations ? std::optional(iterations(trial)) : std::nullopt;
    write_trial(json, trial, given ? &*given : nullptr);
  }
  json.end_array();
}

// The same for all trials of a run, but for rare ones: of the first that has one.
std::optional<std::string> energy_reason(const RunRecord& record) {
  for (const Samples& trial : record.trials)
    if (!trial.energy.reason.empty()) return trial.energy.reason;
  return std::nullopt;
}

}  // namespace

void write_run(JsonWriter& json, const RunRecord& record, const Verdict& verdict,
               const std::function<TrialIterations(const Samples&)>& iterations) {
  json.begin_object();
  json.member("schema", "infermeter.run/1");
  json.member("id", record.id);
  json.member("created_at", utc_time(record.created_at));
  json.member("finished", record.finished);
  json.member("exit_code", verdict.exit_code);
  write_joined(json, record.joined);
  write_answers(json, worded_answers(record, verdict));
  write_checks(json, verdict.checks);
  write_plan(json, record.plan);
  write_environment(json, record.environment);
  write_models(json, record);
  write_subjects(json, record, verdict);
  write_comparison(json, verdict.comparison);
  write_tuning(json, verdict.tuning, record.plan.tuning);
  write_machine_noise(json, record.noise);
  json.member("energy_reason", energy_reason(record));
  write_trials(json, "trials", record.trials, iterations);
  write_trials(json, "side_trials", record.side_trials, iterations);
  write_profile(json, record, verdict.profile);
  write_diagnostics(json, verdict.diagnostics, verdict.of_a_program);
  json.end_object();
}

std::string render_json(const RunRecord& record, const Verdict& verdict, const RenderOptions& options) {
  JsonWriter json;
  json.reserve(expected_size(record, options.samples));
  if (options.samples) {
    write_run(json, record, verdict, all_iterations);
  } else {
    write_run(json, record, verdict, {});
  }
  return json.take() + '\n';
}

}  // namespace infermeter
