// RunRecord: everything that a run leaves, raw. What the store keeps and what every report is made from.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "infermeter/fidelity/compare_outputs.hpp"
#include "infermeter/plan/plan.hpp"
#include "infermeter/samples/environment.hpp"
#include "infermeter/samples/model_facts.hpp"
#include "infermeter/samples/samples.hpp"

namespace infermeter {

struct SubjectOutputs {
  int subject = 0;
  int reference = 0;  // the subject whose outputs were the reference
  OutputComparison comparison;
};

struct RunRecord {
  std::string id;         // "20261121-114200-3f9a": UTC time and four random hex digits
  double created_at = 0;  // seconds since 1970, UTC
  bool finished = false;
  Plan plan;
  Environment environment;
  std::vector<ModelFacts> models;  // one per subject, same order
  std::vector<Samples> trials;     // in the order in which they ran
  std::vector<SubjectOutputs> outputs;
  std::vector<Diagnostic> diagnostics;  // of the whole run
};

}  // namespace infermeter
