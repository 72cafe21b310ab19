// Reports of a validation: for people, for a pull request, for programs. Pure, like those of a run.
#pragma once

#include <cstddef>
#include <string>

#include "infermeter/report/options.hpp"
#include "infermeter/verdict/validation.hpp"

namespace infermeter {

// `worst`: how many samples the table and the Markdown show; JSON has all, unless options.samples is false.
// Format::csv has none: it is rendered as the table.
[[nodiscard]] std::string render_validation(const Validation& validation, Format format, const RenderOptions& options,
                                            std::size_t worst = 5);

// Of recorded outputs; json: docs/schema/recorded.schema.json, any other format is rendered as the table.
[[nodiscard]] std::string render_recorded(const RecordedValidation& validation, Format format);

}  // namespace infermeter
