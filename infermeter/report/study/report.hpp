// Reports of a study: the summary of all its parts, and each part by itself. Pure, like those of a run.
#pragma once

#include <string>
#include <vector>

#include "infermeter/report/forms/report_part.hpp"
#include "infermeter/report/options.hpp"
#include "infermeter/report/study/file_line.hpp"
#include "infermeter/verdict/gate/study.hpp"

namespace infermeter {

// Format::csv and html have none: they are rendered as the table.
[[nodiscard]] std::string render_study(const StudyRecord& study, const std::vector<StudyFileLine>& files, Format format,
                                       const RenderOptions& options);

// What was expected of the part, what was predicted, and the report of its run.
[[nodiscard]] std::string render_study_part(const StudiedPart& part, Format format, const RenderOptions& options);

// A part of a study: its run, or its gate, with what was predicted.
[[nodiscard]] ReportPart study_part_of_page(const StudiedPart& part, const RenderOptions& options = {});

}  // namespace infermeter
