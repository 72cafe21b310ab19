// Settings given in Python -> PlanDraft: the same keys and the same sentences as in a plan file (docs/plan.md).
#pragma once

#include <nanobind/nanobind.h>

#include "infermeter/diagnostics/result.hpp"
#include "infermeter/plan/draft.hpp"

namespace infermeter::python {

// `settings`: key -> value, list of values, or dict of pairs; None: not said. "subjects" takes short forms and dicts
// with the keys of [[subject]]. Subjects that are named replace those that the draft has.
[[nodiscard]] Result<Done> apply_settings(PlanDraft& draft, const nanobind::dict& settings);

}  // namespace infermeter::python
