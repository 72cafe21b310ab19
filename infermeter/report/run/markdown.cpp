// Markdown for pull requests: the answers, then the tables, then what to mind.
#include <fmt/format.h>

#include "infermeter/plan/imported.hpp"
#include "infermeter/report/comparison/text.hpp"
#include "infermeter/report/forms/markdown_text.hpp"
#include "infermeter/report/forms/renderers.hpp"
#include "infermeter/report/forms/sentence.hpp"
#include "infermeter/report/load/load_text.hpp"
#include "infermeter/report/profile/stack_text.hpp"
#include "infermeter/report/profile/text.hpp"
#include "infermeter/report/run/answers.hpp"
#include "infermeter/report/run/counter_table.hpp"
#include "infermeter/report/run/group_grid.hpp"
#include "infermeter/report/run/parting_grid.hpp"
#include "infermeter/report/run/row.hpp"
#include "infermeter/report/run/run_line.hpp"
#include "infermeter/report/run/subject_label.hpp"
#include "infermeter/report/tuning/text.hpp"
#include "infermeter/text/counts.hpp"
#include "infermeter/text/quoted.hpp"
#include "infermeter/verdict/judge.hpp"

namespace infermeter {
namespace {

// Only some letters of a cell mean something to Markdown; titles are ours.
void add_table(std::string& text, const Grid& grid) {
  if (grid.columns.empty()) return;
  text += "\n|";
  for (const GridColumn& column : grid.columns) text += ' ' + column.title + " |";
  text += "\n|";
  for (const GridColumn& column : grid.columns) text += column.align == Align::right ? "--:|" : "---|";
  for (const auto& row : grid.rows) {
    text += "\n|";
    for (const Cell& cell : row) text += ' ' + markdown_text(cell.text) + " |";
  }
  text += '\n';
}

void add_heading(std::string& text, std::string_view title) { text += fmt::format("\n### {}\n", markdown_text(title)); }

void counter_rows(std::string& text, const RunRecord& record, const Group& group) {
  const CounterTable counted = counter_table(record, group);
  if (counted.rows.empty()) return;
  Grid grid{.columns = {{"Counters"}}, .rows = counted.rows};
  for (const auto& title : counted.titles) grid.columns.push_back({markdown_text(title)});
  add_table(text, grid);
  if (!counted.left_out.empty()) text += '\n' + counted.left_out + '\n';
}

void grid_rows(std::string& text, const Grid& grid) {
  if (!grid.rows.empty()) add_table(text, grid);
}

void group_table(std::string& text, const RunRecord& record, const Group& group) {
  if (!group.title.empty()) add_heading(text, group.title);
  add_table(text, group_grid(record, group));
  counter_rows(text, record, group);
}

void tuning_table(std::string& text, const RunRecord& record, const Verdict& verdict) {
  add_heading(text, tuning_title(record));
  add_table(text, tuning_grid(record, verdict));
  for (const std::string& note : tuning_notes(record, verdict)) text += '\n' + markdown_text(note) + '\n';
}

void comparison_table(std::string& text, const RunRecord& record, const ComparisonVerdict& verdict) {
  add_heading(text, comparison_title(record, verdict));
  add_table(text, comparison_grid(record, verdict));
  text += "\n" + markdown_text(comparison_legend(verdict)) + "\n";
}

void operator_tables(std::string& text, const std::vector<OperatorText>& texts) {
  for (const OperatorText& one : texts) {
    add_heading(text, one.title);
    add_table(text, one.grid);
    for (const std::string& line : one.lines) text += '\n' + markdown_text(line) + '\n';
  }
}

void notice_list(std::string& text, const Verdict& verdict) {
  const auto all = notices(verdict);
  if (all.empty()) return;
  text += "\n**Caveats**\n\n";
  for (const auto& notice : all) {
    for (const auto& message : notice.messages) {
      text += fmt::format("- {} `{}`: {}\n", to_string(notice.severity), to_string(notice.id), markdown_text(message));
    }
    text += fmt::format("  - {}\n", notice.remedy);
  }
}

}  // namespace

std::string render_markdown(const RunRecord& record, const Verdict& verdict) {
  std::string text = "## " + markdown_text(run_line(record)) + "\n\n";
  if (!record.finished) text += "⚠ Not finished: what there is so far is shown.\n\n";
  for (const auto& sentence : without_levels(worded_answers(record, verdict))) {
    text += fmt::format("- {} {}\n", sign_of(sentence.tone()), markdown_text(sentence.text));
  }
  if (verdict.tuning) {
    tuning_table(text, record, verdict);
  } else if (!is_imported(record.plan) || !record.trials.empty()) {
    for (const auto& group : groups_of(record, verdict)) group_table(text, record, group);
  }
  grid_rows(text, load_grid(record, verdict));
  grid_rows(text, generation_grid(record, verdict));
  grid_rows(text, parting_grid(record));
  if (verdict.comparison) comparison_table(text, record, *verdict.comparison);
  if (verdict.profile) {
    constexpr std::size_t most_rows = 10;
    operator_tables(text, operator_texts(record, *verdict.profile, most_rows));
    operator_tables(text, stack_texts(record, *verdict.profile, most_rows));
  }
  notice_list(text, verdict);
  const std::string machine = machine_line(record);
  if (!machine.empty()) text += "\n" + markdown_text(machine) + "\n";
  return text;
}

}  // namespace infermeter
