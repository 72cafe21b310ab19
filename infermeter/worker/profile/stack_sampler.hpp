// StackSampler: the launcher's side of sampling a worker's stacks, from the worker's start to its end. By
// perf_event_open; where that is refused the worker is to sample itself.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "infermeter/plan/plan.hpp"
#include "infermeter/samples/raw_stacks.hpp"
#include "infermeter/trial/sample_block.hpp"
#include "infermeter/worker/profile/jit_map_file.hpp"
#include "infermeter/worker/profile/perf_sampler.hpp"

namespace infermeter {

class StackSampler {
 public:
  // Before the worker makes threads. `signal_area`: kSignalAreaBytes that the worker shares.
  StackSampler(pid_t process, StackSampling how, const SampleBlock& block, std::span<const std::byte> signal_area);

  // Why the worker has to sample itself; empty: it has not.
  [[nodiscard]] const std::string& refusal() const { return refusal_; }
  // What the worker may write names of generated code to; empty: nothing.
  [[nodiscard]] const std::string& jit_map() const { return jit_map_.path(); }

  void begin();                    // the model has run once: warm-up follows
  void drain();                    // often enough: rings hold two seconds, or half a second of stacks
  void end();                      // the timed iterations are over
  [[nodiscard]] RawStacks take();  // the worker has ended

 private:
  void look_at_process();

  pid_t process_;
  const SampleBlock& block_;
  std::span<const std::byte> signal_area_;
  PerfSampleForm form_;
  std::string refusal_;
  std::optional<PerfSampler> perf_;
  JitMapFile jit_map_;
  RawStacks stacks_;
};

// `later` and of `earlier` what does not overlap it, by address: memory is unmapped and used again.
[[nodiscard]] std::vector<MappedCode> merged_code(std::span<const MappedCode> earlier,
                                                  std::span<const MappedCode> later);

}  // namespace infermeter
