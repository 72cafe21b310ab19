// LoopRecords: memory and noise around a timed loop, for trials and for callables alike.
#pragma once

#include <cstdint>
#include <optional>

#include "infermeter/samples/samples.hpp"
#include "infermeter/trial/machine/energy.hpp"
#include "infermeter/trial/machine/memory_probe.hpp"
#include "infermeter/trial/machine/noise.hpp"
#include "infermeter/trial/sample_block.hpp"
#include "infermeter/trial/timed_loop.hpp"

namespace infermeter {

class LoopRecords {
 public:
  // When the worker begins.
  explicit LoopRecords(int launcher) : noise_(launcher), start_(noise_.quick()) {}

  // Before warm-up: from here on the peak of the resident set is inference's.
  void begin_warmup(const MemoryProbe& memory);
  // After warm-up: touches the pages that the loop needs, and reads the counters last.
  void begin(const SampleBlock& block, const LoopLimits& limits, const MemoryProbe& memory);
  // Fills samples.noise, samples.energy and samples.memory and adds what is to be said about them. `threads_asked` 0:
  // nobody asked.
  void end(const SampleBlock& block, const LoopLimits& limits, const Stopping& stopping, LoopEnd end, int threads_asked,
           const MemoryProbe& memory, Samples& samples);

 private:
  NoiseProbe noise_;
  NoiseReading start_, before_;
  EnergyProbe energy_;
  EnergyReading energy_before_;
  std::size_t own_bytes_ = 0;
  bool was_reset_ = false;
  std::optional<std::uint64_t> warmup_peak_;
};

}  // namespace infermeter
