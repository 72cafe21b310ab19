// A run whose data come from files.
#pragma once

#include "infermeter/importing/subjects.hpp"
#include "infermeter/verdict/run_record.hpp"

namespace infermeter {

// Without subjects and trials: nothing is known of the machine.
[[nodiscard]] RunRecord begun_import(const ImportRequest& request);
// All of it or nothing, in the store of the plan's output_dir.
[[nodiscard]] Result<Done> keep_import(const RunRecord& record);

}  // namespace infermeter
