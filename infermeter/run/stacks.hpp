// What a profile trial's stacks were sampled at: named, and told by operator.
#pragma once

#include "infermeter/samples/operator_profile.hpp"
#include "infermeter/stacks/name_stacks.hpp"
#include "infermeter/worker/launcher.hpp"

namespace infermeter {

class StackReader {
 public:
  // Moves result.raw_stacks, if there are any, to result.stacks; result.samples gets the diagnostics. `profile`: the
  // trial's; nullptr: it has none.
  void operator()(TrialResult& result, const OperatorProfile* profile);

 private:
  ModuleCache modules_;
};

}  // namespace infermeter
