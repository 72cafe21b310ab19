// The report of variants: what each weighs, how fast and how right it is, which are on the Pareto front, and what can
// be recommended. Pure, like those of a run.
#pragma once

#include <string>

#include "infermeter/report/options.hpp"
#include "infermeter/verdict/judge.hpp"
#include "infermeter/verdict/variants/variant_set.hpp"

namespace infermeter {

// Format::csv and the forms of other tools are the run's own. `record` is the run of `set`'s subjects.
[[nodiscard]] std::string render_variants(const RunRecord& record, const Verdict& verdict, const VariantSet& set,
                                          Format format, const RenderOptions& options);

// 0 where the baseline was measured at every batch size; else what the run deserves. Variants that failed are in the
// report.
[[nodiscard]] int exit_code_of_variants(const Verdict& verdict, const VariantSet& set);

}  // namespace infermeter
