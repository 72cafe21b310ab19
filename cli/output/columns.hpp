// Plain columns for lists on the terminal: names of models, back ends, runs.
#pragma once

#include <string>
#include <vector>

namespace infermeter {

// Rows of cells, the first one the headings; the last column is not padded. Cells are made printable.
[[nodiscard]] std::string columns(const std::vector<std::vector<std::string>>& rows);

}  // namespace infermeter
