// check_run: what can be known to be wrong with a plan on this machine before anything is measured, for all subjects at
// once: back ends with their devices, precisions and options, model files, dimensions, data, labels.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "infermeter/diagnostics/problems.hpp"
#include "infermeter/models/resolve.hpp"
#include "infermeter/run/run_context.hpp"

namespace infermeter {

// What the trials are to be for.
struct CheckedUse {
  bool is_timed = true;      // false: outputs only, so that an inference may have any number of items
  std::int64_t perturb = 0;  // as in DataOptions
  double noise = 0.01;
  // What is wrong with one subject is no problem of all: RunCheck::refusals has it.
  bool by_subject = false;
};

struct RunCheck {
  Problems problems;
  // RunContext::models of the run to come, so that no file is read twice.
  std::map<std::string, ModelFacts> models;
  // By subject, with its dimensions and batch size in place. nullopt: only the back end can tell.
  std::vector<std::optional<OnnxPorts>> ports;
  // By subject: why it cannot be measured; "": it can. Only where `by_subject` asks for it.
  std::vector<std::string> refusals;
};

// Asks each back end once, in a process of its own, all at the same time (0.1 to 0.5 s); writes nothing but models of
// the zoo into the cache. Subjects that the embedding program measures itself are taken as they are.
[[nodiscard]] RunCheck check_run(const Plan& plan, const RunContext& context, const CheckedUse& use = {});

// The sentence for a back end that is not among `names`.
[[nodiscard]] Error unknown_backend(const std::string& name, const std::vector<std::string>& names);

}  // namespace infermeter
