// The console report: what was measured where, the answers, a table per group, what to mind.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <span>

#include "infermeter/plan/imported.hpp"
#include "infermeter/report/comparison/text.hpp"
#include "infermeter/report/forms/grid.hpp"
#include "infermeter/report/forms/renderers.hpp"
#include "infermeter/report/forms/sentence.hpp"
#include "infermeter/report/load/load_text.hpp"
#include "infermeter/report/numbers/latency_cells.hpp"
#include "infermeter/report/options.hpp"
#include "infermeter/report/profile/stack_text.hpp"
#include "infermeter/report/profile/text.hpp"
#include "infermeter/report/run/accuracy_text.hpp"
#include "infermeter/report/run/answers.hpp"
#include "infermeter/report/run/counter_table.hpp"
#include "infermeter/report/run/parting_grid.hpp"
#include "infermeter/report/run/row.hpp"
#include "infermeter/report/run/run_line.hpp"
#include "infermeter/report/run/subject_label.hpp"
#include "infermeter/report/tuning/text.hpp"
#include "infermeter/text/counts.hpp"
#include "infermeter/text/quoted.hpp"
#include "infermeter/text/terminal.hpp"
#include "infermeter/verdict/judge.hpp"

namespace infermeter {
namespace {

constexpr std::size_t table_narrowest = 40;
constexpr std::size_t hottest_functions = 10;
constexpr std::size_t widest_text = 100;  // sentences are read badly on longer lines; tables take all there is

template <class R>
struct TableColumn {
  const char* title;
  Cell R::* cell;
  Align align;
  bool if_it_fits = false;
};

constexpr std::array subject_columns = {
    TableColumn<Row>{"Subject", &Row::label, Align::left},
    TableColumn<Row>{"Latency p50", &Row::latency, Align::left},
    TableColumn<Row>{"Speed-up", &Row::speed_up, Align::left},
    TableColumn<Row>{"Throughput", &Row::throughput, Align::right},
    TableColumn<Row>{"Memory", &Row::memory, Align::right},
    TableColumn<Row>{"Size", &Row::size, Align::right},
    TableColumn<Row>{"p99", &Row::p99, Align::right},
    TableColumn<Row>{"Accuracy", &Row::accuracy, Align::left},
    TableColumn<Row>{"Outputs", &Row::outputs, Align::left},
    TableColumn<Row>{"Latencies", &Row::latencies, Align::left, true},
};
using Compared = ComparisonRow;
constexpr std::array comparison_columns = {
    TableColumn<Compared>{"Candidate", &Compared::subject, Align::left},
    TableColumn<Compared>{"Metric", &Compared::metric, Align::left},
    TableColumn<Compared>{"Change", &Compared::change, Align::left},
    TableColumn<Compared>{"Interval, %", &Compared::interval, Align::left},
    TableColumn<Compared>{"p", &Compared::p, Align::right},
    TableColumn<Compared>{"Detectable", &Compared::smallest, Align::right},
};

class TableReport {
 public:
  TableReport(const RunRecord& record, const Verdict& verdict, const RenderOptions& options)
      : record_(record),
        verdict_(verdict),
        color_(options.color),
        width_(std::max(options.width, table_narrowest)),
        text_width_(std::min(width_, widest_text)),
        most_operators_(options.operators) {}

  std::string render() {
    head();
    answer_lines();
    if (verdict_.tuning) {
      tuning_table();
    } else if (!is_imported(record_.plan) || !record_.trials.empty()) {
      for (const auto& group : groups_of(record_, verdict_)) group_table(group);
    }
    load_tables();
    interval_line();
    comparison_table();
    operator_tables();
    notice_lines();
    return std::move(text_);
  }

 private:
  void head() {
    rule('=');
    line(run_line(record_));
    const std::string machine = machine_line(record_);
    if (!machine.empty()) line(machine);
    rule('=');
    if (!record_.finished) line("⚠ not finished: what there is so far is shown", Tone::warning);
    if (record_.plan.subjects.empty()) line("There are no subjects in this run.");
  }

