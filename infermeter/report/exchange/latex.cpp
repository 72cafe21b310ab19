// LaTeX: the tables of a report, for a paper.
#include <fmt/format.h>

#include <array>
#include <string>
#include <string_view>
#include <utility>

#include "infermeter/report/exchange/exchange.hpp"
#include "infermeter/report/forms/grid.hpp"
#include "infermeter/report/run/group_grid.hpp"
#include "infermeter/report/run/run_line.hpp"
#include "infermeter/text/utf8.hpp"

namespace infermeter {
namespace {

// What LaTeX would act on, and signs of ours that its usual fonts do not have. Marks of an outcome stand before words
// that say the same: they are left out.
constexpr std::array<std::pair<std::string_view, std::string_view>, 28> latex_words = {{
    {"\\", "\\textbackslash{}"},
    {"{", "\\{"},
    {"}", "\\}"},
    {"$", "\\$"},
    {"&", "\\&"},
    {"#", "\\#"},
    {"%", "\\%"},
    {"_", "\\_"},
    {"^", "\\textasciicircum{}"},
    {"~", "\\textasciitilde{}"},
    {"<", "\\textless{}"},
    {">", "\\textgreater{}"},
    {"[", "{[}"},
    {"]", "{]}"},
    {"\"", "''"},
    {"|", "\\textbar{}"},
    {"µ", "\\textmu{}"},
    {"×", "\\texttimes{}"},
    {"·", "\\textperiodcentered{}"},
    {"–", "--"},
    {"…", "\\ldots{}"},
    {"−", "$-$"},
    {"≤", "$\\leq$"},
    {"≥", "$\\geq$"},
    {"→", "$\\rightarrow$"},
    {"✓ ", ""},
    {"✗ ", ""},
    {"⚠ ", ""},
}};

std::string latex_text(std::string_view given) {
  const std::string valid = valid_utf8(given);
  std::string text;
  for (std::string_view rest = valid; !rest.empty();) {
    const auto* word =
        std::ranges::find_if(latex_words, [&](const auto& each) { return rest.starts_with(each.first); });
    if (word != latex_words.end()) {
      text += word->second;
      rest.remove_prefix(word->first.size());
      continue;
    }
    const std::size_t size = next_character(rest).size;
    text += rest.substr(0, size);
    rest.remove_prefix(size);
  }
  return text;
}

void add_latex_row(std::string& text, const auto& cells, auto text_of) {
  for (std::size_t i = 0; i < cells.size(); ++i) text += (i == 0 ? "    " : " & ") + latex_text(text_of(cells[i]));
  text += " \\\\\n";
}

void add_latex_table(std::string& text, const Grid& grid, std::string_view caption) {
  if (grid.rows.empty()) return;
  text += "\n\\begin{table}\n  \\centering\n";
  if (!caption.empty()) text += fmt::format("  \\caption{{{}}}\n", latex_text(caption));
  text += "  \\begin{tabular}{";
  for (const GridColumn& column : grid.columns) text += column.align == Align::right ? 'r' : 'l';
  text += "}\n    \\toprule\n";
  add_latex_row(text, grid.columns, [](const GridColumn& column) { return column.title; });
  text += "    \\midrule\n";
  for (const auto& row : grid.rows) add_latex_row(text, row, [](const Cell& cell) { return cell.text; });
  text += "    \\bottomrule\n  \\end{tabular}\n\\end{table}\n";
}

}  // namespace

std::string render_latex(const RunRecord& record, const Verdict& verdict) {
  std::string text = fmt::format("% {}\n% \\usepackage{{booktabs}}\n", run_line(record));
  if (!record.finished) text += "% Not finished: what there is so far is shown.\n";
  for (const auto& [title, grid] : run_grids(record, verdict)) add_latex_table(text, grid, title);
  return text;
}

}  // namespace infermeter
