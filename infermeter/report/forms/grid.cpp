#include "infermeter/report/forms/grid.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace infermeter {
namespace {

constexpr std::size_t grid_gap = 2;

struct PlacedColumn {
  std::size_t index = 0;  // into the grid's
  std::size_t width = 0;
};
using Block = std::vector<PlacedColumn>;

const char* color_of_tone(Tone tone) {
  switch (tone) {
    case Tone::good: return "\x1b[32m";
    case Tone::warning: return "\x1b[33m";
    case Tone::bad: return "\x1b[31m";
    case Tone::faint: return "\x1b[2m";
    case Tone::plain: return "";
  }
  return "";
}

PlacedColumn measured(const Grid& grid, std::size_t index) {
  PlacedColumn column{index, display_width(grid.columns[index].title)};
  for (const auto& row : grid.rows) column.width = std::max(column.width, display_width(row[index].text));
  return column;
}

// What the rows are called: whole where that fits, else cut. Where they cannot be told apart when cut they are
// numbered, and the first block has them as wide as they are beside one column of figures.
struct RowNames {
  std::vector<std::string> first, later;
  std::size_t first_width = 0, later_width = 0;
};

std::size_t widest_of(const std::vector<std::string>& names) {
  std::size_t width = 0;
  for (const std::string& name : names) width = std::max(width, display_width(name));
  return width;
}

RowNames row_names(const Grid& grid, std::size_t width) {
  const std::size_t most = std::max<std::size_t>(12, width / 3);
  std::vector<std::string> names;
  for (const auto& row : grid.rows) names.push_back(row.front().text);
  const std::size_t natural = measured(grid, 0).width;
  if (natural <= most) return {names, names, natural, natural};
  if (const auto cut = cut_apart(names, most)) return {*cut, *cut, most, most};
  const std::size_t digits = std::to_string(names.size()).size();
  for (std::size_t i = 0; i < names.size(); ++i) names[i] = fmt::format("{:>{}} {}", i + 1, digits, names[i]);
  const std::size_t figures = grid.columns.size() > 1 ? measured(grid, 1).width + grid_gap : 0;
  const std::size_t room = std::max(most, width > figures ? width - figures : 0);
  const std::size_t first = std::min(widest_of(names), room);
  return {names, names, first, most};
}

std::vector<Block> blocks_of(const Grid& grid, const RowNames& names, std::size_t width) {
  std::vector<Block> blocks;
  std::size_t used = width;
  for (std::size_t index = 1; index < grid.columns.size(); ++index) {
    const PlacedColumn label{0, blocks.empty() ? names.first_width : names.later_width};
    PlacedColumn column = measured(grid, index);
    column.width = std::min(column.width, width - label.width - grid_gap);
    if (used + grid_gap + column.width > width) {
      if (grid.columns[index].if_it_fits) continue;
      blocks.push_back({label});
      used = label.width;
    }
    blocks.back().push_back(column);
    used += grid_gap + column.width;
  }
  return blocks;
}

std::size_t width_of(const Block& block) {
  std::size_t width = 0;
  for (const auto& column : block) width += column.width + (width == 0 ? 0 : grid_gap);
  return width;
}

void append(std::string& line, const Cell& cell, std::size_t width, Align align, bool color) {
  if (!line.empty()) line.append(grid_gap, ' ');
  const std::string text = fitted(cell.text, width);
  const std::string whole = padded(text, width, align);
  const auto start = whole.find(text);
  line += whole.substr(0, start) + painted(text, cell.tone, color) + whole.substr(start + text.size());
}

std::string finished(std::string line) {
  line.erase(line.find_last_not_of(' ') + 1);
  return line + '\n';
}

std::string block_text(const Grid& grid, const Block& block, const std::vector<std::string>& names,
                       const GridLook& look) {
  std::string titles;
  for (const auto& column : block) {
    append(titles, {grid.columns[column.index].title, Tone::plain}, column.width, grid.columns[column.index].align,
           false);
  }
  std::string text = finished(std::move(titles)) + std::string(std::max(look.rule, width_of(block)), '-') + '\n';
  for (std::size_t i = 0; i < grid.rows.size(); ++i) {
    std::string line;
    for (const auto& column : block) {
      Cell cell = grid.rows[i][column.index];
      if (column.index == block.front().index) cell.text = names[i];
      append(line, cell, column.width, grid.columns[column.index].align, look.color);
    }
    text += finished(std::move(line));
  }
  return text;
}

}  // namespace

std::string grid_text(const Grid& grid, const GridLook& look) {
  const RowNames names = row_names(grid, look.width);
  std::string text;
  for (const auto& block : blocks_of(grid, names, look.width)) {
    text += block_text(grid, block, text.empty() ? names.first : names.later, look);
  }
  return text;
}

bool is_shown(const Grid& grid, std::size_t index, const GridLook& look) {
  return std::ranges::any_of(blocks_of(grid, row_names(grid, look.width), look.width), [index](const Block& block) {
    return std::ranges::find(block, index, &PlacedColumn::index) != block.end();
  });
}

std::string painted(const std::string& text, Tone tone, bool color) {
  const std::string code = color ? color_of_tone(tone) : "";
  return code.empty() ? text : code + text + "\x1b[0m";
}

}  // namespace infermeter
