#include "infermeter/report/gate/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <vector>

#include "infermeter/report/forms/document_run.hpp"
#include "infermeter/report/forms/render_document.hpp"
#include "infermeter/report/forms/sentence.hpp"
#include "infermeter/report/gate/renderers.hpp"
#include "infermeter/report/gate/text.hpp"
#include "infermeter/report/options.hpp"
#include "infermeter/report/run/run_line.hpp"
#include "infermeter/text/quoted.hpp"
#include "infermeter/text/terminal.hpp"
#include "infermeter/verdict/judge.hpp"

namespace infermeter {
namespace {

constexpr std::size_t gate_gap = 2;
constexpr std::size_t gate_narrowest = 40;
constexpr std::size_t gate_widest = 100;
constexpr std::size_t least_expectation = 20;  // columns of it that are shown however narrow the terminal is

const char* color_of_outcome(Outcome outcome) {
  switch (outcome) {
    case Outcome::pass: return "\x1b[32m";
    case Outcome::fail: return "\x1b[31m";
    case Outcome::inconclusive: return "\x1b[33m";
  }
  return "";
}

// A line of the table: a verdict under its subject.
struct Line {
  const ExpectationVerdict* verdict = nullptr;
  std::string outcome, expectation, value, n;
};

class GateTable {
 public:
  GateTable(const RunRecord& record, const Gate& gate, const GateVerdict& verdict, const RenderOptions& options)
      : record_(record),
        gate_(gate),
        verdict_(verdict),
        color_(options.color),
        width_(std::max(options.width, gate_narrowest)),
        text_width_(std::min(width_, gate_widest)) {
    for (const ExpectationVerdict& one : verdict.verdicts) {
      lines_.push_back(
          {&one, outcome_text(one.outcome), expectation_text(gate, one), value_text(gate, one), n_text(one)});
    }
  }

  std::string render() {
    head();
    measure();
    table();
    for (const Outcome outcome : {Outcome::fail, Outcome::inconclusive}) sentences(outcome);
    notes();
    return std::move(text_);
  }

 private:
  void head() {
    rule('=');
    line(fmt::format("{}: {}", printable(gate_.name, 200), counts_text(verdict_)));
    line(run_line(record_));
    const std::string machine = machine_line(record_), baseline = baseline_text(verdict_);
    if (!machine.empty()) line(machine);
    if (!baseline.empty()) line(baseline);
    rule('=');
    if (!record_.finished) line(fmt::format("⚠ {}", unfinished_text));
  }

  // n gives way first, as the sentences tell it too; then the expectations are cut.
  void measure() {
    for (const Line& one : lines_) {
      outcome_ = std::max(outcome_, display_width(one.outcome));
      expectation_ = std::max(expectation_, display_width(one.expectation));
      value_ = std::max(value_, display_width(one.value));
      n_ = std::max(n_, display_width(one.n));
    }
    const auto total = [&] {
      return gate_gap + outcome_ + gate_gap + expectation_ + gate_gap + value_ + (n_ == 0 ? 0 : gate_gap + n_);
    };
    if (total() > width_) n_ = 0;
    if (total() <= width_) return;
    const std::size_t over = total() - width_;
    expectation_ = std::max(least_expectation, expectation_ > over ? expectation_ - over : 0);
    if (total() > width_) value_ = std::max<std::size_t>(width_ - std::min(width_, total() - value_), 1);
  }

  void table() {
    const auto& subjects = record_.plan.subjects;
    for (std::size_t i = 0; i < subjects.size(); ++i) {
      const auto is_of = [&](const Line& one) { return one.verdict->subject == static_cast<int>(i); };
      if (std::ranges::none_of(lines_, is_of)) continue;
      text_ += '\n' + fitted(printable(subjects[i].label, 200), width_) + '\n';
      for (const Line& one : lines_) {
        if (is_of(one)) row(one);
      }
    }
    const auto has_interval = [](const Line& one) { return one.verdict->interval && !one.verdict->exact; };
    std::set<double> levels;
    for (const Line& one : lines_)
      if (has_interval(one)) levels.insert(one.verdict->interval->confidence * 100);
    if (levels.empty()) return;
    text_ += '\n';
    line(fmt::format("[low, high]: {:.3g} % interval{}; verdicts use the whole interval (docs/gate.md).",
                     fmt::join(levels, " or "), levels.size() > 1 ? " (--format json: which is whose)" : ""));
  }

