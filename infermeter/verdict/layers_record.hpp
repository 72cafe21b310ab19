// What was seen of two subjects' intermediate tensors: who they are, on what they were run, and where they part.
#pragma once

#include <string>

#include "infermeter/fidelity/layer_growth.hpp"
#include "infermeter/plan/plan.hpp"
#include "infermeter/samples/model_graph.hpp"
#include "infermeter/samples/samples.hpp"

namespace infermeter {

struct LayersRecord {
  Subject reference, candidate;
  Samples reference_trial, candidate_trial;
  std::string item;     // of the data: "synthetic 0", a file's name
  std::string sandbox;  // the level in force (verdict/sandbox_in_force.hpp)
  ModelGraph graph;     // of the reference's file, without shapes; empty: it could not be read
  LayerGrowth growth;
  double created_at = 0;   // seconds since 1970, UTC
  std::string hostname{};  // where the two ran
};

}  // namespace infermeter
