#include "infermeter/report/run/parting_grid.hpp"

#include <fmt/format.h>

#include <array>
#include <optional>
#include <string_view>
#include <utility>

#include "infermeter/report/run/subject_label.hpp"
#include "infermeter/text/quoted.hpp"
#include "infermeter/text/utf8.hpp"

namespace infermeter {
namespace {

constexpr int kPartingsShown = 3;
constexpr std::size_t kBeforeWidth = 24, kBehindWidth = 40;  // bytes of a text

std::string text_behind(const std::optional<std::string>& text) {
  return text ? fmt::format("\"{}\"", printable(*text, kBehindWidth)) : "–";
}

std::string text_before(std::string_view text) {
  std::string_view end = text;
  while (end.size() > kBeforeWidth) end.remove_prefix(next_character(end).size);
  return fmt::format("{}\"{}\"", end.size() < text.size() ? "…" : "", printable(end));
}

void add_partings(Grid& grid, const std::vector<OutputDifference>& outputs,
                  const std::function<std::string(std::size_t)>& name) {
  int shown = 0;
  for (const OutputDifference& output : outputs) {
    for (const Parting& one : output.partings) {
      if (!one.before_text || shown == kPartingsShown) break;
      ++shown;
      grid.rows.push_back({{name(one.item)},
                           {fmt::format("{} of {} tokens", one.position, one.length)},
                           {text_before(*one.before_text)},
                           {text_behind(one.reference_text)},
                           {text_behind(one.candidate_text)}});
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
