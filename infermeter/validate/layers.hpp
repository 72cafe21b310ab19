// layers: where two subjects part, by their intermediate tensors. A front door of the library; infermeter.hpp includes
// it.
#pragma once

#include <array>
#include <atomic>

#include "infermeter/diagnostics/result.hpp"
#include "infermeter/plan/plan.hpp"
#include "infermeter/samples/model_facts.hpp"
#include "infermeter/verdict/layers_record.hpp"
#include "infermeter/worker/launcher.hpp"

namespace infermeter {

// Runs the plan's two subjects once each, on the first item of its data, on copies of their ONNX files that tell every
// intermediate tensor. Of the plan: the subjects, data, seed, limits, sandbox, processors. All tensors of both are held
// in memory: without a limit of the plan's own a worker may take a quarter of what is available.
//
// Not an error: a trial that did not end well. Its record says why, and there is no growth.
[[nodiscard]] Result<LayersRecord> trace_layers(const Plan& plan, const std::array<ModelFacts, 2>& models,
                                                const Launcher& launcher, const std::atomic<int>* interrupt);

}  // namespace infermeter
