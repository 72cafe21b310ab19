// HTML for notebooks.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "infermeter/report/exchange/exchange.hpp"
#include "infermeter/report/forms/markup.hpp"
#include "infermeter/report/numbers/effect_text.hpp"
#include "infermeter/report/numbers/number_text.hpp"
#include "infermeter/report/overview/effects.hpp"
#include "infermeter/report/run/answers.hpp"
#include "infermeter/report/run/group_grid.hpp"
#include "infermeter/report/run/run_line.hpp"
#include "infermeter/report/validation/parts.hpp"
#include "infermeter/text/counts.hpp"
#include "infermeter/text/quoted.hpp"

namespace infermeter {
namespace {

// Of 4.5 to 1 and more on white and on the dark grounds of notebooks.
std::string_view colour_of(Tone tone) {
  switch (tone) {
    case Tone::good: return "#1a8a3c";
    case Tone::bad: return "#d43c3c";
    case Tone::warning: return "#b26a00";
    default: return "inherit";
  }
}

std::string shown(const std::string& text) {
  constexpr std::size_t longest = 2000;
  return escaped(printable(text, longest));
}

std::string list_of(const std::vector<WordedAnswer>& answers) {
  std::string text = "<ul style=\"list-style:none;padding-left:0\">\n";
  for (const WordedAnswer& one : answers) {
    text += fmt::format("<li><span style=\"color:{}\">{}</span> {}</li>\n", colour_of(one.tone()), sign_of(one.tone()),
                        shown(one.text));
  }
  return text + "</ul>\n";
}

std::string table_of(const Grid& grid, const std::string& title) {
  const auto align = [&](std::size_t column) { return grid.columns[column].align == Align::right ? "right" : "left"; };
  std::string text = "<table>\n";
  if (!title.empty()) text += fmt::format("<caption style=\"text-align:left\">{}</caption>\n", shown(title));
  text += "<thead><tr>";
  for (std::size_t i = 0; i < grid.columns.size(); ++i) {
    text += fmt::format("<th scope=\"col\" style=\"text-align:{}\">{}</th>", align(i), shown(grid.columns[i].title));
  }
  text += "</tr></thead>\n<tbody>\n";
  for (const auto& row : grid.rows) {
    text += "<tr>";
    for (std::size_t i = 0; i < row.size(); ++i) {
      text += fmt::format("<td style=\"text-align:{};color:{}\">{}</td>", align(i), colour_of(row[i].tone),
                          shown(row[i].text));
    }
    text += "</tr>\n";
  }
  return text + "</tbody></table>\n";
}

std::string caveats_of(const std::vector<Notice>& notices) {
  if (notices.empty()) return "";
  std::string text = fmt::format("<details><summary>{}</summary><ul>\n", counted(notices.size(), "caveat"));
  for (const Notice& notice : notices) {
    for (const std::string& message : notice.messages) text += fmt::format("<li>{}</li>\n", shown(message));
    if (!notice.remedy.empty()) text += fmt::format("<li><em>{}</em></li>\n", shown(notice.remedy));
  }
  return text + "</ul></details>\n";
}

// Changes of one metric are drawn on one scale.
class ChangesPicture {
 public:
  ChangesPicture(const std::vector<Effect>& effects, double margin) : margin_(margin) {
    for (const Effect& effect : effects) {
      if (!effect.change || !std::isfinite(*effect.change)) continue;
      if (!drawn_.empty() && effect.metric != drawn_.front()->metric) continue;
      drawn_.push_back(&effect);
      reach(*effect.change);
      if (effect.change_interval) {
        // An interval that shows nothing is cut where the estimates end.
        reach(std::clamp(effect.change_interval->low, -1.0, widest));
        reach(std::clamp(effect.change_interval->high, -1.0, widest));
      }
    }
    reach(margin_);
    reach(-margin_);
  }

