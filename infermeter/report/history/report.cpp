#include "infermeter/report/history/parts.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "infermeter/report/forms/sentence.hpp"
#include "infermeter/report/numbers/effect_text.hpp"
#include "infermeter/report/numbers/interval_text.hpp"
#include "infermeter/report/numbers/number_text.hpp"
#include "infermeter/report/numbers/sparkline.hpp"
#include "infermeter/samples/load/load_counters.hpp"
#include "infermeter/stats/summary/metrics.hpp"
#include "infermeter/text/counts.hpp"
#include "infermeter/text/quoted.hpp"
#include "infermeter/text/terminal.hpp"
#include "infermeter/text/utc_time.hpp"
#include "infermeter/verdict/answers/checklist.hpp"
#include "infermeter/verdict/answers/history_answer.hpp"

namespace infermeter {
namespace {

constexpr std::size_t history_narrowest = 60;
constexpr std::size_t widest = 100;
constexpr std::size_t history_gap = 2;
constexpr std::size_t history_digest_shown = 12;

using What = ContextChange::What;

std::string value_text(const std::string& metric, double value) {
  const MetricKind* kind = metric_kind(metric);
  return figure_text(kind == nullptr ? "" : kind->unit)(value);
}

// "2026-11-21 11:42", or the day alone.
std::string minute(double at) {
  std::string text = utc_time(at).substr(0, 16);
  std::ranges::replace(text, 'T', ' ');
  return text;
}
std::string day(double at) { return utc_time(at).substr(0, 10); }

std::string runs_text(std::size_t count) { return counted(static_cast<std::int64_t>(count), "run", "runs"); }

const Figure& first_after(const History& history, const HistoryChange& change) {
  return history.figures.at(change.point.index);
}

// "this machine (3f9a…: AMD EPYC, build-7)"
std::string machine_text(const HistoryReport& report, const std::string& machine) {
  const auto known = std::ranges::find(report.machines, machine, &MachineName::machine);
  std::vector<std::string> parts{printable(machine, 40)};
  if (known != report.machines.end()) {
    for (const std::string& part : {known->processor, known->hostname}) {
      if (!part.empty()) parts.push_back(printable(part, 60));
    }
  }
  return fmt::format("{}: {}", machine == report.this_machine ? "this machine" : "machine", fmt::join(parts, ", "));
}

std::string hidden_text(const HistoryReport& report) {
  if (report.hidden_runs == 0) return {};
  return fmt::format("{} of other machines {} not shown (--machine all lists them)",
                     runs_text(static_cast<std::size_t>(report.hidden_runs)), report.hidden_runs == 1 ? "is" : "are");
}

std::string nothing_text(std::string_view metric) {
  std::string text = fmt::format("No finished run has a {} here.", metric_name(metric));
  if (load_figure(metric) != nullptr) text += " A load that is not valid, or has too few requests for it, has none.";
  return text;
}

// Rows of cells below titles; columns as wide as their cells.
std::string grid(const std::vector<std::vector<std::string>>& rows, const std::vector<Align>& aligns) {
  std::vector<std::size_t> widths(aligns.size());
  for (const auto& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], display_width(row[i]));
  }
  std::string text;
  for (const auto& row : rows) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      line += std::string(i == 0 ? 0 : history_gap, ' ') + padded(row[i], widths[i], aligns[i]);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + '\n';
  }
  return text;
}

std::string seen_by(const ChangePoint& point) {
  const std::string scan = fmt::format("the scan for levels (|t| {})", three_digits(point.statistic));
  const std::string divisive = fmt::format("E-divisive (p {:.3g})", point.p);
  if (point.by_scan && point.by_e_divisive) return scan + " and " + divisive;
  return point.by_scan ? scan : divisive;
}

std::string context_part(const ContextChange& change) {
  const auto shown = [&](const std::string& value) {
    return printable(change.what == What::model ? value.substr(0, history_digest_shown) : value, 60);
  };
  std::string name;
  switch (change.what) {
    case What::runtime_version: name = "the runtime's version"; break;
    case What::model: name = "the model (SHA-256)"; break;
    case What::infermeter_version: name = "infermeter's version"; break;
    case What::git_commit: name = "the commit"; break;
  }
  const char* where = change.runs_off < 0 ? ", one run before" : change.runs_off > 0 ? ", one run later" : "";
  return fmt::format("{}: {} → {}{}", name, shown(change.before), shown(change.after), where);
}

std::string too_few_text(const History& history) {
  return fmt::format("{} {} too few to look for changes: {} are needed", runs_text(history.figures.size()),
                     history.figures.size() == 1 ? "is" : "are", fewest_runs());
}

std::string none_text(const History& history) {
  return fmt::format("of {:.0f} % or more is seen in {}", 100 * ChangeOptions{}.smallest_change,
                     runs_text(history.figures.size()));
}

std::string alarm_text(const History& history, const HistoryChange& alarm) {
  return fmt::format(
      "since {} it is {} than before, in {}; a history cannot distinguish a slower build from a bad day, so "
      "confirm it",
      day(first_after(history, alarm).created_at), change_text(history, alarm),
      runs_text(history.figures.size() - alarm.point.index));
}

