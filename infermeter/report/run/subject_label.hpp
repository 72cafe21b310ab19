// What a subject is called in a report.
#pragma once

#include <string>

#include "infermeter/verdict/judge.hpp"

namespace infermeter {

// The subject's label without what its group has in common and says elsewhere: "resnet50@openvino,batch=4" is
// "openvino" where all are resnet50 at batch size 4. The label itself where that would make two of the group the same.
[[nodiscard]] std::string short_label(const RunRecord& record, int subject);
// For where no group's title stands above: the short label, or the whole one where another group has the same.
[[nodiscard]] std::string label_alone(const RunRecord& record, int subject);

// "on resnet50 at batch size 1"; of what was imported "on resnet50", as more is not known.
[[nodiscard]] std::string place_text(const RunRecord& record, int subject);

[[nodiscard]] const Subject& subject_of(const RunRecord& record, const SubjectVerdict& verdict);

}  // namespace infermeter