  void row(const Line& one) {
    std::string cells(gate_gap, ' ');
    cells += painted(padded(one.outcome, outcome_, Align::left), one.verdict->outcome) + std::string(gate_gap, ' ') +
             padded(fitted(one.expectation, expectation_), expectation_, Align::left) + std::string(gate_gap, ' ') +
             padded(fitted(one.value, value_), value_, Align::left);
    if (n_ > 0) cells += std::string(gate_gap, ' ') + one.n;
    cells.erase(cells.find_last_not_of(' ') + 1);
    text_ += cells + '\n';
  }

  void sentences(Outcome outcome) {
    const auto is_meant = [&](const ExpectationVerdict& one) { return one.outcome == outcome; };
    if (std::ranges::none_of(verdict_.verdicts, is_meant)) return;
    text_ += '\n';
    line(outcome == Outcome::fail ? "FAILED" : "INCONCLUSIVE");
    rule('-');
    for (const ExpectationVerdict& one : verdict_.verdicts) {
      if (is_meant(one)) sentence(sign_of(outcome), outcome, about(one) + ": " + why_text(gate_, one));
    }
  }

  void notes() {
    std::vector<std::string> all;
    for (const ExpectationVerdict& one : verdict_.verdicts) {
      for (const std::string& note : one.notes) {
        std::string text = fmt::format("{}: {}", subject_text(record_, one), printable(note, 500));
        if (std::ranges::find(all, text) == all.end()) all.push_back(std::move(text));
      }
    }
    if (all.empty()) return;
    text_ += '\n';
    line("CAVEATS");
    rule('-');
    for (const std::string& note : all) text_ += "  · " + wrapped(note, text_width_ - 4, 4) + '\n';
  }

  static const char* sign_of(Outcome outcome) { return outcome == Outcome::fail ? "✗" : "?"; }

  [[nodiscard]] std::string about(const ExpectationVerdict& one) const {
    return fmt::format("{}, {}", expectation_text(gate_, one), subject_text(record_, one));
  }

  void sentence(const char* sign, Outcome outcome, const std::string& content) {
    text_ += "  " + painted(sign, outcome) + ' ' + wrapped(content, text_width_ - 4, 4) + '\n';
  }

  void line(const std::string& content) { text_ += wrapped(content, text_width_, 2) + '\n'; }
  void rule(char sign) { text_ += std::string(text_width_, sign) + '\n'; }

  [[nodiscard]] std::string painted(const std::string& content, Outcome outcome) const {
    return color_ ? color_of_outcome(outcome) + content + "\x1b[0m" : content;
  }

  const RunRecord& record_;
  const Gate& gate_;
  const GateVerdict& verdict_;
  bool color_;
  std::size_t width_, text_width_;
  std::vector<Line> lines_;
  std::size_t outcome_ = 0, expectation_ = 0, value_ = 0, n_ = 0;  // widths
  std::string text_;
};

}  // namespace

std::string render_gate(const RunRecord& record, const Gate& gate, const GateVerdict& verdict, Format format,
                        const RenderOptions& options) {
  switch (format) {
    case Format::json: return render_gate_json(record, gate, verdict);
    case Format::markdown: return render_gate_markdown(record, gate, verdict);
    case Format::html: return render_html(gate_part(record, judge(record), gate, verdict, options));
    default: break;
  }
  return GateTable(record, gate, verdict, options).render();
}

}  // namespace infermeter
