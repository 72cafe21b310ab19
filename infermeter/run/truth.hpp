// Outputs that say what is true (fidelity/truth_quality.hpp): how right each trial was, among its counters.
#pragma once

#include <cstddef>

#include "infermeter/verdict/run_record.hpp"
#include "infermeter/worker/launcher.hpp"

namespace infermeter {

// May this subject's outputs hold a truth? Then those of each trial are wanted: one that is right in one process need
// not be in another.
[[nodiscard]] bool may_have_truth(const RunRecord& record, std::size_t subject);

// Adds truth_psnr_db, truth_mse, truth_correlation and truth_ssim, as far as they have a finite value. Their names are
// not those of the figures that hold a subject's outputs against another's.
void note_quality(TrialResult& result);

}  // namespace infermeter
