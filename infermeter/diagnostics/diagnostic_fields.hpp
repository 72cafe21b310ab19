// The fields of diagnostics: those of trials and those of runs are stored alike.
#pragma once

#include <string_view>

#include "infermeter/diagnostics/diagnostic.hpp"
#include "infermeter/diagnostics/json_fields.hpp"

namespace infermeter {

inline bool name_to_value(std::string_view name, DiagnosticId& value) {
  return take_value(diagnostic_from_string(name), value);
}

template <class V, MaybeConst<Diagnostic> S>
void visit_fields(V& v, S& s) {
  v.required("id", s.id);
  v.field("message", s.message);
  v.field("about", s.about);
}

}  // namespace infermeter