  void group_table(const Group& group) {
    std::vector<Row> rows;
    for (const auto* subject : group.subjects) rows.push_back(row_of(record_, group, *subject));
    const bool under_load = is_under_load(group);
    const LatencyCells latencies = under_load ? LatencyCells{} : latency_cells(record_, group);
    for (std::size_t i = 0; i < latencies.cells.size(); ++i) rows[i].latencies = latencies.cells[i];
    text_ += '\n';
    line(group.title);
    std::vector<TableColumn<Row>> wanted(subject_columns.begin(), subject_columns.end());
    if (group.subjects.size() == 1) {
      std::erase_if(wanted, [](const auto& column) { return column.cell == &Row::speed_up; });
    }
    if (!has_accuracy(group.subjects)) {
      std::erase_if(wanted, [](const auto& column) { return column.cell == &Row::accuracy; });
    }
    if (under_load) {
      std::erase_if(wanted, [](const auto& column) {
        return column.cell == &Row::latency || column.cell == &Row::speed_up || column.cell == &Row::p99;
      });
    }
    if (latencies.cells.empty()) {
      std::erase_if(wanted, [](const auto& column) { return column.cell == &Row::latencies; });
    }
    const bool all_shown = table<Row>(wanted, rows);
    if (all_shown && !latencies.legend.empty()) line(latencies.legend, Tone::faint);
    counters(group);
  }

  void load_tables() {
    for (const Grid& grid : {load_grid(record_, verdict_), generation_grid(record_, verdict_), parting_grid(record_)}) {
      if (grid.rows.empty()) continue;
      text_ += '\n';
      text_ += grid_text(grid, {.width = width_, .rule = text_width_, .color = color_});
    }
  }

  void counters(const Group& group) {
    const CounterTable counted = counter_table(record_, group);
    if (counted.rows.empty()) return;
    Grid grid{.columns = {{"Counters", Align::left}}, .rows = counted.rows};
    for (const auto& title : counted.titles) grid.columns.push_back({title, Align::left});
    text_ += grid_text(grid, {.width = width_, .rule = text_width_, .color = color_});
    if (!counted.left_out.empty()) line(counted.left_out, Tone::faint);
  }

  void tuning_table() {
    text_ += '\n';
    line(tuning_title(record_));
    text_ += grid_text(tuning_grid(record_, verdict_), {.width = width_, .rule = text_width_, .color = color_});
    text_ += '\n';
    for (const std::string& note : tuning_notes(record_, verdict_)) line(note, Tone::faint);
  }

  // The answers say what decides; here is what else differs.
  void comparison_table() {
    if (!verdict_.comparison) return;
    const auto rows = comparison_rows(record_, *verdict_.comparison);
    if (rows.empty()) return;
    text_ += '\n';
    line(comparison_title(record_, *verdict_.comparison));
    std::vector<TableColumn<Compared>> wanted(comparison_columns.begin(), comparison_columns.end());
    if (!verdict_.comparison->paired) wanted.pop_back();  // what pairs can show
    table<Compared>(wanted, rows);
    text_ += '\n';
    line(comparison_legend(*verdict_.comparison), Tone::faint);
  }

  void operator_tables() {
    if (!verdict_.profile) return;
    operator_table(operator_texts(record_, *verdict_.profile, most_operators_));
    operator_table(stack_texts(record_, *verdict_.profile, hottest_functions));
  }

  void operator_table(const std::vector<OperatorText>& texts) {
    for (const OperatorText& text : texts) {
      text_ += '\n';
      line(text.title);
      if (!text.grid.columns.empty())
        text_ += grid_text(text.grid, {.width = width_, .rule = text_width_, .color = color_});
      operators_by_memory(text);
      for (const std::string& one : text.lines) line(one, Tone::faint);
    }
  }

  void operators_by_memory(const OperatorText& text) {
    if (text.memory.rows.empty()) return;
    line("Operators that need most memory, as reported by the runtime");
    text_ += grid_text(text.memory, {.width = width_, .rule = text_width_, .color = color_});
  }

