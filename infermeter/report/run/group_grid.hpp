// Tables that Markdown, LaTeX and notebooks share: whole, however wide.
#pragma once

#include <string>
#include <vector>

#include "infermeter/report/forms/grid.hpp"
#include "infermeter/report/run/row.hpp"

namespace infermeter {

// A row for each subject. Subjects under load have no latency of one inference after the other.
[[nodiscard]] Grid group_grid(const RunRecord& record, const Group& group);
// A row for each candidate and metric.
[[nodiscard]] Grid comparison_grid(const RunRecord& record, const ComparisonVerdict& verdict);

struct TitledGrid {
  std::string title;
  Grid grid;
};
// All that a run shows as tables, those without a row left out.
[[nodiscard]] std::vector<TitledGrid> run_grids(const RunRecord& record, const Verdict& verdict);

}  // namespace infermeter
