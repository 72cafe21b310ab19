#include "infermeter/report/variants/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "infermeter/report/forms/document_run.hpp"
#include "infermeter/report/forms/render_document.hpp"
#include "infermeter/report/forms/sentence.hpp"
#include "infermeter/report/options.hpp"
#include "infermeter/report/run/answers.hpp"
#include "infermeter/report/run/run_line.hpp"
#include "infermeter/report/variants/table.hpp"
#include "infermeter/text/quoted.hpp"
#include "infermeter/text/terminal.hpp"
#include "infermeter/verdict/judge.hpp"

namespace infermeter {
namespace {

constexpr std::size_t variants_narrowest = 40, variants_widest = 100;

class VariantsText {
 public:
  VariantsText(const RunRecord& record, const VariantSet& set, const VariantsFigures& figures,
               const RenderOptions& options)
      : record_(record),
        set_(set),
        figures_(figures),
        color_(options.color),
        width_(std::max(options.width, variants_narrowest)),
        text_width_(std::min(width_, variants_widest)) {}

  std::string render(const Verdict& verdict) {
    rule('=');
    line(fmt::format("VARIANTS of {}", printable(set_.model, 200)));
    line(run_line(record_));
    if (const std::string machine = machine_line(record_); !machine.empty()) line(machine);
    rule('=');
    if (!record_.finished) line("⚠ not finished: what there is so far is shown");
    text_ += '\n';
    text_ += grid_text(variants_grid(set_, figures_), {.width = width_, .rule = text_width_, .color = color_});
    text_ += '\n';
    line(
        "Output error: relative L2 distance to the baseline's outputs, of the output in which it is largest. "
        "[low, high]: 95 % intervals over worker processes.");
    front();
    recommendations();
    made();
    headed("LEFT OUT", set_.notes);
    notices(verdict);
    return std::move(text_);
  }

 private:
  void front() {
    std::vector<std::string> lines;
    for (const WordedAnswer& one : worded(figures_, front_answers(figures_))) lines.push_back(one.text);
    headed("PARETO FRONT", lines);
  }

  void recommendations() {
    bool is_first = true;
    for (const VariantFigures& one : figures_.variants) {
      const auto sentences = sentences_of(record_, set_, one);
      if (sentences.empty()) continue;
      if (is_first) heading("RECOMMENDATIONS");
      if (!is_first) text_ += '\n';
      is_first = false;
      line(printable(one.entry->label, 100) + ":");
      for (const Sentence& sentence : sentences) signed_line(sentence.tone, sentence.text);
    }
  }

  void made() {
    std::vector<std::string> lines;
    for (const VariantFigures& one : figures_.variants) {
      if (one.model == nullptr || one.model->made.empty()) continue;
      lines.push_back(fmt::format("{}: {}; {}", printable(one.entry->label, 100), printable(one.model->made, 300),
                                  printable(one.model->path, 500)));
    }
    headed("HOW THEY WERE MADE", lines);
  }

  void notices(const Verdict& verdict) {
    const auto all = notices_of_variants(verdict);
    if (all.empty()) return;
    heading("CAVEATS");
    for (const Notice& notice : all) {
      const Tone tone = notice.severity == Severity::error     ? Tone::bad
                        : notice.severity == Severity::warning ? Tone::warning
                                                               : Tone::plain;
      const std::string more =
          notice.messages.size() > 1 ? fmt::format(" (and {} more)", notice.messages.size() - 1) : "";
      signed_line(tone, fmt::format("{}: {}{}", to_string(notice.id), notice.messages.front(), more));
    }
  }

  void headed(const char* title, const std::vector<std::string>& lines) {
    if (lines.empty()) return;
    heading(title);
    for (const std::string& one : lines) text_ += "  " + wrapped(one, text_width_ - 2, 4) + '\n';
  }

  void heading(const char* title) {
    text_ += '\n';
    line(title);
    rule('-');
  }

  void signed_line(Tone tone, const std::string& sentence) {
    text_ += "  " + painted(sign_of(tone), tone, color_) + ' ' + wrapped(sentence, text_width_ - 4, 4) + '\n';
  }

  void line(const std::string& content) { text_ += wrapped(content, text_width_, 2) + '\n'; }
  void rule(char sign) { text_ += std::string(text_width_, sign) + '\n'; }

  const RunRecord& record_;
  const VariantSet& set_;
  const VariantsFigures& figures_;
  bool color_;
  std::size_t width_, text_width_;
  std::string text_;
};

}  // namespace

std::string render_variants(const RunRecord& record, const Verdict& verdict, const VariantSet& set, Format format,
                            const RenderOptions& options) {
  if (format == Format::html) return render_html(variants_part(record, verdict, set, options));
  if (format != Format::table && format != Format::json && format != Format::markdown) {
    return render(record, verdict, format, options);
  }
  const VariantsFigures figures = figures_of_variants(record, verdict, set);
  if (format == Format::json) return render_variants_json(record, verdict, set, figures);
  if (format == Format::markdown) return render_variants_markdown(record, verdict, set, figures);
  return VariantsText(record, set, figures, options).render(verdict);
}

int exit_code_of_variants(const Verdict& verdict, const VariantSet& set) {
  constexpr int differ = 1;
  if (set.entries.empty()) return verdict.exit_code;
  for (const auto& subject : set.entries.front().subjects) {
    const auto found = std::ranges::find_if(
        verdict.subjects, [&](const SubjectVerdict& one) { return subject && one.subject == *subject; });
    const bool measured = found != verdict.subjects.end() && found->summary.trials_ok > 0;
    if (!measured && verdict.exit_code != differ) return verdict.exit_code;
  }
  return 0;
}

}  // namespace infermeter
