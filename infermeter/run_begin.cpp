#include "infermeter/run_begin.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <random>

#include "infermeter/machine/machine.hpp"
#include "infermeter/models/resolve.hpp"
#include "infermeter/plan/plan_file.hpp"
#include "infermeter/trial/clock.hpp"
#include "infermeter/trial_job.hpp"
#include "infermeter/worker/convert.hpp"
#include "infermeter/worker/prepare.hpp"
#include "infermeter/workload.hpp"

namespace infermeter {
namespace {

// A back end that cannot read the zoo's ONNX files gets one of its own kind.
Result<Done> use_converted(ModelFacts& model, const Subject& subject, const RunContext& context) {
  const Conversion wanted{
      .backend = subject.backend, .zoo_name = model.name, .onnx_file = model.path, .batch_size = subject.batch_size};
  INFERMETER_TRY(const auto file, converted_model(context.launcher, wanted, context.cache));
  if (!file) return Done{};
  std::error_code error;
  model.path = file->string();
  model.format = subject.backend;
  model.size_bytes = std::filesystem::file_size(*file, error);
  return Done{};
}

Result<ModelFacts> model_or_workload(const Plan& plan, const Subject& subject, const RunContext& context) {
  auto facts = resolve_model(subject.model, context.cache, {.allow_code = plan.allow_code});
  if (facts.ok() || !may_be_workload(subject.model)) return facts;
  return resolve_workload(subject, context.launcher, facts.error());
}

// Before the first trial, so that none of them makes what the others find. What goes wrong here is said by the trials,
// which go on without.
void prepare_workload(const Plan& plan, const Subject& subject, const ModelFacts& model, const RunContext& context) {
  TrialJob job = trial_job(plan, subject, model);
  job.cache_folder = workload_cache(subject, model, context.cache);
  static_cast<void>(prepare_backend(context.launcher, job).ok());
}

// Nothing of ours needs it, but the models of the zoo are then written anew for each user of the temporary folder.
void note_home(RunRecord& record) {
  const char* home = std::getenv("HOME");
  if (home != nullptr && ::access(home, W_OK) != 0) {
    record.diagnostics.push_back({.id = DiagnosticId::home_read_only,
                                  .message = "the home folder cannot be written to; models of the zoo are kept in the "
                                             "temporary folder",
                                  .about = {}});
  }
}

Error refuse(std::string_view id, std::string_view why) {
  return usage_error(fmt::format("run {} cannot be resumed: {}; start a new run, without --resume", id, why));
}

Result<Done> check_models(const RunRecord& record, const std::vector<ModelFacts>& now) {
  for (std::size_t i = 0; i < now.size(); ++i) {
    if (now[i].sha256 != record.models[i].sha256) {
      return refuse(record.id, fmt::format("the file of model '{}' has changed since (SHA-256 {:.12} then, {:.12} now)",
                                           now[i].name, record.models[i].sha256, now[i].sha256));
    }
  }
  return Done{};
}

Result<Done> check_runtimes(const RunRecord& record, const Launcher& launcher) {
  std::map<std::pair<std::string, std::string>, BackendInfo> probed;
  for (const auto& trial : record.trials) {
    const std::string before = trial.executed_value("runtime_version");
    const Subject& subject = record.plan.subjects[static_cast<std::size_t>(trial.subject)];
    if (before.empty()) continue;
    auto [place, is_new] = probed.try_emplace({subject.backend, subject.backend_library});
    if (is_new) place->second = probe_backend(launcher, subject.backend, subject.backend_library);
    if (const auto& now = place->second.runtime_version; now != before && place->second.error.empty()) {
      return refuse(record.id, fmt::format("{} is version {} now and was {} then", subject.backend, now, before));
    }
  }
  return Done{};
}

}  // namespace

std::string new_run_id(double now_s) {
  std::random_device random;
  return fmt::format("{:%Y%m%d-%H%M%S}-{:04x}", fmt::gmtime(static_cast<std::time_t>(now_s)), random() & 0xffffU);
}

Result<std::vector<ModelFacts>> resolve_models(const Plan& plan, const RunContext& context) {
  std::map<std::string, ModelFacts> resolved = context.models;
  std::vector<ModelFacts> models;
  for (const auto& subject : plan.subjects) {
    auto place = resolved.find(subject.model);
    if (place == resolved.end()) {
      INFERMETER_TRY(auto facts, model_or_workload(plan, subject, context));
      if (facts.format == workload_format) {  // a name that means something else to another back end
        prepare_workload(plan, subject, facts, context);
        models.push_back(std::move(facts));
        continue;
      }
      place = resolved.emplace(subject.model, std::move(facts)).first;
    }
    models.push_back(place->second);
    if (place->second.from_zoo) INFERMETER_TRY_DONE(use_converted(models.back(), subject, context));
  }
  return models;
}

Result<RunRecord> new_record(Store& store, Plan plan, const RunContext& context) {
  INFERMETER_TRY_DONE(check_plan(plan));
  if (plan.question) {
    INFERMETER_TRY(plan.question->metric, metric_from_string(plan.question->metric));
  }
  order_trials(plan);
  RunRecord record;
  record.created_at = std::floor(wall_clock_s());
  record.id = new_run_id(record.created_at);
  INFERMETER_TRY(record.models, resolve_models(plan, context));
  record.plan = std::move(plan);
  record.environment = read_environment();
  read_git(record.environment, ".");
  record.environment.command = context.command;
  if (record.plan.question) {
    INFERMETER_TRY(record.noise, store.latest_noise(machine_fingerprint(record.environment)));
  }
  record.diagnostics = examine(record.environment);
  note_home(record);
  return record;
}

Result<RunRecord> resumed_record(Store& store, std::string_view id, const Plan& plan, const RunContext& context) {
  INFERMETER_TRY(auto record, store.load_run(id));
  if (record.finished) return refuse(record.id, "it is finished (`infermeter report` shows it)");
  if (!plan.subjects.empty()) {
    Plan asked = plan;
    order_trials(asked);
    asked.output_dir = record.plan.output_dir;
    if (plan_to_json(asked) != plan_to_json(record.plan)) return refuse(record.id, "its plan is not the one asked for");
  }
  const Environment now = read_environment();
  if (machine_fingerprint(now) != machine_fingerprint(record.environment)) {
    return refuse(record.id, fmt::format("it was begun on another machine ({}, {})", record.environment.hostname,
                                         record.environment.processor));
  }
  if (now.infermeter_version != record.environment.infermeter_version) {
    return refuse(record.id, fmt::format("it was begun with infermeter {}", record.environment.infermeter_version));
  }
  INFERMETER_TRY(const auto models, resolve_models(record.plan, context));
  INFERMETER_TRY_DONE(check_models(record, models));
  INFERMETER_TRY_DONE(check_runtimes(record, context.launcher));
  for (auto* trials : {&record.trials, &record.side_trials}) {
    std::erase_if(*trials, [](const Samples& trial) { return trial.end == TrialEnd::interrupted; });
  }
  return record;
}

bool already_done(const RunRecord& record, const PlannedTrial& planned) {
  return std::any_of(record.trials.begin(), record.trials.end(), [&](const Samples& trial) {
    return trial.subject == static_cast<int>(planned.subject) && trial.process == planned.process;
  });
}

}  // namespace infermeter
