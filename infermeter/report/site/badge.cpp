// A badge: one line in two boxes, as project pages have them.
#include <fmt/format.h>

#include "infermeter/report/forms/markup.hpp"
#include "infermeter/report/site/words.hpp"
#include "infermeter/text/quoted.hpp"
#include "infermeter/text/terminal.hpp"

namespace infermeter {
namespace {

constexpr std::size_t badge_label_bytes = 60;
constexpr double column_width = 6.6, badge_padding = 6, badge_height = 20, badge_baseline = 14;

// White on each: at least 4.5:1.
std::string_view badge_color(std::string_view tone) {
  return tone == "bad" ? "#b3202b" : tone == "good" ? "#1a7238" : "#566170";
}

// Fonts differ: the text is made to fit its box.
std::string badge_text(std::string_view text, double left, double width) {
  return fmt::format("<text x=\"{:.1f}\" y=\"{}\" textLength=\"{:.1f}\" lengthAdjust=\"spacingAndGlyphs\">{}</text>",
                     left + badge_padding, badge_baseline, width - 2 * badge_padding, escaped(text));
}

double badge_width(std::string_view text) {
  return 2 * badge_padding + column_width * static_cast<double>(display_width(text));
}

}  // namespace

std::string site_badge(const History& history) {
  const SeriesState state = state_of(history);
  const std::string label = printable(history.series, badge_label_bytes);
  const std::string figure = last_figure(history);
  const std::string value = figure.empty() ? std::string(state.word) : fmt::format("{}, {}", figure, state.word);
  const double left = badge_width(label), right = badge_width(value);
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.1f}\" height=\"{1}\" role=\"img\" aria-label=\"{2}\">\n"
      "<title>{2}</title>\n<rect width=\"{0:.1f}\" height=\"{1}\" rx=\"3\" fill=\"#3a424c\"/>\n"
      "<path d=\"M{3:.1f} 0h{4:.1f}a3 3 0 0 1 3 3v14a3 3 0 0 1-3 3h-{4:.1f}z\" fill=\"{5}\"/>\n"
      "<g fill=\"#fff\" font-family=\"Verdana, 'DejaVu Sans', sans-serif\" font-size=\"11\">{6}{7}</g>\n</svg>\n",
      left + right, badge_height, escaped(fmt::format("{}: {}", label, value)), left, right - 3,
      badge_color(state.tone), badge_text(label, 0, left), badge_text(value, left, right));
}

}  // namespace infermeter
