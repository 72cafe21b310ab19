// The console report: what was measured where, a table per group, the answers, what to mind.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>

#include "infermeter/report/answers.hpp"
#include "infermeter/report/comparison_text.hpp"
#include "infermeter/report/renderers.hpp"
#include "infermeter/report/row.hpp"
#include "infermeter/report/run_line.hpp"
#include "infermeter/report/text.hpp"

namespace infermeter {
namespace {

constexpr std::size_t gap = 2;
constexpr std::size_t narrowest = 40;
constexpr std::size_t widest_text = 100;  // sentences are read badly on longer lines; tables take all there is

template <class R>
struct Column {
  const char* title;
  Cell R::*cell;
  Align align;
  std::size_t width = 0;
};

// The first column is repeated where a table is broken into blocks.
constexpr std::array subject_columns = {
    Column<Row>{"Subject", &Row::label, Align::left},     Column<Row>{"Latency p50", &Row::latency, Align::left},
    Column<Row>{"Speed-up", &Row::speed_up, Align::left}, Column<Row>{"Throughput", &Row::throughput, Align::right},
    Column<Row>{"Memory", &Row::memory, Align::right},    Column<Row>{"Size", &Row::size, Align::right},
    Column<Row>{"p99", &Row::p99, Align::right},          Column<Row>{"Outputs", &Row::outputs, Align::left},
};
using Compared = ComparisonRow;
constexpr std::array comparison_columns = {
    Column<Compared>{"Candidate", &Compared::subject, Align::left},
    Column<Compared>{"Metric", &Compared::metric, Align::left},
    Column<Compared>{"Change", &Compared::change, Align::left},
    Column<Compared>{"Interval, %", &Compared::interval, Align::left},
    Column<Compared>{"p", &Compared::p, Align::right},
    Column<Compared>{"Detectable", &Compared::smallest, Align::right},
};

const char* color_of(Tone tone) {
  switch (tone) {
    case Tone::good: return "\x1b[32m";
    case Tone::warning: return "\x1b[33m";
    case Tone::bad: return "\x1b[31m";
    case Tone::faint: return "\x1b[2m";
    case Tone::plain: return "";
  }
  return "";
}

class TableReport {
 public:
  TableReport(const RunRecord& record, const Verdict& verdict, const RenderOptions& options)
      : record_(record),
        verdict_(verdict),
        color_(options.color),
        width_(std::max(options.width, narrowest)),
        text_width_(std::min(width_, widest_text)) {}

  std::string render() {
    head();
    if (verdict_.comparison) answer_lines();
    for (const auto& group : groups_of(record_, verdict_)) group_table(group);
    interval_line();
    comparison_table();
    if (!verdict_.comparison) answer_lines();
    notice_lines();
    return std::move(text_);
  }

 private:
  void head() {
    rule('=');
    line(run_line(record_));
    const std::string machine = machine_line(record_.environment);
    if (!machine.empty()) line(machine);
    rule('=');
    if (!record_.finished) line("⚠ not finished: what there is so far is shown", Tone::warning);
    if (record_.plan.subjects.empty()) line("There are no subjects in this run.");
  }

  void group_table(const Group& group) {
    std::vector<Row> rows;
    for (const auto* subject : group.subjects) rows.push_back(row_of(record_, group, *subject));
    text_ += '\n';
    line(group.title);
    std::vector<Column<Row>> wanted(subject_columns.begin(), subject_columns.end());
    if (group.subjects.size() == 1) {
      std::erase_if(wanted, [](const auto& column) { return column.cell == &Row::speed_up; });
    }
    table<Row>(wanted, rows);
  }

  // The answers say what decides; here is what else differs.
  void comparison_table() {
    if (!verdict_.comparison) return;
    const auto rows = comparison_rows(record_, *verdict_.comparison);
    if (rows.empty()) return;
    text_ += '\n';
    line(fmt::format("{}, candidate against {}", counted(verdict_.comparison->pairs, "pair", "pairs"),
                     printable(short_label(record_, 0), 120)));
    table<Compared>(comparison_columns, rows);
    text_ += '\n';
    line(fmt::format("* decides; the others are exploratory (p adjusted after Benjamini & Hochberg). Detectable: the "
                     "smallest difference that these pairs show with 80 % power."),
         Tone::faint);
  }

