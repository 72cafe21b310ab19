#include "infermeter/report/run/group_grid.hpp"

#include <vector>

#include "infermeter/report/comparison/text.hpp"
#include "infermeter/report/load/load_text.hpp"
#include "infermeter/report/run/accuracy_text.hpp"
#include "infermeter/report/tuning/text.hpp"

namespace infermeter {

Grid group_grid(const RunRecord& record, const Group& group) {
  const bool loaded = is_under_load(group), accuracy = has_accuracy(group.subjects);
  struct Column {
    GridColumn column;
    Cell Row::* cell;
    bool shown = true;
  };
  const Column columns[] = {{{"Subject"}, &Row::label},
                            {{"Latency p50"}, &Row::latency, !loaded},
                            {{"Speed-up"}, &Row::speed_up, !loaded},
                            {{"Throughput", Align::right}, &Row::throughput},
                            {{"Memory", Align::right}, &Row::memory},
                            {{"Size", Align::right}, &Row::size},
                            {{"p99", Align::right}, &Row::p99, !loaded},
                            {{"Accuracy"}, &Row::accuracy, !loaded && accuracy},
                            {{"Outputs"}, &Row::outputs}};
  Grid grid;
  for (const Column& one : columns) {
    if (one.shown) grid.columns.push_back(one.column);
  }
  for (const SubjectVerdict* subject : group.subjects) {
    const Row row = row_of(record, group, *subject);
    grid.rows.emplace_back();
    for (const Column& one : columns) {
      if (one.shown) grid.rows.back().push_back(row.*one.cell);
    }
  }
  return grid;
}

Grid comparison_grid(const RunRecord& record, const ComparisonVerdict& verdict) {
  Grid grid{
      .columns =
          {{"Candidate"}, {"Metric"}, {"Change"}, {"Interval, %"}, {"p", Align::right}, {"Detectable", Align::right}},
      .rows = {}};
  for (const ComparisonRow& row : comparison_rows(record, verdict)) {
    grid.rows.push_back({row.subject, row.metric, row.change, row.interval, row.p, row.smallest});
  }
  return grid;
}

std::vector<TitledGrid> run_grids(const RunRecord& record, const Verdict& verdict) {
  std::vector<TitledGrid> grids;
  if (verdict.tuning) {
    grids.push_back({tuning_title(record), tuning_grid(record, verdict)});
  } else {
    for (const auto& group : groups_of(record, verdict)) grids.push_back({group.title, group_grid(record, group)});
  }
  grids.push_back({"Under load", load_grid(record, verdict)});
  grids.push_back({"Answers that came piece by piece", generation_grid(record, verdict)});
  if (verdict.comparison) {
    grids.push_back({comparison_title(record, *verdict.comparison), comparison_grid(record, *verdict.comparison)});
  }
  std::erase_if(grids, [](const TitledGrid& one) { return one.grid.rows.empty(); });
  return grids;
}

}  // namespace infermeter
