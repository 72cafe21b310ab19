// One subject measured once, in the process that calls it. Product: the Samples, less the times, which are in the
// block.
#pragma once

#include <memory>

#include "infermeter/trial/machine/memory_probe.hpp"
#include "infermeter/trial/sample_block.hpp"
#include "infermeter/trial/trial_request.hpp"
#include "infermeter_backend.h"

namespace infermeter {

[[nodiscard]] std::unique_ptr<AnyTrial> make_trial(const imb_backend& backend, const TrialRequest& request,
                                                   const TrialHost& host, const SampleBlock& block,
                                                   const MemoryProbe& memory);

}  // namespace infermeter