std::string history_text(const History& history, const Answer& answer) {
  switch (answer.kind) {
    case AnswerKind::unknown: return too_few_text(history);
    case AnswerKind::steady: return "no change " + none_text(history);
    case AnswerKind::worse: return alarm_text(history, history.changes.back());
    default: break;
  }
  const HistoryChange& last = history.changes.back();
  return fmt::format("since {} it is {} than before", day(first_after(history, last).created_at),
                     change_text(history, last));
}

class HistoryText {
 public:
  HistoryText(const HistoryReport& report, const HistoryEntry& entry, std::size_t width)
      : report_(report),
        history_(entry.history),
        confirmation_(entry.confirmation),
        width_(std::clamp(width, history_narrowest, widest)) {}

  std::string render() {
    head();
    chart();
    if (!history_.too_few) level_table();
    change_lines();
    alarm_lines();
    return std::move(text_);
  }

 private:
  void head() {
    rule('=');
    line(fmt::format("{}: {}, {}", printable(history_.series), metric_name(history_.metric), span_text()));
    line(machine_text(report_, history_.machine));
    rule('=');
  }

  [[nodiscard]] std::string span_text() const {
    const auto& figures = history_.figures;
    std::string text = runs_text(figures.size());
    if (!figures.empty()) {
      const std::string first = day(figures.front().created_at), last = day(figures.back().created_at);
      text += first == last ? " on " + first : fmt::format(" from {} to {}", first, last);
    }
    if (history_.left_out > 0) text += fmt::format("; {} with a value of 0 left out", history_.left_out);
    if (history_.disturbed > 0) text += fmt::format("; {} left out, disturbed by other work", history_.disturbed);
    return text;
  }

  void chart() {
    if (history_.figures.empty()) return;
    std::vector<double> values;
    for (const Figure& figure : history_.figures) values.push_back(figure.value);
    const auto [low, high] = std::ranges::minmax(values);
    const std::size_t columns = std::min(values.size(), width_ - 2);
    text_ += "\n  " + sparkline(values, columns) + '\n';
    if (const auto marks = marks_below(columns); !marks.empty()) text_ += "  " + marks + '\n';
    line(fmt::format("  a column is {}; lowest {}, highest {}",
                     columns == values.size() ? "a run" : "the median of neighbouring runs",
                     value_text(history_.metric, low), value_text(history_.metric, high)));
  }

  // '^' under the column that holds the first run of a new level.
  [[nodiscard]] std::string marks_below(std::size_t columns) const {
    std::string marks(columns, ' ');
    for (const HistoryChange& change : history_.changes) {
      // The column whose runs begin at or before this one: the inverse of column · runs / columns.
      const std::size_t runs = history_.figures.size();
      marks[((change.point.index + 1) * columns - 1) / runs] = '^';
    }
    return marks.erase(marks.find_last_not_of(' ') + 1);
  }

  void level_table() {
    std::vector<std::vector<std::string>> rows{{"Since (UTC)", "Run", "Runs", "Level", "Spread"}};
    for (const Level& level : history_.levels) {
      const Figure& first = history_.figures.at(level.begin);
      rows.push_back({minute(first.created_at), printable(first.run, 40), std::to_string(level.end - level.begin),
                      value_text(history_.metric, std::exp(level.mean_log)),
                      fmt::format("{:.2f} %", 100 * std::expm1(level.sd))});
    }
    text_ += '\n' + grid(rows, {Align::left, Align::left, Align::right, Align::right, Align::right});
  }

  void change_lines() {
    title("CHANGES");
    if (history_.too_few) return sentence(Tone::faint, too_few_text(history_));
    if (history_.changes.empty()) return sentence(Tone::plain, "none " + none_text(history_));
    for (const HistoryChange& change : history_.changes) change_line(change);
  }

  void change_line(const HistoryChange& change) {
    const Figure& first = first_after(history_, change);
    sentence(change.worse ? Tone::warning : Tone::good,
             fmt::format("{}, run {}: {} than before; seen by {}", minute(first.created_at), printable(first.run, 40),
                         change_text(history_, change), seen_by(change.point)));
    if (change.context.empty()) return;
    text_ += "    " + wrapped("what else changed there: " + context_text(change), width_ - 4, 6) + '\n';
  }

  void alarm_lines() {
    const HistoryChange* alarm = history_.alarm();
    if (alarm == nullptr) return;
    title("ALARM");
    sentence(Tone::bad, alarm_text(history_, *alarm));
    if (!confirmation_) return;
    if (confirmation_->command.empty()) {
      text_ += "    " + wrapped("→ " + printable(confirmation_->why_not, 1000), width_ - 4, 6) + '\n';
    } else {
      // On one line, to be copied.
      text_ += "    → " + printable(confirmation_->command, 4000) + '\n';
    }
  }

  void title(const char* name) {
    text_ += '\n';
    line(name);
    rule('-');
  }
  void sentence(Tone tone, const std::string& content) {
    text_ += fmt::format("  {} {}\n", sign_of(tone), wrapped(content, width_ - 4, 4));
  }
  void line(const std::string& content) { text_ += wrapped(content, width_, 2) + '\n'; }
  void rule(char sign) { text_ += std::string(width_, sign) + '\n'; }

