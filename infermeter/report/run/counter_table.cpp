#include "infermeter/report/run/counter_table.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "infermeter/report/forms/sentence.hpp"
#include "infermeter/report/numbers/interval_text.hpp"
#include "infermeter/report/numbers/number_text.hpp"
#include "infermeter/report/run/subject_label.hpp"
#include "infermeter/samples/load/load_counters.hpp"
#include "infermeter/text/quoted.hpp"
#include "infermeter/verdict/judge.hpp"

namespace infermeter {
namespace {

constexpr std::size_t most_shown = 20;

// The ABI's "1" is no unit that anyone would write.
std::string counter_title(const CounterColumn& column) {
  const std::string name = printable(column.name, 60);
  return column.unit.empty() || column.unit == "1" ? name : fmt::format("{} ({})", name, printable(column.unit, 20));
}

Cell counter_summary_cell(const Summary& summary, const CounterSummary* counter) {
  if (counter == nullptr) return {"–", Tone::faint};
  const Estimate& estimate = counter->estimate;
  if (!estimate.value) return {printable(estimate.note, 60), Tone::faint};
  std::string text = with_interval(*estimate.value, estimate.interval, plain_number);
  const int processes = summary.trials_ok > 0 ? summary.trials_ok : summary.trials_partial;
  if (estimate.processes >= processes) return {text, Tone::plain};
  return {fmt::format("{}, {} of {} processes", text, estimate.processes, processes), Tone::warning};
}

}  // namespace

std::vector<CounterColumn> counter_columns(std::span<const SubjectVerdict* const> subjects, bool without_load) {
  std::vector<CounterColumn> columns;
  for (const auto* subject : subjects) {
    for (const auto& counter : subject->summary.counters) {
      const bool is_known = std::ranges::any_of(columns, [&](const CounterColumn& column) {
        return column.name == counter.name && column.unit == counter.unit;
      });
      // The tables of loads and of answers token by token have them.
      const LoadFigure* figure = load_figure(counter.name);
      const bool is_elsewhere = figure != nullptr && (figure->of_generation || subject->load);
      if (!is_known && !(without_load && is_elsewhere)) columns.push_back({counter.name, counter.unit});
    }
  }
  return columns;
}

const CounterSummary* counter_of(const SubjectVerdict& subject, const CounterColumn& column) {
  const auto found = std::ranges::find_if(subject.summary.counters, [&](const CounterSummary& counter) {
    return counter.name == column.name && counter.unit == column.unit;
  });
  return found == subject.summary.counters.end() ? nullptr : &*found;
}

CounterTable counter_table(const RunRecord& record, const Group& group) {
  std::vector<CounterColumn> columns = counter_columns(group.subjects, true);
  CounterTable table;
  if (columns.empty()) return table;
  if (columns.size() > most_shown) {
    table.left_out = fmt::format("{} more counters: --format json or csv has them all", columns.size() - most_shown);
    columns.resize(most_shown);
  }
  for (const auto& column : columns) table.titles.push_back(counter_title(column));
  for (const auto* subject : group.subjects) {
    auto& row = table.rows.emplace_back();
    row.push_back({printable(short_label(record, subject->subject), 200), Tone::plain});
    for (const auto& column : columns)
      row.push_back(counter_summary_cell(subject->summary, counter_of(*subject, column)));
  }
  return table;
}

}  // namespace infermeter
