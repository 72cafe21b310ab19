// Grid: cells in columns, drawn within a terminal's width.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "infermeter/report/forms/sentence.hpp"
#include "infermeter/text/terminal.hpp"

namespace infermeter {

struct GridColumn {
  std::string title;
  Align align = Align::left;
  bool if_it_fits = false;  // left out where it would not stand beside the columns before it
};

struct Grid {
  std::vector<GridColumn> columns;  // the first names the rows
  std::vector<std::vector<Cell>> rows;
};

struct GridLook {
  std::size_t width = 80;  // that there is
  std::size_t rule = 80;   // of the line under the titles, at least
  bool color = false;
};

// The columns that fit side by side; what does not fit comes below, each block with the first column again.
[[nodiscard]] std::string grid_text(const Grid& grid, const GridLook& look);
// Whether that text has the column `index`.
[[nodiscard]] bool is_shown(const Grid& grid, std::size_t index, const GridLook& look);

[[nodiscard]] std::string painted(const std::string& text, Tone tone, bool color);

}  // namespace infermeter
