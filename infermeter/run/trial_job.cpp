#include "infermeter/run/trial_job.hpp"

#include "infermeter/data/make_data.hpp"

namespace infermeter {

TrialJob trial_job(const Plan& plan, const Subject& subject, const ModelFacts& model) {
  return {.subject = subject,
          .model_path = model.path,
          .zoo_name = model.from_zoo ? model.name : "",
          .data_shape = shape_of_data(plan.data.source),
          .stopping = plan.stopping,
          .limits = plan.limits,
          .sandbox = plan.sandbox,
          .cpus = plan.cpus,
          .seed = plan.seed.value_or(0),
          .readable = {}};
}

TrialJob outputs_job(const Plan& plan, const Subject& subject, const ModelFacts& model) {
  TrialJob job = trial_job(plan, subject, model);
  job.stopping = {.warmup = 0, .iterations = 1, .duration_s = {}};
  job.time_it = false;
  job.keep_outputs = true;
  return job;
}

}  // namespace infermeter
