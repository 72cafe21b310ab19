// A study for programs (docs/schema/study.schema.json).
#pragma once

#include <string>
#include <vector>

#include "infermeter/report/options.hpp"
#include "infermeter/report/study/file_line.hpp"
#include "infermeter/verdict/gate/study.hpp"

namespace infermeter {

[[nodiscard]] std::string render_study_json(const StudyRecord& study, const std::vector<StudyFileLine>& files);
// The part with the whole report of its run; options.samples false: without iterations.
[[nodiscard]] std::string render_study_part_json(const StudiedPart& part, const RenderOptions& options);

}  // namespace infermeter