  template <class R>
  void table(std::span<const Column<R>> wanted, const std::vector<R>& rows) {
    for (const auto& block : blocks_of<R>(wanted, rows)) table_block(block, rows);
  }

  // The columns that fit side by side; what does not fit comes below, each block with the labels again.
  template <class R>
  [[nodiscard]] std::vector<std::vector<Column<R>>> blocks_of(std::span<const Column<R>> wanted,
                                                              const std::vector<R>& rows) const {
    Column<R> label = measured(wanted.front(), rows);
    label.width = std::min(label.width, std::max<std::size_t>(12, width_ / 3));
    std::vector<std::vector<Column<R>>> blocks;
    std::size_t used = width_;
    for (const Column<R>& candidate : wanted.subspan(1)) {
      Column<R> column = measured(candidate, rows);
      column.width = std::min(column.width, width_ - label.width - gap);
      if (used + gap + column.width > width_) {
        blocks.push_back({label});
        used = label.width;
      }
      blocks.back().push_back(column);
      used += gap + column.width;
    }
    return blocks;
  }

  template <class R>
  [[nodiscard]] static Column<R> measured(Column<R> column, const std::vector<R>& rows) {
    column.width = display_width(column.title);
    for (const auto& row : rows) column.width = std::max(column.width, display_width((row.*column.cell).text));
    return column;
  }

  template <class R>
  void table_block(const std::vector<Column<R>>& block, const std::vector<R>& rows) {
    std::string titles;
    for (const auto& column : block) append(titles, {column.title, Tone::plain}, column);
    finish(std::move(titles));
    text_ += std::string(std::max(text_width_, width_of(block)), '-') + '\n';
    for (const auto& row : rows) {
      std::string cells;
      for (const auto& column : block) append(cells, row.*column.cell, column);
      finish(std::move(cells));
    }
  }

  template <class R>
  [[nodiscard]] static std::size_t width_of(const std::vector<Column<R>>& block) {
    std::size_t width = 0;
    for (const auto& column : block) width += column.width + (width == 0 ? 0 : gap);
    return width;
  }

  template <class R>
  void append(std::string& cells, const Cell& cell, const Column<R>& column) const {
    if (!cells.empty()) cells.append(gap, ' ');
    const std::string text = fitted(cell.text, column.width);
    const std::string whole = padded(text, column.width, column.align);
    const auto start = whole.find(text);
    cells += whole.substr(0, start) + painted(text, cell.tone) + whole.substr(start + text.size());
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
    text_ += '\n';
    line(fmt::format("[low, high]: {:.0f} % interval over worker processes ({}).", estimate.interval->confidence * 100,
                     printable(estimate.method)),
         Tone::faint);
  }

  void answer_lines() {
    const auto sentences = answers(record_, verdict_);
    if (sentences.empty()) return;
    text_ += '\n';
    line("ANSWERS");
    rule('-');
    for (const auto& sentence : sentences) signed_line(sign_of(sentence.tone), sentence.tone, sentence.text);
  }

  void notice_lines() {
    const auto all = notices(verdict_);
    if (all.empty()) return;
    text_ += '\n';
    line("TO MIND");
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

  void finish(std::string cells) {
    cells.erase(cells.find_last_not_of(' ') + 1);
    text_ += cells + '\n';
  }

  [[nodiscard]] std::string painted(const std::string& content, Tone tone) const {
    const std::string color = color_of(tone);
    return !color_ || color.empty() ? content : color + content + "\x1b[0m";
  }

  const RunRecord& record_;
  const Verdict& verdict_;
  bool color_;
  std::size_t width_, text_width_;
  std::string text_;
};

}  // namespace

std::string render_table(const RunRecord& record, const Verdict& verdict, const RenderOptions& options) {
  return TableReport(record, verdict, options).render();
}

}  // namespace infermeter
