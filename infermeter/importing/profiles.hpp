// Profiles that other tools wrote -> a stored run of its own, from which reports are made as from any other. Nothing is
// measured: it has no timed trials, and its machine is not known.
#pragma once

#include "infermeter/importing/subjects.hpp"
#include "infermeter/verdict/run_record.hpp"

namespace infermeter {

// Read, attributed to the model's nodes, kept in the store of output_dir. Errors name the file and what is wrong with
// it; then nothing is kept.
[[nodiscard]] Result<RunRecord> import_profiles(const ImportRequest& request);

}  // namespace infermeter
