// The job of a trial, as far as plan, subject and model say it.
#pragma once

#include "infermeter/plan/plan.hpp"
#include "infermeter/samples/model_facts.hpp"
#include "infermeter/worker/launcher.hpp"

namespace infermeter {

[[nodiscard]] TrialJob trial_job(const Plan& plan, const Subject& subject, const ModelFacts& model);
// One inference of each data item, whose outputs are wanted and no times.
[[nodiscard]] TrialJob outputs_job(const Plan& plan, const Subject& subject, const ModelFacts& model);

}  // namespace infermeter
