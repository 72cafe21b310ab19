// A validation for a pull request.
#include <fmt/format.h>

#include "infermeter/report/forms/markdown_text.hpp"
#include "infermeter/report/forms/sentence.hpp"
#include "infermeter/report/validation/parts.hpp"

namespace infermeter {
namespace {

std::string grid_table(const Grid& grid) {
  if (grid.rows.empty()) return {};
  std::string titles = "|", rule = "|", rows;
  for (const GridColumn& column : grid.columns) {
    titles += fmt::format(" {} |", column.title);
    rule += column.align == Align::right ? "---:|" : "---|";
  }
  for (const auto& row : grid.rows) {
    rows += "|";
    for (const Cell& cell : row) rows += fmt::format(" {} |", markdown_text(cell.text));
    rows += "\n";
  }
  return fmt::format("{}\n{}\n{}\n", titles, rule, rows);
}

}  // namespace

std::string render_validation_markdown(const ValidationWords& words) {
  std::string text = fmt::format("## {} {}\n\n", sign_of(words.title.tone), markdown_text(words.title.text));
  for (const auto& [name, what] : words.heads) text += fmt::format("- {}: {}\n", name, markdown_text(what));
  text += "\n" + grid_table(words.outputs);
  if (!words.samples.rows.empty()) text += fmt::format("**{}**\n\n{}", words.samples_title, grid_table(words.samples));
  text += grid_table(words.partings);
  for (const Sentence& sentence : words.sentences) {
    text += fmt::format("- {} {}\n", sign_of(sentence.tone), markdown_text(sentence.text));
  }
  return text;
}

}  // namespace infermeter
