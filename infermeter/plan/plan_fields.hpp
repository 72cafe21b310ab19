// The fields of subjects: of stored plans, and of the jobs of workers, which have the variables of the environment
// anyway.
#pragma once

#include <string_view>

#include "infermeter/diagnostics/json_fields.hpp"
#include "infermeter/plan/plan.hpp"

namespace infermeter {

inline bool name_to_value(std::string_view name, Precision& value) {
  return take_value(precision_from_string(name), value);
}
inline bool name_to_value(std::string_view name, Sandbox& value) {
  return take_value(sandbox_from_string(name), value);
}
inline bool name_to_value(std::string_view name, PythonProfiler& value) {
  return take_value(python_profiler_from_string(name), value);
}

template <class V, MaybeConst<Subject> S>
void visit_fields(V& v, S& s) {
  v.field("label", s.label);
  v.field("model", s.model);
  v.field("backend", s.backend);
  v.field("device", s.device);
  v.field("dtype", s.dtype);
  v.field("batch_size", s.batch_size);
  v.field("threads", s.threads);
  v.field("dimensions", s.dimensions);
  v.field("batch_axes", s.batch_axes);
  v.field("options", s.options);
  v.where_any("load", s.load);
  v.where_any("environment", s.environment);
  v.field("backend_library", s.backend_library);
  v.field("group", s.group);
}

}  // namespace infermeter
