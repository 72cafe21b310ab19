#include <fmt/format.h>

#include "infermeter/report/forms/markdown_text.hpp"
#include "infermeter/report/forms/sentence.hpp"
#include "infermeter/report/run/run_line.hpp"
#include "infermeter/report/variants/table.hpp"
#include "infermeter/text/quoted.hpp"
#include "infermeter/verdict/judge.hpp"

namespace infermeter {
namespace {

void variants_markdown_table(std::string& text, const Grid& grid) {
  text += "\n|";
  for (const auto& column : grid.columns) text += ' ' + markdown_text(column.title) + " |";
  text += "\n|";
  for (const auto& column : grid.columns) text += column.align == Align::right ? "--:|" : "---|";
  for (const auto& row : grid.rows) {
    text += "\n|";
    for (const Cell& cell : row) text += ' ' + markdown_text(cell.text) + " |";
  }
  text += '\n';
}

}  // namespace

std::string render_variants_markdown(const RunRecord& record, const Verdict& verdict, const VariantSet& set,
                                     const VariantsFigures& figures) {
  std::string text = fmt::format("## Variants of {}\n\n{}\n", markdown_text(printable(set.model, 200)),
                                 markdown_text(run_line(record)));
  if (!record.finished) text += "\n⚠ Not finished: what there is so far is shown.\n";
  variants_markdown_table(text, variants_grid(set, figures));
  for (const WordedAnswer& one : worded(figures, front_answers(figures))) text += "\n" + markdown_text(one.text) + "\n";
  for (const VariantFigures& one : figures.variants) {
    const auto sentences = sentences_of(record, set, one);
    if (sentences.empty()) continue;
    text += fmt::format("\n**{}**\n\n", markdown_text(printable(one.entry->label, 100)));
    for (const Sentence& sentence : sentences)
      text += fmt::format("- {} {}\n", sign_of(sentence.tone), markdown_text(sentence.text));
  }
  if (!set.notes.empty()) text += "\n**Left out**\n\n";
  for (const std::string& note : set.notes) text += fmt::format("- {}\n", markdown_text(printable(note, 600)));
  const auto all = notices_of_variants(verdict);
  if (!all.empty()) text += "\n**Caveats**\n\n";
  for (const Notice& notice : all)
    text += fmt::format("- {} `{}`: {}\n", to_string(notice.severity), to_string(notice.id),
                        markdown_text(notice.messages.front()));
  return text + "\n" + markdown_text(machine_line(record)) + "\n";
}

}  // namespace infermeter
