// Tables that Markdown and LaTeX share: whole, however wide.
#pragma once

#include "infermeter/report/forms/grid.hpp"
#include "infermeter/report/run/row.hpp"

namespace infermeter {

// A row for each subject. Subjects under load have no latency of one inference after the other.
[[nodiscard]] Grid group_grid(const RunRecord& record, const Group& group);
// A row for each candidate and metric.
[[nodiscard]] Grid comparison_grid(const RunRecord& record, const ComparisonVerdict& verdict);

}  // namespace infermeter
