// The console's report of a validation.
#include <algorithm>
#include <array>

#include "infermeter/report/forms/document_validation.hpp"
#include "infermeter/report/forms/render_document.hpp"
#include "infermeter/report/forms/sentence.hpp"
#include "infermeter/report/options.hpp"
#include "infermeter/report/validation/parts.hpp"
#include "infermeter/report/validation/report.hpp"
#include "infermeter/text/terminal.hpp"

namespace infermeter {
namespace {

constexpr std::size_t kNarrowest = 40, kWidestText = 100;

class ValidationReport {
 public:
  ValidationReport(const ValidationWords& words, const RenderOptions& options)
      : words_(words),
        color_(options.color),
        width_(std::max(options.width, kNarrowest)),
        text_width_(std::min(width_, kWidestText)) {}

  std::string render() {
    rule('=');
    text_ += painted(wrapped(std::string(sign_of(words_.title.tone)) + ' ' + words_.title.text, text_width_, 2),
                     words_.title.tone, color_) +
             '\n';
    for (const auto& [name, what] : words_.heads) {
      text_ += wrapped(padded(name, 11, Align::left) + what, text_width_, 11) + '\n';
    }
    rule('=');
    grid("BY OUTPUT", words_.outputs);
    grid(words_.samples_title, words_.samples);
    grid("WHERE ANSWERS PART", words_.partings);
    if (!words_.sentences.empty()) text_ += "\nOVERALL\n" + std::string(text_width_, '-') + '\n';
    for (const Sentence& sentence : words_.sentences) {
      text_ += "  " + painted(sign_of(sentence.tone), sentence.tone, color_) + ' ' +
               wrapped(sentence.text, text_width_ - 4, 4) + '\n';
    }
    return std::move(text_);
  }

 private:
  void grid(const std::string& title, const Grid& grid) {
    if (grid.rows.empty()) return;
    text_ += '\n' + title + '\n' + grid_text(grid, {.width = width_, .rule = text_width_, .color = color_});
  }
  void rule(char sign) { text_ += std::string(text_width_, sign) + '\n'; }

  const ValidationWords& words_;
  bool color_;
  std::size_t width_, text_width_;
  std::string text_;
};

}  // namespace

std::string render_validation(const Validation& validation, Format format, const RenderOptions& options,
                              std::size_t worst) {
  if (format == Format::json) return render_validation_json(validation, options.samples);
  if (format == Format::html) return render_html(validation_part(validation));
  const ValidationWords words = validation_words(validation, worst);
  if (format == Format::markdown) return render_validation_markdown(words);
  return ValidationReport(words, options).render();
}

}  // namespace infermeter