  [[nodiscard]] std::string svg() const {
    if (drawn_.empty()) return "";
    const std::string title = "change of " + metric_name(drawn_.front()->metric) + ", % of the baseline's value";
    std::string text = fmt::format(
        "<svg role=\"img\" aria-label=\"{0}\" width=\"{1}\" height=\"{2}\" viewBox=\"0 0 {1} {2}\" "
        "style=\"max-width:100%\" font-size=\"12\" fill=\"currentColor\">\n<title>{0}</title>\n",
        escaped(title), width, top + row * static_cast<int>(drawn_.size()) + 2 * row);
    const int bottom = top + row * static_cast<int>(drawn_.size());
    text += fmt::format("<rect x=\"{:.1f}\" y=\"{}\" width=\"{:.1f}\" height=\"{}\" fill-opacity=\"0.12\"/>\n",
                        at(-margin_), top, at(margin_) - at(-margin_), bottom - top);
    text += fmt::format("<line x1=\"{0:.1f}\" x2=\"{0:.1f}\" y1=\"{1}\" y2=\"{2}\" stroke=\"currentColor\"/>\n", at(0),
                        top, bottom);
    for (std::size_t i = 0; i < drawn_.size(); ++i) text += lane(*drawn_[i], top + row * static_cast<int>(i) + row / 2);
    for (const double end : {low_, high_}) {
      text += fmt::format("<text x=\"{:.1f}\" y=\"{}\" text-anchor=\"middle\">{}{} %</text>\n", at(end), bottom + 15,
                          end > 0 ? "+" : "", three_digits(100 * end));
    }
    text += fmt::format("<text x=\"{:.1f}\" y=\"{}\" text-anchor=\"middle\">{}</text>\n", (at(low_) + at(high_)) / 2,
                        bottom + 31, escaped(title));
    return text + "</svg>\n";
  }

 private:
  static constexpr int width = 720, labels = 300, top = 4, row = 22, end_room = 40;
  static constexpr double widest = 3;  // four times the baseline's value

  void reach(double value) {
    low_ = std::min(low_, value);
    high_ = std::max(high_, value);
  }
  [[nodiscard]] double at(double change) const {
    const double share = (std::clamp(change, low_, high_) - low_) / std::max(high_ - low_, 1e-9);
    return labels + share * (width - labels - end_room);
  }
  [[nodiscard]] std::string lane(const Effect& effect, int y) const {
    constexpr std::size_t longest = 44;
    std::string name = effect.group.empty() ? effect.label : fmt::format("{}, {}", effect.label, effect.group);
    const std::string whole = shown(name);
    std::string text = fmt::format("<g style=\"color:{}\">\n<text x=\"0\" y=\"{}\"><title>{}</title>{}</text>\n",
                                   colour_of(effect.verdict.tone), y + 4, whole, escaped(printable(name, longest)));
    if (const auto& interval = effect.change_interval) {
      text += fmt::format(
          "<line x1=\"{:.1f}\" x2=\"{:.1f}\" y1=\"{}\" y2=\"{}\" stroke=\"currentColor\" stroke-width=\"2\"/>\n",
          at(interval->low), at(interval->high), y, y);
    }
    return text + fmt::format("<circle cx=\"{:.1f}\" cy=\"{}\" r=\"4\" fill=\"currentColor\"/>\n</g>\n",
                              at(*effect.change), y);
  }

  double margin_;
  std::vector<const Effect*> drawn_;
  double low_ = 0, high_ = 0;
};

}  // namespace

std::string render_notebook(const RunRecord& record, const Verdict& verdict) {
  std::string text = fmt::format("<div>\n<p><strong>{}</strong></p>\n", shown(run_line(record)));
  if (!record.finished) text += "<p>Not finished: what there is so far is shown.</p>\n";
  text += list_of(without_levels(worded_answers(record, verdict)));
  text += ChangesPicture(effects_of(record, verdict), margin_of(record)).svg();
  for (const auto& [title, grid] : run_grids(record, verdict)) text += table_of(grid, title);
  return text + caveats_of(notices(verdict)) + "</div>\n";
}

std::string render_notebook(const Validation& validation) {
  constexpr std::size_t worst = 5;
  const ValidationWords words = validation_words(validation, worst);
  std::string text = fmt::format("<div>\n<p><strong>{}</strong></p>\n", shown(words.title.text));
  text += list_of(worded_answers(validation));
  if (!words.outputs.rows.empty()) text += table_of(words.outputs, "");
  if (!words.samples.rows.empty()) text += table_of(words.samples, words.samples_title);
  return text + caveats_of(notices(diagnostics_of(validation))) + "</div>\n";
}

}  // namespace infermeter