  // Whether all columns were shown.
  template <class R>
  bool table(std::span<const TableColumn<R>> wanted, const std::vector<R>& rows) {
    Grid grid;
    for (const auto& column : wanted) grid.columns.push_back({column.title, column.align, column.if_it_fits});
    for (const auto& row : rows) {
      auto& cells = grid.rows.emplace_back();
      for (const auto& column : wanted) cells.push_back(row.*column.cell);
    }
    const GridLook look{.width = width_, .rule = text_width_, .color = color_};
    text_ += grid_text(grid, look);
    return is_shown(grid, wanted.size() - 1, look);
  }

  // What the brackets mean, once for all tables.
  void interval_line() {
    const auto has_interval = [](const SubjectVerdict& subject) {
      const Metric* metric = subject.summary.metric("latency_p50");
      return metric != nullptr && metric->estimate.interval;
    };
    const auto found = std::ranges::find_if(verdict_.subjects, has_interval);
    if (found == verdict_.subjects.end()) return;
    const Estimate& estimate = found->summary.metric("latency_p50")->estimate;
    std::set<std::string> methods;
    std::set<double> levels;
    bool loaded = false;
    for (const SubjectVerdict& subject : verdict_.subjects) {
      loaded = loaded || subject.load;
      for (const CounterSummary& counter : subject.summary.counters)
        if (counter.estimate.interval) methods.insert(counter.estimate.method);
      for (const Ratio& ratio : subject.ratios)
        if (ratio.estimate.interval) levels.insert(ratio.estimate.interval->confidence * 100);
    }
    std::string method = estimate.method;
    if (!methods.empty())
      method += fmt::format("; of {}: {}", loaded ? "load figures" : "counters", fmt::join(methods, ", or "));
    const double level = estimate.interval->confidence * 100;
    std::string sentence =
        fmt::format("[low, high]: {:.3g} % interval over worker processes ({}).", level, printable(method));
    if (levels.size() > 1 || (levels.size() == 1 && std::abs(*levels.begin() - level) > 0.05))
      sentence += fmt::format(" Of speed-ups: {:.3g} %.", fmt::join(levels, " % or "));
    text_ += '\n';
    line(sentence, Tone::faint);
  }

  void answer_lines() {
    const auto sentences = without_levels(worded_answers(record_, verdict_));
    if (sentences.empty()) return;
    text_ += '\n';
    line("ANSWERS");
    rule('-');
    for (const auto& sentence : sentences) signed_line(sign_of(sentence.tone()), sentence.tone(), sentence.text);
  }

  void notice_lines() {
    const auto all = notices(verdict_);
    if (all.empty()) return;
    text_ += '\n';
    line("CAVEATS");
    rule('-');
    for (const auto& notice : all) notice_line(notice);
  }

  void notice_line(const Notice& notice) {
    const Tone tone = notice.severity == Severity::error     ? Tone::bad
                      : notice.severity == Severity::warning ? Tone::warning
                                                             : Tone::plain;
    if (notice.severity == Severity::info) {
      const std::string more =
          notice.messages.size() > 1 ? fmt::format(" (and {} more)", notice.messages.size() - 1) : "";
      return signed_line(sign_of(tone), tone, fmt::format("{}: {}{}", to_string(notice.id), notice.messages[0], more));
    }
    for (const auto& message : notice.messages) {
      signed_line(sign_of(tone), tone, fmt::format("{}: {}", to_string(notice.id), message));
    }
    text_ += "    " + wrapped("→ " + notice.remedy, text_width_ - 4, 6) + '\n';
  }

  void signed_line(const char* sign, Tone tone, const std::string& sentence) {
    text_ += "  " + painted(sign, tone) + ' ' + wrapped(sentence, text_width_ - 4, 4) + '\n';
  }

  void line(const std::string& content, Tone tone = Tone::plain) {
    text_ += painted(wrapped(content, text_width_, 2), tone) + '\n';
  }

  void rule(char sign) { text_ += std::string(text_width_, sign) + '\n'; }

  [[nodiscard]] std::string painted(const std::string& content, Tone tone) const {
    return infermeter::painted(content, tone, color_);
  }

  const RunRecord& record_;
  const Verdict& verdict_;
  bool color_;
  std::size_t width_, text_width_, most_operators_;
  std::string text_;
};

}  // namespace

std::string render_table(const RunRecord& record, const Verdict& verdict, const RenderOptions& options) {
  return TableReport(record, verdict, options).render();
}

}  // namespace infermeter
