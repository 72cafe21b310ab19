// Reports of where two subjects part, for people and as JSON. Pure, like every report.
#pragma once

#include <cstddef>
#include <string>

#include "infermeter/verdict/layers_record.hpp"

namespace infermeter {

// The answer, the growth of the error along the graph, and the tensors worth a look. Both trials ended well.
[[nodiscard]] std::string render_layers(const LayersRecord& record, std::size_t width, bool color);
// With every matched tensor.
[[nodiscard]] std::string render_layers_json(const LayersRecord& record);

}  // namespace infermeter
