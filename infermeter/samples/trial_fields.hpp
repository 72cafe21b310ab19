// The fields of a trial's records: one list for stored trials, workers' messages, reports, the Python module and its
// documentation. A test compares the schema of reports with it.
#pragma once

#include "infermeter/samples/samples.hpp"

namespace infermeter {

// Calls `field(name, &MemoryRecord::member, what it is)` for each. In reports those of bytes are NAME_bytes.
template <class Field>
void memory_fields(const Field& field) {
  field("rss_before_load", &MemoryRecord::rss_before_load, "Resident set before the model is loaded.");
  field("rss_after_load", &MemoryRecord::rss_after_load, "Resident set with the model loaded.");
  field("rss_peak_load", &MemoryRecord::rss_peak_load, "Highest resident set up to the end of the first inference.");
  field("rss_peak_inference", &MemoryRecord::rss_peak_inference, "Highest resident set during warm-up and timed loop.");
  field("pss_after_load", &MemoryRecord::pss_after_load, "Proportional set size with the model loaded.");
  field("pss_after_inference", &MemoryRecord::pss_after_inference, "Proportional set size after the timed loop.");
  field("device_now", &MemoryRecord::device_now, "Of the device, after the timed loop.");
  field("device_peak", &MemoryRecord::device_peak, "Of the device, at its peak since the model was loaded.");
  field("peak_reset", &MemoryRecord::peak_reset, "False: rss_peak_inference includes loading.");
}

// The same of NoiseRecord.
template <class Field>
void noise_fields(const Field& field) {
  field("foreign_cpu", &NoiseRecord::foreign_cpu, "Processors used by others; 1: one whole core.");
  field("steal", &NoiseRecord::steal, "Share of wall time stolen by the hypervisor, per processor.");
  field("own_cpu", &NoiseRecord::own_cpu, "Processors used by the process itself.");
  field("involuntary_switches", &NoiseRecord::involuntary_switches, "Times that it lost its processor to another.");
  field("voluntary_switches", &NoiseRecord::voluntary_switches, "Times that it waited.");
  field("major_faults", &NoiseRecord::major_faults, "Pages that were read from a disk.");
  field("minor_faults", &NoiseRecord::minor_faults, "Pages that were mapped.");
  field("pressure_cpu", &NoiseRecord::pressure_cpu, "Share of time in which some task waited for a processor.");
  field("throttled_s", &NoiseRecord::throttled_s, "Seconds lost to a cgroup's quota.");
  field("frequency_before_hz", &NoiseRecord::frequency_before_hz, "Of the processor, before the loop.");
  field("frequency_after_hz", &NoiseRecord::frequency_after_hz, "Of the processor, after the loop.");
  field("temperature_before_c", &NoiseRecord::temperature_before_c, "Of the hottest sensor, before the loop.");
  field("temperature_after_c", &NoiseRecord::temperature_after_c, "Of the hottest sensor, after the loop.");
  field("threads", &NoiseRecord::threads, "Of the process, after the loop.");
  field("processors", &NoiseRecord::processors, "That it may use.");
}

// The same of ClockRecord; reports and Python do not have what relates it to other clocks.
template <class Field>
void clock_fields(const Field& field) {
  field("name", &ClockRecord::name, "\"tsc\" or \"monotonic\".");
  field("tick_s", &ClockRecord::tick_s, "Seconds per tick.");
  field("read_cost_s", &ClockRecord::read_cost_s, "Seconds that one reading takes.");
}

}  // namespace infermeter
