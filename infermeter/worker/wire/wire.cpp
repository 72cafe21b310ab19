#include "infermeter/worker/wire/wire.hpp"

#include "infermeter/diagnostics/json_fields.hpp"
#include "infermeter/plan/plan_fields.hpp"

namespace infermeter {

bool name_to_value(std::string_view name, DType& value) {
  if (name == to_string(DType::undefined)) return value = DType::undefined, true;  // of an output before its first run
  return take_value(dtype_from_string(name), value);
}

std::string_view to_string(Value::Kind kind) {
  if (kind == Value::Kind::none) return "none";
  return kind == Value::Kind::tensor ? "tensor" : "sequence";
}
bool name_to_value(std::string_view name, Value::Kind& value) {
  for (const auto kind : {Value::Kind::none, Value::Kind::tensor, Value::Kind::sequence})
    if (name == to_string(kind)) return value = kind, true;
  return false;
}

template <class V, MaybeConst<Stopping> S>
void visit_fields(V& v, S& s) {
  v.field("warmup", s.warmup);
  v.field("iterations", s.iterations);
  v.field("duration_s", s.duration_s);
  v.field("count_first", s.count_first);
}

template <class V, MaybeConst<TrialRequest> S>
void visit_fields(V& v, S& s) {
  v.field("subject", s.subject);
  v.field("model_path", s.model_path);
  v.field("zoo_name", s.zoo_name);
  v.field("data_shape", s.data_shape);
  v.field("cache_folder", s.cache_folder);
  v.field("arrivals_seed", s.arrivals_seed);
  v.field("server_addresses", s.server_addresses);
  v.field("server_token", s.server_token);
  v.field("stopping", s.stopping);
  v.field("time_it", s.time_it);
  v.field("keep_outputs", s.keep_outputs);
  v.field("watch_memory", s.watch_memory);
  v.field("profile_folder", s.profile_folder);
  v.field("samples_itself", s.samples_itself);
  v.field("python_folders", s.python_folders);
  v.field("folder", s.folder);
  v.field("launcher", s.launcher);
}

template <class V, MaybeConst<MakeJob> S>
void visit_fields(V& v, S& s) {
  v.field("file", s.file);
  v.field("data", s.data);
}

template <class V, MaybeConst<WorkerJob> S>
void visit_fields(V& v, S& s) {
  v.field("probe", s.probe);
  v.field("prepare", s.prepare);
  v.field("pictures", s.pictures);
  v.required("plugin", s.plugin);
  v.field("trial", s.trial);
  v.field("sandbox", s.sandbox);
  v.field("readable", s.readable);
  v.field("writable", s.writable);
  v.field("cpus", s.cpus);
  v.field("make", s.make);
  v.field("python", s.python);
}

template <class V, MaybeConst<Port> S>
void visit_fields(V& v, S& s) {
  v.required("name", s.name);
  v.field("kind", s.kind);
  v.field("is_optional", s.is_optional);
  v.field("dtype", s.dtype);
  v.field("rank_known", s.rank_known);
  v.field("shape", s.shape);
  v.field("dimension_names", s.dimension_names);
  v.field("batch_axis", s.batch_axis);
}

template <class V, MaybeConst<ModelPorts> S>
void visit_fields(V& v, S& s) {
  v.required("inputs", s.inputs);
  v.required("outputs", s.outputs);
}

template <class V, MaybeConst<BackendOption> S>
void visit_fields(V& v, S& s) {
  v.required("key", s.key);
  v.field("values", s.values);
  v.field("help", s.help);
}

template <class V, MaybeConst<BackendInfo> S>
void visit_fields(V& v, S& s) {
  v.field("name", s.name);
  v.field("plugin", s.plugin);
  v.field("runtime_name", s.runtime_name);
  v.field("runtime_version", s.runtime_version);
  v.field("library", s.library);
  v.field("model_formats", s.model_formats);
  v.field("devices", s.devices);
  v.field("dtypes", s.dtypes);
  v.field("options", s.options);
  v.field("concurrent_requests", s.concurrent_requests);
  v.field("error", s.error);
}

std::string job_to_json(const WorkerJob& job) { return structure_to_json(job); }
Result<WorkerJob> job_from_json(std::string_view text) {
  return structure_from_json<WorkerJob>(text, "the worker's job");
}

std::string ports_to_json(const ModelPorts& ports) { return structure_to_json(ports); }
Result<ModelPorts> ports_from_json(std::string_view text) {
  return structure_from_json<ModelPorts>(text, "the list of the model's inputs and outputs");
}

std::string backend_info_to_json(const BackendInfo& info) { return structure_to_json(info); }
Result<BackendInfo> backend_info_from_json(std::string_view text) {
  return structure_from_json<BackendInfo>(text, "the description of the back end");
}

}  // namespace infermeter
