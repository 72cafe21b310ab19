#include "infermeter/report/run/parting_grid.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "infermeter/report/run/subject_label.hpp"
#include "infermeter/text/quoted.hpp"
#include "infermeter/text/utf8.hpp"

namespace infermeter {
namespace {

constexpr int kPartingsShown = 3;
constexpr std::size_t kBeforeWidth = 24, kBehindWidth = 40;  // bytes of a text
constexpr std::size_t kTokensShown = 6;

std::string quoted_begin(std::string_view text) { return fmt::format("\"{}\"", printable(text, kBehindWidth)); }

std::string quoted_end(std::string_view text) {
  std::string_view end = text;
  while (end.size() > kBeforeWidth) end.remove_prefix(next_character(end).size);
  return fmt::format("{}\"{}\"", end.size() < text.size() ? "…" : "", printable(end));
}

// Tokens by their numbers, where no tokenizer could be used.
std::string numbers_of(std::span<const double> tokens) { return fmt::format("{:.0f}", fmt::join(tokens, " ")); }

std::string text_behind(const std::optional<std::string>& text, std::span<const double> tokens) {
  if (text) return quoted_begin(*text);
  if (tokens.empty()) return "–";
  const std::string more = tokens.size() > kTokensShown ? " …" : "";
  return numbers_of(tokens.first(std::min(tokens.size(), kTokensShown))) + more;
}

std::string text_before(const std::optional<std::string>& text, std::span<const double> tokens, bool is_all) {
  if (text) return quoted_end(*text);
  if (tokens.empty()) return "–";
  const std::size_t shown = std::min(tokens.size(), kTokensShown);
  return (is_all && shown == tokens.size() ? "" : "… ") + numbers_of(tokens.last(shown));
}

bool has_texts(const Parting& one) { return one.before_text || one.reference_text || one.candidate_text; }

void add_partings(Grid& grid, const std::vector<OutputDifference>& outputs,
                  const std::function<std::string(std::size_t)>& name) {
  int shown = 0;
  for (const OutputDifference& output : outputs) {
    for (const Parting& one : output.partings) {
      // Rows of integers that are no tokens part as well.
      if (shown == kPartingsShown || (!has_texts(one) && output.name != "tokens")) break;
      ++shown;
      grid.rows.push_back({{name(one.item)},
                           {fmt::format("{} of {} tokens", one.position, one.length)},
                           {text_before(one.before_text, one.before, one.position == one.before.size())},
                           {text_behind(one.reference_text, one.reference)},
                           {text_behind(one.candidate_text, one.candidate)}});
    }
  }
}

Grid grid_of_partings() {
  return {.columns = {{"Answers part", Align::left},
                      {"The same", Align::left},
                      {"Both say", Align::left},
                      {"Baseline goes on", Align::left},
                      {"Subject goes on", Align::left}},
          .rows = {}};
}

}  // namespace

Grid parting_grid(const RunRecord& record) {
  Grid grid = grid_of_partings();
  for (const SubjectOutputs& outputs : record.outputs) {
    const std::string label = printable(label_alone(record, outputs.subject), 200);
    const bool are_several = outputs.comparison.items > 1;
    add_partings(grid, outputs.comparison.outputs,
                 [&](std::size_t item) { return are_several ? fmt::format("{}, item {}", label, item) : label; });
  }
  return grid;
}

Grid parting_grid(const std::vector<OutputDifference>& outputs, const std::function<std::string(std::size_t)>& name) {
  Grid grid = grid_of_partings();
  add_partings(grid, outputs, name);
  return grid;
}

}  // namespace infermeter
