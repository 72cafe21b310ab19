#include "infermeter/report/study/report.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "infermeter/report/forms/document_part.hpp"
#include "infermeter/report/forms/markdown_text.hpp"
#include "infermeter/report/forms/sentence.hpp"
#include "infermeter/report/gate/text.hpp"
#include "infermeter/report/options.hpp"
#include "infermeter/report/run/answers.hpp"
#include "infermeter/report/run/run_line.hpp"
#include "infermeter/report/study/json.hpp"
#include "infermeter/report/study/part_answers.hpp"
#include "infermeter/text/quoted.hpp"
#include "infermeter/text/terminal.hpp"
#include "infermeter/verdict/judge.hpp"

namespace infermeter {
namespace {

constexpr std::size_t study_narrowest = 40, study_widest = 100;
constexpr std::size_t longest_title = 200;

// How many expectations of all parts had which outcome.
GateVerdict verdict_counts(const StudyRecord& study) {
  GateVerdict all;
  for (const StudiedPart& part : study.parts) {
    all.passed += part.verdict.passed;
    all.failed += part.verdict.failed;
    all.inconclusive += part.verdict.inconclusive;
  }
  return all;
}

std::string study_title(const StudyRecord& study) {
  const std::string title = printable(study.title.empty() ? study.name : study.title, longest_title);
  const std::string preset = study.preset.empty() ? "" : fmt::format(", preset {}", printable(study.preset, 60));
  return fmt::format("{} (study {}{})", title, printable(study.name, 60), preset);
}

std::string outcome_line(const StudyRecord& study) {
  const std::string counts = counts_text(verdict_counts(study));
  return counts.empty() ? "nothing was expected" : "expectations: " + counts;
}

std::string runs_of(const StudiedPart& part) {
  std::string text = "run " + printable(part.record.id, 60);
  for (const std::string& id : part.earlier) text += ", " + printable(id, 60);
  return text;
}

// A line of the checklist: "pass", "speedup >= 3, optimised: 1.81x [1.74, 1.88], 6 pairs: …".
struct CheckLine {
  Outcome outcome{};
  std::string text;
};

std::vector<CheckLine> check_lines(const StudiedPart& part) {
  std::vector<CheckLine> lines;
  for (const ExpectationVerdict& one : part.verdict.verdicts) {
    lines.push_back({one.outcome, fmt::format("{}, {}: {}", expectation_text(part.gate, one),
                                              subject_text(part.record, one), why_text(part.gate, one))});
  }
  return lines;
}

// A part has one counter, or none.
const char* title_of_predictions(const StudiedPart& part) {
  const bool foretells = !part.predictions.empty() && !part.predictions.front().counter.empty();
  return foretells ? "What the counters predict" : "How many times as fast";
}

class StudyText {
 public:
  explicit StudyText(const RenderOptions& options)
      : color_(options.color), width_(std::clamp(options.width, study_narrowest, study_widest)) {}

  std::string summary(const StudyRecord& study, const std::vector<StudyFileLine>& files) {
    rule('=');
    line(study_title(study));
    line(outcome_line(study));
    if (!study.parts.empty()) {
      const std::string machine = machine_line(study.parts.front().record);
      if (!machine.empty()) line(machine);
    }
    rule('=');
    if (!study.about.empty()) line(printable(study.about, 2000));
    for (const StudiedPart& one : study.parts) part(one);
    list(files);
    return std::move(text_);
  }

  std::string one_part(const StudiedPart& one) {
    part(one);
    text_ += '\n';
    text_ += render(one.record, judge(one.record), Format::table, {.color = color_, .width = width_});
    return std::move(text_);
  }

 private:
  void part(const StudiedPart& one) {
    if (!text_.empty()) text_ += '\n';
    line(printable(one.title, longest_title));
    rule('-');
    line(fmt::format("{}: {}", printable(one.name, 60), runs_of(one)));
    if (!one.record.finished) line("⚠ not finished: what there is so far is judged");
    sentences("", run_answers_of(one));
    sentences(title_of_predictions(one), predictions_of(one));
    checks(one);
  }

