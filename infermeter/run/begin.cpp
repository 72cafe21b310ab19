#include "infermeter/run/begin.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <random>

#include "infermeter/diagnostics/interrupt.hpp"
#include "infermeter/machine/machine.hpp"
#include "infermeter/models/resolve.hpp"
#include "infermeter/plan/file_variables.hpp"
#include "infermeter/plan/plan_file.hpp"
#include "infermeter/plan/server_url.hpp"
#include "infermeter/plan/subject.hpp"
#include "infermeter/run/accuracy.hpp"
#include "infermeter/run/check.hpp"
#include "infermeter/run/trial_job.hpp"
#include "infermeter/run/workload.hpp"
#include "infermeter/trial/machine/clock.hpp"
#include "infermeter/verdict/tuning/constraints.hpp"
#include "infermeter/worker/convert.hpp"
#include "infermeter/worker/prepare.hpp"

namespace infermeter {
namespace {

bool interrupt_came(const RunContext& context) { return look_at_interrupts(context.interrupt) != 0; }

// A back end that cannot read the zoo's files gets one of its own kind. The files of a language model stay those that
// it was made of.
Result<Done> use_converted(ModelFacts& model, const Plan& plan, const Subject& subject, const RunContext& context) {
  const Conversion wanted{
      .backend = subject.backend, .zoo_name = model.name, .model_file = model.path, .batch_size = subject.batch_size};
  INFERMETER_TRY(const auto file, converted_model(context.launcher, wanted, context.cache,
                                                  {.sandbox = plan.sandbox,
                                                   .memory_limit_bytes = plan.limits.memory_limit_bytes,
                                                   .interrupt = context.interrupt}));
  if (!file) return Done{};
  std::error_code error;
  model.path = file->string();
  if (model.format == kFolderFormat) {
    INFERMETER_TRY(model.files, identities_of(model));
    return Done{};
  }
  model.format = subject.backend;
  model.size_bytes = std::filesystem::file_size(*file, error);
  INFERMETER_TRY(model.files, identities_of(model));
  return Done{};
}

Result<ModelFacts> model_or_workload(const Plan& plan, const Subject& subject, const RunContext& context) {
  auto facts =
      resolve_model(subject.model, context.cache, {.allow_code = plan.allow_code, .interrupt = context.interrupt});
  if (facts.ok() || !may_be_workload(subject.model)) return facts;
  const BackendInfo backend =
      probe_backend(context.launcher, subject.backend, subject.backend_library,
                    {.sandbox = plan.sandbox, .interrupt = context.interrupt, .cache = context.cache});
  return resolve_workload(subject, backend, facts.error());
}

// Before the first trial, so that none of them makes what the others find. What goes wrong here is said by the trials,
// which go on without.
Result<Done> prepare_workload(const Plan& plan, const Subject& subject, const ModelFacts& model,
                              const RunContext& context) {
  TrialJob job = trial_job(plan, subject, model);
  job.cache_folder = workload_cache(subject, model, context.cache);
  const auto prepared = prepare_backend(context.launcher, job, context.interrupt);
  if (!prepared.ok() && interrupt_came(context)) return prepared.error();
  return Done{};
}

// Nothing of ours needs it, but the models of the zoo are then written again for each user of the temporary folder.
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

// What the plan loads that is code; empty: nothing.
std::string code_of(const Plan& plan) {
  if (!plan.backend_path.empty()) return fmt::format("back ends of the folder '{}'", plan.backend_path);
  for (const Subject& subject : plan.subjects) {
    if (!subject.backend_library.empty()) return fmt::format("the library '{}'", subject.backend_library);
    if (is_factory(subject.model)) return fmt::format("the Python code '{}'", subject.model);
    for (const auto& [key, value] : subject.options)
      if (is_server_option(key)) return fmt::format("a model of a server ('{}={}')", key, value);
  }
  return plan.allow_code ? "models that are code" : "";
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

// The run's plan with the files that its models were, so that it can be resumed from any folder.
Plan plan_with_files(const RunRecord& record, const RunContext& context) {
  Plan plan = record.plan;
  for (std::size_t i = 0; i < plan.subjects.size(); ++i) {
    const ModelFacts& model = record.models[i];
    const bool is_file =
        !model.from_zoo && model.format != workload_format && model.format != server_format && !model.path.empty();
    if (is_file && !context.models.contains(plan.subjects[i].model)) plan.subjects[i].model = model.path;
  }
  return plan;
}

// The cache of the zoo may be another one now.
Result<Done> note_places(Store& store, RunRecord& record, const std::vector<ModelFacts>& now) {
  bool moved = false;
  for (std::size_t i = 0; i < now.size(); ++i) {
    if (now[i].path == record.models[i].path || now[i].path.empty()) continue;
    record.models[i].path = now[i].path;
    moved = true;
  }
  return moved ? store.set_models(record.id, record.models) : Result<Done>(Done{});
}

// They are measured again, and what they reported about operators and stacks goes with them.
void forget_interrupted(RunRecord& record) {
  const auto is_interrupted = [](const Samples& trial) { return trial.end == TrialEnd::interrupted; };
  const auto is_of_one = [&](const auto& profile) {
    const auto trial = std::ranges::find(record.side_trials, profile.position, &Samples::position);
    return trial != record.side_trials.end() && is_interrupted(*trial);
  };
  std::erase_if(record.profiles, is_of_one);
  std::erase_if(record.stacks, is_of_one);
  for (auto* trials : {&record.trials, &record.side_trials}) std::erase_if(*trials, is_interrupted);
}

// A task of a cluster may begin on one node and go on on another. What it finds of blocks that were not whole is not
// worth anything there: they are measured again.
Result<Done> settle_on_node(Store& store, RunRecord& record, const Shard& shard, Environment now) {
  now.hostname = shard.node;
  if (record.environment.nodes.empty()) {
    record.diagnostics = examine(now);
    note_home(record);
  }
  const auto settle = [&]() -> Result<Done> {
    for (const int position : drop_half_blocks(record, shard))
      INFERMETER_TRY_DONE(store.remove_trial(record.id, position));
    enter_node(record.environment, now);
    INFERMETER_TRY_DONE(store.set_diagnostics(record.id, record.diagnostics));
    return store.set_environment(record.id, record.environment);
  };
  return store.together(settle);
}

Result<Done> check_runtimes(const RunRecord& record, const RunContext& context) {
  std::map<std::pair<std::string, std::string>, BackendInfo> probed;
  for (const auto& trial : record.trials) {
    const std::string before = trial.executed_value("runtime_version");
    const Subject& subject = record.plan.subjects[static_cast<std::size_t>(trial.subject)];
    if (before.empty() || is_on_server(subject)) continue;  // a server reports its version when it is spoken to
    auto [place, is_new] = probed.try_emplace({subject.backend, subject.backend_library});
    if (is_new)
      place->second = probe_backend(context.launcher, subject.backend, subject.backend_library,
                                    {.sandbox = record.plan.sandbox, .interrupt = context.interrupt});
    if (const auto& now = place->second.runtime_version; now != before && place->second.error.empty()) {
      return refuse(record.id, fmt::format("{} is version {} now and was {} then", subject.backend, now, before));
    }
  }
  return Done{};
}

}  // namespace

std::uint64_t drawn_seed() {
  std::random_device random;
  return random() & 0xffff'ffffU;
}

std::string new_run_id(double now_s) {
  std::random_device random;
  return fmt::format("{:%Y%m%d-%H%M%S}-{:04x}", fmt::gmtime(static_cast<std::time_t>(now_s)), random() & 0xffffU);
}

bool is_run_id(std::string_view id) {
  constexpr std::string_view form = "dddddddd-dddddd-xxxx";
  return std::ranges::equal(id, form, [](char c, char kind) {
    const bool digit = c >= '0' && c <= '9';
    return kind == '-' ? c == '-' : digit || (kind == 'x' && c >= 'a' && c <= 'f');
  });
}

Result<std::vector<ModelFacts>> checked_models(const Plan& plan, const RunContext& context) {
  if (context.is_checked) return resolve_models(plan, context);
  return resolve_models(plan, context, check_run(plan, context));
}

Result<std::vector<ModelFacts>> resolve_models(const Plan& plan, RunContext context, RunCheck check) {
  INFERMETER_TRY_DONE(check.problems.result());
  context.models = std::move(check.models);
  return resolve_models(plan, context);
}

Result<std::vector<ModelFacts>> resolve_models(const Plan& plan, const RunContext& context) {
  std::map<std::string, ModelFacts> resolved = context.models;
  std::vector<ModelFacts> models;
  for (const auto& subject : plan.subjects) {
    if (interrupt_came(context)) return worker_error("interrupted before anything was measured");
    if (is_on_server(subject)) {  // whatever the zoo or this machine have under that name
      models.push_back(model_on_server(subject));
      continue;
    }
    auto place = resolved.find(subject.model);
    if (place == resolved.end()) {
      INFERMETER_TRY(auto facts, model_or_workload(plan, subject, context));
      if (facts.format == workload_format) {  // a name that means something else to another back end
        INFERMETER_TRY_DONE(prepare_workload(plan, subject, facts, context));
        models.push_back(std::move(facts));
        continue;
      }
      place = resolved.emplace(subject.model, std::move(facts)).first;
    }
    models.push_back(place->second);
    if (place->second.from_zoo) INFERMETER_TRY_DONE(use_converted(models.back(), plan, subject, context));
  }
  return models;
}

Result<BegunRun> new_run(Store& store, Plan plan, const RunContext& context) {
  INFERMETER_TRY_DONE(check_plan(plan));
  if (plan.question) {
    INFERMETER_TRY(plan.question->metric, metric_of_question(plan));
  }
  if (plan.tuning) INFERMETER_TRY_DONE(check_objective(plan));
  if (!plan.seed) plan.seed = drawn_seed();
  order_trials(plan);
  RunRecord record;
  record.created_at = std::floor(wall_clock_s());
  record.id = new_run_id(record.created_at);
  INFERMETER_TRY(record.models, checked_models(plan, context));
  record.plan = std::move(plan);
  record.environment = read_environment();
  read_git(record.environment, ".");
  record.environment.command = context.command;
  if (record.plan.question) {
    INFERMETER_TRY(record.noise, store.latest_noise(machine_fingerprint(record.environment)));
  }
  record.diagnostics = examine(record.environment);
  note_home(record);
  if (context.part_of) record.part_of = context.part_of->empty() ? record.id : *context.part_of;
  INFERMETER_TRY(RunLock lock, store.lock_run(record.id));
  const auto begin = [&]() -> Result<Done> {
    INFERMETER_TRY_DONE(store.begin_run(record));
    return keep_known_accuracy(store, record, context);
  };
  INFERMETER_TRY_DONE(store.together(begin));
  return BegunRun{.record = std::move(record), .lock = std::move(lock)};
}

Result<Done> check_own_plan(const RunRecord& record, const Plan& asked) {
  const Plan& plan = record.plan;
  if (const std::string code = code_of(plan); !code.empty() && !asked.allow_code) {
    return usage_error(fmt::format("run {} loads {}: give --allow-code with --resume {} if you trust the store",
                                   record.id, code.substr(0, 300), record.id));
  }
  if (is_weaker(plan.sandbox, asked.sandbox)) {
    return usage_error(
        fmt::format("run {} was begun with --sandbox {}, and a store cannot ask for that: give --sandbox {} "
                    "with --resume {}, or measure again",
                    record.id, to_string(plan.sandbox), to_string(plan.sandbox), record.id));
  }
  for (const Subject& subject : plan.subjects)
    for (const auto& [name, value] : subject.environment)
      if (!may_come_from_file(name))
        return usage_error(
            fmt::format("run {} was given --env {}=…, and code can come by variables: give its arguments again, "
                        "with --resume {}",
                        record.id, name, record.id));
  return Done{};
}

namespace {

// Its models as they are now.
Result<std::vector<ModelFacts>> unchanged_models(const RunRecord& record, const RunContext& context) {
  const Environment now = read_environment();
  if (!context.shard && machine_fingerprint(now) != machine_fingerprint(record.environment)) {
    return refuse(record.id, fmt::format("it was begun on another machine ({}, {})", record.environment.hostname,
                                         record.environment.processor));
  }
  if (now.infermeter_version != record.environment.infermeter_version) {
    return refuse(record.id, fmt::format("it was begun with infermeter {}", record.environment.infermeter_version));
  }
  INFERMETER_TRY(auto models, checked_models(plan_with_files(record, context), context));
  INFERMETER_TRY_DONE(check_models(record, models));
  INFERMETER_TRY_DONE(check_runtimes(record, context));
  return models;
}

}  // namespace

Result<Done> check_unchanged(const RunRecord& record, const RunContext& context) {
  INFERMETER_TRY_DONE(unchanged_models(record, context));
  return Done{};
}

bool is_run_of(const RunRecord& record, Plan plan) {
  if (!plan.seed) plan.seed = record.plan.seed;
  order_trials(plan);
  plan.output_dir = record.plan.output_dir;
  return plan_to_json(plan) == plan_to_json(record.plan);
}

bool has_live_trials(const RunRecord& record) {
  return std::ranges::any_of(record.trials, [](const Samples& trial) {
    return std::ranges::any_of(trial.diagnostics,
                               [](const Diagnostic& found) { return found.id == DiagnosticId::not_isolated; });
  });
}

Result<BegunRun> resumed_run(Store& store, std::string_view run, const Plan& plan, const RunContext& context) {
  INFERMETER_TRY(const std::string id, store.id_of_run(run));
  INFERMETER_TRY(RunLock lock, store.lock_run(id));
  INFERMETER_TRY(auto record, store.load_run(id));
  if (record.finished) return refuse(record.id, "it is finished (`infermeter report` shows it)");
  // Code that happens to have the name of such an object would be measured in its place.
  if (!context.trial && has_live_trials(record)) return refuse(record.id, "it measured live objects of a program");
  if (!plan.subjects.empty() && !is_run_of(record, plan)) return refuse(record.id, "its plan is not the one asked for");
  if (plan.subjects.empty()) INFERMETER_TRY_DONE(check_own_plan(record, plan));
  INFERMETER_TRY(const auto models, unchanged_models(record, context));
  for (std::size_t i = 0; i < models.size(); ++i) record.models[i].files = models[i].files;
  INFERMETER_TRY_DONE(note_places(store, record, models));
  if (context.shard) INFERMETER_TRY_DONE(settle_on_node(store, record, *context.shard, read_environment()));
  record.plan.output_dir = plan.output_dir;
  record.plan.store = plan.store;
  forget_interrupted(record);
  return BegunRun{.record = std::move(record), .lock = std::move(lock)};
}

bool already_done(const RunRecord& record, const PlannedTrial& planned) {
  return std::any_of(record.trials.begin(), record.trials.end(), [&](const Samples& trial) {
    return trial.subject == static_cast<int>(planned.subject) && trial.process == planned.process;
  });
}

}  // namespace infermeter
