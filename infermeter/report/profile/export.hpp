// The files that `infermeter report --profile-files` writes: a run's profiles for other tools' viewers, and as text.
#pragma once

#include <string>
#include <vector>

#include "infermeter/diagnostics/result.hpp"
#include "infermeter/report/profile/export_file.hpp"
#include "infermeter/verdict/judge.hpp"
#include "infermeter/verdict/run_record.hpp"

namespace infermeter {

// All names that there can be, but for those in folders: what is to be looked for before anything is written.
[[nodiscard]] std::vector<std::string> profile_export_names();

// Pure. What a run has no data for is left out: call stacks, say; without a profile there are traces of the iterations
// alone. Errors: the run has neither.
[[nodiscard]] Result<std::vector<ProfileExport>> export_profiles(const RunRecord& record);

}  // namespace infermeter
