// What --verbose says: what is used before anything is measured, what each trial did, where everything is.
#pragma once

#include <filesystem>
#include <string>

#include "infermeter/plan/plan.hpp"
#include "infermeter/verdict/run_record.hpp"
#include "infermeter/worker/launcher.hpp"

namespace infermeter {

// Programs and folders, the settings of the plan, and each subject with all of its options. Whole lines.
[[nodiscard]] std::string setting_lines(const Plan& plan, const Launcher& launcher, const std::filesystem::path& cache);

// How long each phase of a trial took, and what was executed. Whole lines.
[[nodiscard]] std::string phase_lines(const Samples& trial);

// The files of models. Whole lines.
[[nodiscard]] std::string file_lines(const RunRecord& record);

}  // namespace infermeter
