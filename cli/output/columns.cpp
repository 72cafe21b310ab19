#include "cli/output/columns.hpp"

#include <algorithm>

#include "infermeter/text/quoted.hpp"
#include "infermeter/text/terminal.hpp"

namespace infermeter {
namespace {

constexpr std::size_t column_gap = 2, narrowest_column = 10;

}  // namespace

std::string columns(const std::vector<std::vector<std::string>>& rows, std::optional<std::size_t> width) {
  std::vector<std::vector<std::string>> cells;
  std::vector<std::size_t> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    auto& shown = cells.emplace_back();
    for (std::size_t i = 0; i < row.size(); ++i) {
      shown.push_back(printable(row[i]));
      widths[i] = std::max(widths[i], display_width(shown.back()));
    }
  }
  std::size_t before_last = 0;
  for (std::size_t i = 0; i + 1 < widths.size(); ++i) before_last += widths[i] + column_gap;
  std::string text;
  for (const auto& row : cells) {
    const std::size_t begin = text.size();
    for (std::size_t i = 0; i < row.size(); ++i) {
      const bool is_last = i + 1 == widths.size();
      if (is_last && width) text += fitted(row[i], std::max(narrowest_column, *width - std::min(*width, before_last)));
      if (is_last && !width) text += row[i];
      if (!is_last) text += padded(row[i], widths[i] + column_gap, Align::left);
    }
    while (text.size() > begin && text.back() == ' ') text.pop_back();
    text += '\n';
  }
  return text;
}

}  // namespace infermeter
