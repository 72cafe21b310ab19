// One subject measured once, in the process that calls it. Product: the Samples, less the times, which are in the
// block.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "infermeter/data/tensor.hpp"
#include "infermeter/diagnostics/result.hpp"
#include "infermeter/plan/plan.hpp"
#include "infermeter/samples/samples.hpp"
#include "infermeter/trial/machine/memory_probe.hpp"
#include "infermeter/trial/sample_block.hpp"
#include "infermeter_backend.h"

namespace infermeter {

struct TrialRequest {
  Subject subject;  // its backend_library resolved: empty means search
  std::string model_path;
  std::string zoo_name{};
  std::string cache_folder{};  // of the back end alone, where there is one
  Stopping stopping;
  bool time_it = true;  // false: outputs only
  bool keep_outputs = false;
  bool watch_memory = false;     // note the resident memory after each timed iteration
  std::string profile_folder{};  // where the back end is to leave its operator profile; empty: none is made
  bool samples_itself = false;   // in the timed loop it notes where it is, into TrialHost::signal_area
  std::vector<std::string> python_folders;
  std::string folder{};  // the current one of whoever asks for the trial
  int launcher = 0;      // the process that waits for this one: its processor time is not foreign
};

// Whoever has a trial made.
struct TrialHost {
  // The bytes to run on; asked once, when the model is loaded. Never empty.
  std::function<Result<std::vector<ItemValues>>(std::span<const Port> inputs, std::span<const Port> outputs)> data;
  // What is known before the timed loop begins, in case it does not end well. May be empty.
  std::function<void(const Samples&)> keep;
  std::span<std::byte> signal_area{};  // kSignalAreaBytes, if the request samples itself
  // Right before the timed loop and right after it: for whoever looks at the program meanwhile. May be empty.
  std::function<std::vector<Diagnostic>()> before_timed{}, after_timed{};
};

struct TrialOutcome {
  Samples samples;
  std::vector<ItemValues> output_values;  // per data item, if keep_outputs
};

// The subject stays loaded until the trial is destroyed: a runtime that crashes when it closes has then already been
// measured. `memory` was made before a sandbox, if there is one.
class AnyTrial {
 public:
  virtual ~AnyTrial() = default;
  [[nodiscard]] virtual TrialOutcome run() = 0;
};
[[nodiscard]] std::unique_ptr<AnyTrial> make_trial(const imb_backend& backend, const TrialRequest& request,
                                                   const TrialHost& host, const SampleBlock& block,
                                                   const MemoryProbe& memory);

}  // namespace infermeter
