// What a trial is to do, who has it made, and what comes of it.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "infermeter/data/tensor.hpp"
#include "infermeter/diagnostics/result.hpp"
#include "infermeter/plan/plan.hpp"
#include "infermeter/samples/samples.hpp"

namespace infermeter {

struct TrialRequest {
  Subject subject;  // its backend_library resolved: empty means search
  std::string model_path;
  std::string zoo_name{};
  std::string data_shape{};                        // of the data, for a model that declares no inputs
  std::string cache_folder{};                      // of the back end alone, where there is one
  std::uint64_t arrivals_seed = 0;                 // of the arrivals of an open loop
  std::string server_addresses{}, server_token{};  // as in imb_load; empty: none
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

}  // namespace infermeter