  void sentences(const char* title, const std::vector<WordedAnswer>& all) {
    if (all.empty()) return;
    if (*title != '\0') line(title);
    for (const WordedAnswer& one : all) item(sign_of(one.tone()), one.text);
  }

  void checks(const StudiedPart& one) {
    const auto lines = check_lines(one);
    if (lines.empty()) return;
    line("Checklist");
    for (const CheckLine& check : lines) item(painted(outcome_text(check.outcome), check.outcome), check.text);
  }

  void list(const std::vector<StudyFileLine>& files) {
    if (files.empty()) return;
    text_ += '\n';
    line("Files");
    rule('-');
    for (const StudyFileLine& file : files) {
      item("·", fmt::format("{}: {}", printable(file.file, 300), printable(file.about, 200)));
    }
  }

  void item(const std::string& sign, const std::string& content) {
    text_ += "  " + sign + ' ' + wrapped(content, width_ - 4, 4) + '\n';
  }
  void line(const std::string& content) { text_ += wrapped(content, width_, 2) + '\n'; }
  void rule(char sign) { text_ += std::string(width_, sign) + '\n'; }

  [[nodiscard]] std::string painted(const std::string& content, Outcome outcome) const {
    if (!color_) return content;
    const char* code = outcome == Outcome::pass ? "\x1b[32m" : outcome == Outcome::fail ? "\x1b[31m" : "\x1b[33m";
    return code + content + "\x1b[0m";
  }

  bool color_;
  std::size_t width_;
  std::string text_;
};

std::string items(const std::vector<WordedAnswer>& all) {
  std::string text;
  for (const WordedAnswer& one : all) text += fmt::format("- {} {}\n", sign_of(one.tone()), markdown_text(one.text));
  return text.empty() ? text : text + '\n';
}

std::string markdown_of(const StudiedPart& part) {
  std::string text = fmt::format("### {}\n\n{}\n\n", markdown_text(printable(part.title, longest_title)),
                                 markdown_text(runs_of(part)));
  text += items(run_answers_of(part));
  if (!part.predictions.empty()) {
    text += fmt::format("{}:\n\n{}", title_of_predictions(part), items(predictions_of(part)));
  }
  const auto lines = check_lines(part);
  for (const CheckLine& check : lines) {
    text += fmt::format("- [{}] {} {}\n", check.outcome == Outcome::pass ? 'x' : ' ', outcome_text(check.outcome),
                        markdown_text(check.text));
  }
  return lines.empty() ? text : text + '\n';
}

std::string markdown_of(const StudyRecord& study, const std::vector<StudyFileLine>& files) {
  std::string text = fmt::format("## {}\n\n{}\n\n", markdown_text(study_title(study)), outcome_line(study));
  for (const StudiedPart& part : study.parts) text += markdown_of(part);
  for (const StudyFileLine& file : files) {
    text += fmt::format("- {}: {}\n", markdown_text(printable(file.file, 300)), markdown_text(printable(file.about)));
  }
  return text;
}

}  // namespace

std::string render_study(const StudyRecord& study, const std::vector<StudyFileLine>& files, Format format,
                         const RenderOptions& options) {
  if (format == Format::json) return render_study_json(study, files);
  if (format == Format::markdown) return markdown_of(study, files);
  return StudyText(options).summary(study, files);
}

std::string render_study_part(const StudiedPart& part, Format format, const RenderOptions& options) {
  return format == Format::json ? render_study_part_json(part, options) : StudyText(options).one_part(part);
}

ReportPart study_part_of_page(const StudiedPart& part, const RenderOptions& options) {
  const Verdict verdict = judge(part.record);
  DocumentPart made = part.gate.expectations.empty()
                          ? document_of_run(part.record, verdict, options)
                          : document_of_gate(part.record, verdict, part.gate, part.verdict, options);
  made.title = printable(part.title, longest_title);
  leave_to_the_metric(part, made.answers);
  const auto predicted = predictions_of(part);
  made.answers.insert(made.answers.end(), predicted.begin(), predicted.end());
  ReportPart report = report_part(made, part.record, options);
  report.text = StudyText({}).one_part(part);
  return report;
}

}  // namespace infermeter
