// Parts of a document that are about a run.
#pragma once

#include "infermeter/report/forms/report_part.hpp"
#include "infermeter/report/options.hpp"
#include "infermeter/verdict/gate/gate.hpp"
#include "infermeter/verdict/judge.hpp"
#include "infermeter/verdict/variants/variant_set.hpp"

namespace infermeter {

// options.samples false: without iterations, so that pictures of single ones are left out.
// `earlier`: the last run of the same subjects, if there is one; what changed since then is shown.
[[nodiscard]] ReportPart run_part(const RunRecord& record, const Verdict& verdict, const RenderOptions& options = {},
                                  const RunRecord* earlier = nullptr);
[[nodiscard]] ReportPart gate_part(const RunRecord& record, const Verdict& of_run, const Gate& gate,
                                   const GateVerdict& verdict, const RenderOptions& options = {});
[[nodiscard]] ReportPart variants_part(const RunRecord& record, const Verdict& verdict, const VariantSet& set,
                                       const RenderOptions& options = {});

}  // namespace infermeter
