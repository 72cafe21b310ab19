#include "infermeter/report/run/json_parts.hpp"
#include "infermeter/samples/environment.hpp"
#include "infermeter/samples/samples_json.hpp"

namespace infermeter {
namespace {

void write_planned_subject(JsonWriter& json, const Subject& subject) {
  json.begin_object();
  json.member("label", subject.label);
  json.member("model", subject.model);
  json.member("backend", subject.backend);
  json.member("device", subject.device);
  json.member("dtype", to_string(subject.dtype));
  json.member("batch_size", subject.batch_size);
  json.member("threads", subject.threads);
  json.object("dimensions", subject.dimensions);
  json.object("batch_axes", subject.batch_axes);
  json.object("options", subject.options);
  if (!subject.load.empty()) json.object("load", subject.load);
  if (!subject.environment.empty()) json.object("environment", subject.environment);
  json.member("backend_library", subject.backend_library);
  json.member("group", subject.group);
  json.end_object();
}

void write_data_request(JsonWriter& json, const DataRequest& data) {
  json.key("data");
  json.begin_object();
  json.member("source", data.source);
  json.object("distributions", data.distributions);
  json.member("limit", data.limit);
  json.member("seed", data.seed);
  json.member("labels", data.labels);
  json.end_object();
}

void write_order(JsonWriter& json, const std::vector<PlannedTrial>& order) {
  json.key("order");
  json.begin_array();
  for (const auto& trial : order) {
    json.begin_object();
    json.member("subject", std::uint64_t{trial.subject});
    json.member("process", trial.process);
    json.end_object();
  }
  json.end_array();
}

void write_stopping(JsonWriter& json, const Stopping& stopping) {
  json.member("warmup", stopping.warmup);
  json.member("count_first", stopping.count_first);
  json.member("iterations", stopping.iterations);
  json.member("duration_s", stopping.duration_s);
}

void write_limits(JsonWriter& json, const Limits& limits) {
  json.member("load_timeout_s", limits.load_timeout_s);
  json.member("run_timeout_s", limits.run_timeout_s);
  json.member("memory_limit_bytes", limits.memory_limit_bytes);
}

void write_caches(JsonWriter& json, const std::vector<Cache>& caches) {
  json.key("caches");
  json.begin_array();
  for (const auto& cache : caches) {
    json.begin_object();
    json.member("kind", cache.kind);
    json.member("size_bytes", cache.size_bytes);
    json.member("shared_by", cache.shared_by);
    json.end_object();
  }
  json.end_array();
}

void write_processors(JsonWriter& json, const Environment& environment) {
  json.member("processor", environment.processor);
  json.member("architecture", environment.architecture);
  json.strings("flags", environment.flags);
  json.member("processors_online", environment.processors_online);
  json.member("processors_usable", environment.processors_usable);
  json.member("quota_processors", environment.quota_processors);
  json.member("cores", environment.cores);
  json.member("sockets", environment.sockets);
  json.member("numa_nodes", environment.numa_nodes);
  json.member("smt_active", environment.smt_active);
  write_caches(json, environment.caches);
}

void write_system(JsonWriter& json, const Environment& environment) {
  json.member("memory_total_bytes", environment.memory_total_bytes);
  json.member("memory_available_bytes", environment.memory_available_bytes);
  json.member("swap_used_bytes", environment.swap_used_bytes);
  json.member("governor", environment.governor);
  json.member("turbo", environment.turbo);
  json.member("aslr", environment.aslr);
  json.member("virtualization", environment.virtualization);
  json.member("kernel", environment.kernel);
  json.member("distribution", environment.distribution);
  json.member("hostname", environment.hostname);
  json.member("load_1min", environment.load_1min);
  json.member("perf_event_paranoid", environment.perf_event_paranoid);
  json.member("hardware_counters", environment.hardware_counters);
  json.member("invariant_tsc", environment.invariant_tsc);
  json.member("landlock_abi", environment.landlock_abi);
  json.member("seccomp", environment.seccomp);
  json.member("cgroup_v2", environment.cgroup_v2);
}

void write_one_machine(JsonWriter& json, const Environment& environment) {
  json.member("machine", machine_fingerprint(environment));
  write_processors(json, environment);
  write_system(json, environment);
  json.member("infermeter_version", environment.infermeter_version);
  json.member("build", environment.build);
  json.member("git_commit", environment.git_commit);
  json.member("command", environment.command);
}

}  // namespace

void write_plan(JsonWriter& json, const Plan& plan) {
  json.key("plan");
  json.begin_object();
  json.key("subjects");
  json.begin_array();
  for (const auto& subject : plan.subjects) write_planned_subject(json, subject);
  json.end_array();
  json.member("processes", plan.processes);
  write_stopping(json, plan.stopping);
  json.member("automatic_warmup", plan.automatic.warmup);
  json.member("automatic_iterations", plan.automatic.iterations);
  json.member("automatic_processes", plan.automatic.processes);
  json.member("precision", plan.precision);
  json.member("budget_s", plan.budget_s);
  json.member("repeat_disturbed", plan.repeat_disturbed);
  json.member("leak_iterations", plan.leak_iterations);
  json.member("profile_processes", plan.profiling.processes);
  json.member("profile_iterations", plan.profiling.iterations);
  json.member("stacks", to_string(plan.profiling.stacks));
  json.member("python_profiler", to_string(plan.profiling.python));
  write_question(json, plan.question);
  write_planned_tuning(json, plan.tuning);
  write_limits(json, plan.limits);
  json.member("seed", plan.seed.value_or(0));
  write_data_request(json, plan.data);
  json.member("outliers", to_string(plan.outliers));
  json.member("sandbox", to_string(plan.sandbox));
  json.member("compare_outputs", plan.compare_outputs);
  json.key("cpus");
  json.begin_array();
  for (const int cpu : plan.cpus) json.value(cpu);
  json.end_array();
  json.member("output_dir", plan.output_dir);
  json.member("backend_path", plan.backend_path);
  write_order(json, plan.order);
  json.end_object();
}

void write_environment(JsonWriter& json, const Environment& environment) {
  json.key("environment");
  json.begin_object();
  write_one_machine(json, environment);
  if (!environment.nodes.empty()) {
    json.key("nodes");
    json.begin_array();
    for (const Environment& node : environment.nodes) {
      json.begin_object();
      write_one_machine(json, node);
      json.end_object();
    }
    json.end_array();
    json.strings("nodes_differ_in", what_nodes_differ_in(environment));
  }
  json.end_object();
}

void write_model(JsonWriter& json, const ModelFacts& model) {
  json.begin_object();
  json.member("name", model.name);
  json.member("path", model.path);
  json.member("format", model.format);
  json.member("sha256", model.sha256);
  json.member("size_bytes", model.size_bytes);
  json.member("parameters", model.parameters);
  json.member("nonzero_parameters", model.nonzero_parameters);
  json.strings("weight_files", model.weight_files);
  json.member("from_zoo", model.from_zoo);
  json.member("made", model.made);
  json.end_object();
}

}  // namespace infermeter
