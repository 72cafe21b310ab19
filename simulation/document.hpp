// docs/statistics-study.md: the study as Markdown. The same blocks give the same bytes.
#pragma once

#include <string>
#include <vector>

#include "simulation/blocks.hpp"

namespace infermeter::study {

[[nodiscard]] std::string markdown_of(const Block& block);
[[nodiscard]] std::string document(const Families& families, const Effort& effort, const std::vector<Block>& blocks);

}  // namespace infermeter::study
