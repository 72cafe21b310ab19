// What subjects counted themselves, as a table of short texts.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "infermeter/report/forms/sentence.hpp"
#include "infermeter/report/run/row.hpp"
#include "infermeter/verdict/judge.hpp"

namespace infermeter {

// One column of counters: what has the same name but another unit is another one.
struct CounterColumn {
  std::string name, unit;
};
[[nodiscard]] std::vector<CounterColumn> counter_columns(std::span<const SubjectVerdict* const> subjects,
                                                         bool without_load = false);
// nullptr: the subject did not count that.
[[nodiscard]] const CounterSummary* counter_of(const SubjectVerdict& subject, const CounterColumn& column);

struct CounterTable {
  std::vector<std::string> titles;      // "hit_rate", "wait (ms)"
  std::vector<std::vector<Cell>> rows;  // the subject's name, then a cell per title; none: nothing was counted
  std::string left_out;                 // a sentence where there are more counters than a table can show
};
[[nodiscard]] CounterTable counter_table(const RunRecord& record, const Group& group);

}  // namespace infermeter