  const HistoryReport& report_;
  const History& history_;
  const std::optional<Confirmation>& confirmation_;
  std::size_t width_;
  std::string text_;
};

std::string last_change(const History& history) {
  if (history.too_few) return "too few runs";
  if (history.changes.empty()) return "none";
  const HistoryChange& change = history.changes.back();
  const double share = 100 * change.point.change;
  return fmt::format("{} {}{} %, {}", sign_of(change.worse ? Tone::bad : Tone::good), share < 0 ? "-" : "+",
                     three_digits(std::abs(share)), day(first_after(history, change).created_at));
}

std::vector<std::string> list_row(const HistoryReport& report, const History& history, bool with_machine) {
  std::vector<std::string> row{printable(history.series, 200)};
  if (with_machine) {
    row.push_back(history.machine == report.this_machine ? "this" : printable(history.machine, 40));
  }
  const bool empty = history.figures.empty();
  row.push_back(std::to_string(history.figures.size()));
  row.push_back(empty ? "" : day(history.figures.back().created_at));
  row.push_back(empty ? "" : value_text(history.metric, history.figures.back().value));
  row.push_back(last_change(history));
  return row;
}

// What the other columns leave, for the names; never less than can be recognised.
void fit_names(std::vector<std::vector<std::string>>& rows, std::size_t width) {
  std::vector<std::size_t> widths(rows.front().size());
  for (const auto& row : rows) {
    for (std::size_t i = 1; i < row.size(); ++i) widths[i] = std::max(widths[i], display_width(row[i]));
  }
  std::size_t taken = 0;
  for (std::size_t i = 1; i < widths.size(); ++i) taken += widths[i] + history_gap;
  std::vector<std::string> names;
  for (const auto& row : rows) names.push_back(row[0]);
  names = fitted_apart(names, std::max<std::size_t>(20, width > taken ? width - taken : 0));
  for (std::size_t i = 0; i < rows.size(); ++i) rows[i][0] = names[i];
}

}  // namespace

std::string change_text(const History& history, const HistoryChange& change) {
  const double size = std::abs(std::log1p(change.point.change));
  return effect_text(history.metric, change.worse ? size : -size);
}

std::string context_text(const HistoryChange& change) {
  std::vector<std::string> parts;
  for (const ContextChange& part : change.context) parts.push_back(context_part(part));
  return fmt::format("{}", fmt::join(parts, "; "));
}

std::vector<WordedAnswer> worded_answers(const HistoryReport& report) {
  std::vector<WordedAnswer> worded;
  for (std::size_t i = 0; i < report.entries.size(); ++i) {
    const History& history = report.entries[i].history;
    const Answer answer = history_answer(history, static_cast<int>(i));
    worded.push_back({answer, fmt::format("{}, {}, {}: {}", printable(history.series), metric_name(history.metric),
                                          machine_text(report, history.machine), history_text(history, answer))});
  }
  return worded;
}

std::vector<Check> history_checks(const HistoryReport& report) {
  std::vector<const History*> histories;
  for (const HistoryEntry& entry : report.entries) histories.push_back(&entry.history);
  return checklist(histories);
}

std::string render_series_list(const HistoryReport& report, std::size_t width) {
  const std::size_t text_width = std::clamp(width, history_narrowest, widest);
  const bool with_machine = std::ranges::any_of(
      report.entries, [&](const HistoryEntry& entry) { return entry.history.machine != report.this_machine; });
  std::vector<std::vector<std::string>> rows{{"Series", "Runs", "Last run", "Value", "Last change"}};
  std::vector<Align> aligns{Align::left, Align::right, Align::left, Align::right, Align::left};
  if (with_machine) {
    rows[0].insert(rows[0].begin() + 1, "Machine");
    aligns.insert(aligns.begin() + 1, Align::left);
  }
  for (const auto& entry : report.entries) rows.push_back(list_row(report, entry.history, with_machine));
  fit_names(rows, width);
  std::string text;
  if (report.entries.empty()) {
    text = wrapped(nothing_text(report.metric), text_width, 2) + '\n';
  } else {
    text = grid(rows, aligns) + '\n' +
           wrapped(fmt::format("Values are the {}; ✗ a change for the worse, ✓ for the better. `infermeter history "
                               "PART-OF-A-NAME` shows a series in full.",
                               metric_name(report.metric)),
                   text_width, 2) +
           '\n';
  }
  if (const auto hidden = hidden_text(report); !hidden.empty()) text += wrapped(hidden + '.', text_width, 2) + '\n';
  return text;
}

std::string render_history(const HistoryReport& report, std::size_t width) {
  std::string text;
  for (const HistoryEntry& entry : report.entries) {
    text += (text.empty() ? "" : "\n") + HistoryText(report, entry, width).render();
  }
  if (const auto hidden = hidden_text(report); !hidden.empty()) {
    text += '\n' + wrapped(hidden + '.', std::clamp(width, history_narrowest, widest), 2) + '\n';
  }
  return text;
}

}  // namespace infermeter
