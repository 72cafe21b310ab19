// How the latencies of a group's subjects are distributed: a cell of the console table for each, on one scale.
#pragma once

#include <string>
#include <vector>

#include "infermeter/report/forms/sentence.hpp"
#include "infermeter/report/run/row.hpp"
#include "infermeter/verdict/judge.hpp"

namespace infermeter {

struct LatencyCells {
  std::vector<Cell> cells;  // in the group's order; empty: no subject has iterations enough for a picture
  std::string legend;       // what the ends of the scale are
};

// Of all timed iterations, from all processes.
[[nodiscard]] LatencyCells latency_cells(const RunRecord& record, const Group& group);

}  // namespace infermeter
