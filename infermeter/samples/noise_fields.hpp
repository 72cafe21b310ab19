// The fields of NoiseRecord by their names in JSON: one list for stored trials, workers' messages and reports.
#pragma once

#include "infermeter/samples/samples.hpp"

namespace infermeter {

// Calls `field(name, member)` for each; `noise` is a NoiseRecord, const or not.
template <class Field, class Noise>
void visit_noise(const Field& field, Noise& noise) {
  field("foreign_cpu", noise.foreign_cpu);
  field("steal", noise.steal);
  field("own_cpu", noise.own_cpu);
  field("involuntary_switches", noise.involuntary_switches);
  field("voluntary_switches", noise.voluntary_switches);
  field("major_faults", noise.major_faults);
  field("minor_faults", noise.minor_faults);
  field("pressure_cpu", noise.pressure_cpu);
  field("throttled_s", noise.throttled_s);
  field("frequency_before_hz", noise.frequency_before_hz);
  field("frequency_after_hz", noise.frequency_after_hz);
  field("temperature_before_c", noise.temperature_before_c);
  field("temperature_after_c", noise.temperature_after_c);
  field("threads", noise.threads);
  field("processors", noise.processors);
}

}  // namespace infermeter
