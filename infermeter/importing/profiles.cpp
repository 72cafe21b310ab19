#include "infermeter/importing/profiles.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "infermeter/importing/imported_record.hpp"
#include "infermeter/importing/unpacked_file.hpp"
#include "infermeter/models/onnx/read_graph.hpp"
#include "infermeter/models/resolve.hpp"
#include "infermeter/plan/imported.hpp"
#include "infermeter/profile/read/imported_profile.hpp"
#include "infermeter/run/profile.hpp"
#include "infermeter/text/quoted.hpp"

namespace infermeter {
namespace {

Error about(const std::string& file, const Error& error) {
  return {error.kind, fmt::format("{}: {}", in_quotes(file), error.message)};
}

Result<ModelGraph> graph_of(const ImportRequest& request, const ModelFacts& model) {
  if (model.format != "onnx") {
    return usage_error(fmt::format("--model: {} is not an ONNX file: nodes and operations are read of those only",
                                   in_quotes(request.model)));
  }
  return read_model_graph(model.path, request.batch_size, {});
}

Result<std::optional<ModelGraph>> imported_graph(const ImportSubject& subject) {
  if (subject.compiled.empty()) return std::optional<ModelGraph>();
  INFERMETER_TRY(const std::string bytes, read_unpacked(subject.compiled, kMostProfileBytes));
  auto graph = read_graph_bytes(bytes);
  if (!graph.ok()) return about(subject.compiled, graph.error());
  return std::optional(std::move(graph).value());
}

class Importer {
 public:
  explicit Importer(const ImportRequest& request) : request_(request) {}

  Result<RunRecord> operator()() {
    record_ = begun_import(request_);
    if (!request_.model.empty()) {
      INFERMETER_TRY(model_, resolve_model(request_.model, request_.cache));
      INFERMETER_TRY(graph_, graph_of(request_, model_));
    }
    for (const ImportSubject& subject : request_.subjects) INFERMETER_TRY_DONE(add(subject));
    describe_plan();
    record_.finished = true;
    return std::move(record_);
  }

 private:
  Result<Done> add(const ImportSubject& subject) {
    INFERMETER_TRY(const auto compiled, imported_graph(subject));
    for (std::size_t process = 0; process < subject.files.size(); ++process) {
      const std::string& file = subject.files[process];
      INFERMETER_TRY(const std::string bytes, read_unpacked(file, kMostProfileBytes));
      auto profile = import_profile(bytes, compiled ? &*compiled : nullptr);
      if (!profile.ok()) return about(file, profile.error());
      add(file, static_cast<int>(process), std::move(profile).value());
    }
    record_.plan.subjects.push_back({.label = subject.label,
                                     .model = request_.model.empty() ? subject.label : request_.model,
                                     .backend = std::string(kImportedBackend),
                                     .batch_size = request_.batch_size});
    record_.models.push_back(model_);
    return Done{};
  }

  void add(const std::string& file, int process, ImportedProfile profile) {
    Samples trial;
    trial.subject = static_cast<int>(record_.plan.subjects.size());
    trial.process = process;
    trial.position = static_cast<int>(record_.side_trials.size());
    trial.purpose = Purpose::profile;
    trial.phase = Phase::done;
    trial.started_at = record_.created_at;  // when it was imported: when it ran is not reported
    trial.executed = {{"imported", printable(file)}, {"runtime", std::string(name_of(profile.format))}};
    if (profile.timed) add(*profile.timed, file, trial);
    if (profile.stacks) add(std::move(*profile.stacks), file, trial);
    record_.side_trials.push_back(std::move(trial));
  }

  void add(SelfTimedProfile& timed, const std::string& file, Samples& trial) {
    trial.begin_s = std::move(timed.begin_s);
    trial.end_s = std::move(timed.end_s);
    OperatorProfile& profile = timed.operators;
    profile.position = trial.position;
    for (ProfileSource& source : profile.sources) {
      source.detail = fmt::format("imported: {}, {}", in_quotes(file), source.detail);
    }
    note_profile(profile, graph_ ? &*graph_ : nullptr, trial);
    record_.profiles.push_back(std::move(profile));
  }

  void add(StackProfile stacks, const std::string& file, Samples& trial) {
    std::string detail = fmt::format("imported: {}", in_quotes(file));
    if (stacks.threads.empty()) stacks.threads.emplace_back();  // collapsed stacks do not report any
    if (stacks.cut) {
      constexpr std::string_view what = "ends early, or has more samples than are kept";
      detail += fmt::format("; it {}", what);
      add_diagnostic(trial, DiagnosticId::profile_cut,
                     fmt::format("{} {} ({} shown)", in_quotes(file), what, stacks.samples.size()));
    }
    record_.stacks.push_back({.position = trial.position,
                              .method = "imported",
                              .detail = std::move(detail),
                              .is_python = false,
                              .stacks = std::move(stacks)});
  }

  // As far as the files report: nothing is to be run.
  void describe_plan() {
    Plan& plan = record_.plan;
    plan.stopping = {.warmup = 0, .iterations = 1, .duration_s = {}};
    plan.processes = 1;
    for (const Samples& trial : record_.side_trials) {
      plan.processes = std::max(plan.processes, trial.process + 1);
      plan.stopping.iterations = std::max(*plan.stopping.iterations, static_cast<std::int64_t>(trial.iterations()));
    }
    plan.profiling = {.processes = plan.processes,
                      .iterations = *plan.stopping.iterations,
                      .stacks = StackSampling::off,
                      .python = PythonProfiler::off};
  }

  const ImportRequest& request_;
  ModelFacts model_;
  std::optional<ModelGraph> graph_;
  RunRecord record_;
};

}  // namespace

Result<RunRecord> import_profiles(const ImportRequest& request) {
  INFERMETER_TRY(RunRecord record, Importer(request)());
  INFERMETER_TRY_DONE(keep_import(record));
  return record;
}

}  // namespace infermeter
