// Times that other tools measured -> a stored run of its own, judged by the same statistics as far as the files allow:
// the machine, the settings and the outputs are not known, and what was compared did not run side by side.
#pragma once

#include "infermeter/importing/subjects.hpp"
#include "infermeter/verdict/run_record.hpp"

namespace infermeter {

// Each of what a file measured is a subject. Those of the same name in several of `request.subjects` are compared with
// each other; of a single one the commands of hyperfine are, while the benchmarks of other tools each stand alone.
// Errors name the file and what is wrong with it; then nothing is kept.
[[nodiscard]] Result<RunRecord> import_times(const ImportRequest& request);

// Times or profiles, by what is in the first file.
[[nodiscard]] Result<RunRecord> import_files(const ImportRequest& request);

}  // namespace infermeter
