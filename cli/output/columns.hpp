// Plain columns for lists on the terminal: names of models, back ends, runs.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace infermeter {

// Rows of cells, the first one the headings; the last column is not padded. Cells are made printable. `width`: cells of
// the last column are cut where the line would be wider, but not below 10 columns.
[[nodiscard]] std::string columns(const std::vector<std::vector<std::string>>& rows,
                                  std::optional<std::size_t> width = std::nullopt);

}  // namespace infermeter
