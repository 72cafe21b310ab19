#include "cli/output/columns.hpp"

#include <algorithm>
#include <utility>

#include "infermeter/report/report.hpp"
#include "infermeter/text/quoted.hpp"

namespace infermeter {
namespace {

std::size_t width_of(const std::string& text) {
  return static_cast<std::size_t>(
      std::ranges::count_if(text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

}  // namespace

std::string columns(const std::vector<std::vector<std::string>>& rows) {
  struct Cell {
    std::string text;
    std::size_t width;
  };
  std::vector<std::vector<Cell>> cells;
  std::vector<std::size_t> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    auto& shown = cells.emplace_back();
    for (std::size_t i = 0; i < row.size(); ++i) {
      std::string text = printable(row[i]);
      const std::size_t width = width_of(text);
      widths[i] = std::max(widths[i], width);
      shown.push_back({std::move(text), width});
    }
  }
  std::string text;
  for (const auto& row : cells) {
    const std::size_t begin = text.size();
    for (std::size_t i = 0; i < row.size(); ++i) {
      text += row[i].text;
      if (i + 1 < row.size()) text.append(widths[i] - row[i].width + 2, ' ');
    }
    while (text.size() > begin && text.back() == ' ') text.pop_back();
    text += '\n';
  }
  return text;
}

}  // namespace infermeter
