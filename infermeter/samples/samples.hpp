// Samples: the record that one trial leaves. Every later stage reads it; nothing adds to it afterwards.
// Base units: seconds, bytes. What was not measured is nullopt, never 0.
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "infermeter/diagnostics/diagnostic.hpp"
#include "infermeter/diagnostics/result.hpp"
#include "infermeter/samples/generation/generation_record.hpp"
#include "infermeter/samples/load/load_record.hpp"

namespace infermeter {

// How a trial ended. The names are those of files and reports.
enum class TrialEnd { ok, load_failed, run_failed, crashed, timeout, out_of_memory, interrupted };
[[nodiscard]] std::string_view to_string(TrialEnd end);
[[nodiscard]] std::optional<TrialEnd> trial_end_from_string(std::string_view name);

// How far a worker had come.
enum class Phase { start, load, compile, inputs, first_inference, warmup, timed, outputs, done };
[[nodiscard]] std::string_view to_string(Phase phase);
[[nodiscard]] std::optional<Phase> phase_from_string(std::string_view name);

// What a trial is for. Only timed ones enter a figure of speed or memory.
enum class Purpose { timed, pilot, leak, profile };
[[nodiscard]] std::string_view to_string(Purpose purpose);
[[nodiscard]] std::optional<Purpose> purpose_from_string(std::string_view name);
// Leak and profile trials run otherwise than the timed ones, if only a little: no outputs are taken from them.
[[nodiscard]] constexpr bool has_outputs(Purpose purpose) {
  return purpose == Purpose::timed || purpose == Purpose::pilot;
}

struct MemoryRecord {  // bytes of the worker process
  std::optional<std::uint64_t> rss_before_load;
  std::optional<std::uint64_t> rss_after_load;
  std::optional<std::uint64_t> rss_peak_load;       // highest resident set up to the first inference's end
  std::optional<std::uint64_t> rss_peak_inference;  // highest resident set during warm-up and timed loop
  std::optional<std::uint64_t> pss_after_load, pss_after_inference;  // proportional set size
  std::optional<std::uint64_t> device_now, device_peak;
  bool peak_reset = false;  // false: rss_peak_inference includes loading
};

// What disturbed the worker, over its timed loop (docs/methodology.md says how each is read).
struct NoiseRecord {
  std::optional<double> foreign_cpu;  // processors used by others, 1 = one whole core
  std::optional<double> steal;        // share of wall time stolen by the hypervisor, per processor
  std::optional<double> own_cpu;      // processors used by the worker
  std::optional<std::int64_t> involuntary_switches, voluntary_switches, major_faults, minor_faults;
  std::optional<double> pressure_cpu;  // share of time in which some task waited for a processor
  std::optional<double> throttled_s;   // cgroup quota
  std::optional<double> frequency_before_hz, frequency_after_hz;
  std::optional<double> temperature_before_c, temperature_after_c;
  std::optional<std::int64_t> threads;     // of the worker, after the loop
  std::optional<std::int64_t> processors;  // it may use
};

// Of the timed loop, all packages of the processor together and whatever ran on them (trial/energy.hpp).
struct EnergyRecord {
  std::optional<double> energy_j;
  std::string reason;  // why there is none, one sentence; empty: there is one, or there was no timed loop
};

struct ClockRecord {
  std::string name;        // "tsc" or "monotonic"
  double tick_s = 0;       // seconds per tick
  double read_cost_s = 0;  // one read, measured in this trial
  // Of profile trials: the origin of begin_s on CLOCK_MONOTONIC; how far CLOCK_REALTIME, by which runtimes stamp their
  // events, was ahead of it after the loop, and by how much that had changed since before it.
  std::optional<std::int64_t> origin_monotonic_ns, realtime_ahead_ns, realtime_slip_ns;
};

// What the launcher saw from outside.
struct MemoryPoint {
  double at_s = 0;  // since the worker's start
  Phase phase = Phase::start;
  std::uint64_t rss_bytes = 0;  // the highest of the stretch that it stands for
};
inline constexpr std::size_t kMostMemoryPoints = 1000;  // of a trial; beyond, neighbours of a phase are put together

struct Counter {
  std::string name, unit;
  double value = std::numeric_limits<double>::quiet_NaN();  // also what is read back of an infinity
};

// Of one output of the first data item: enough to notice nonsense without a reference.
struct OutputFacts {
  std::string name, dtype;
  std::vector<std::int64_t> shape;
  std::uint64_t nan_count = 0, inf_count = 0, element_count = 0;
  std::optional<std::int64_t> batch_axis{};  // the dimension that is the batch; nullopt: it is one whole
};

struct Samples {
  // Which trial this is.
  int subject = 0;  // index into the plan
  int process = 0;  // which of the subject's processes
  // The program that the trial ran within, if it had no worker of its own: trials of one program are rounds of a single
  // process. Empty: a worker.
  std::string host_process;
  int position = 0;  // where in the plan's order it ran, from 0; of a side trial: how many side trials ran before it
  Purpose purpose = Purpose::timed;
  double started_at = 0;  // seconds since 1970, UTC
  double wall_s = 0;      // the whole trial, worker's start and end included

  TrialEnd end = TrialEnd::ok;
  Phase phase = Phase::start;  // the last one reached
  int signal = 0;              // that ended it, where one did
  std::string message;         // one sentence; empty if ok
  // Set where the failure is the user's to mend (a wrong option, an input that does not fit): exit code 2, not 3.
  bool usage = false;
  std::string stderr_tail;  // bounded, valid UTF-8

  std::optional<double> open_s;  // the runtime's library
  std::optional<double> load_s;  // the model (and compiling, where the runtime does not tell them apart)
  std::optional<double> compile_s;
  std::optional<double> first_inference_s;
  std::optional<double> ready_s;  // from the worker's exec to its first timed iteration

  // Timed iterations in order: seconds since the trial's own origin. Equal lengths.
  std::vector<double> begin_s, end_s;
  std::vector<double> warmup_begin_s, warmup_end_s;  // the first 4096 of them
  std::int64_t warmup_iterations = 0;                // all; 0 in records that do not have it
  // Set where requests came by a schedule: then begin_s is when each should have started, and they overlap.
  std::optional<LoadRecord> load;
  std::optional<GenerationRecord> generation;  // set where the back end reports parts of answers
  std::int64_t items_per_iteration = 1;        // of an inference: the batch size, 1 where no input has a batch axis

  // Resident memory after each timed iteration, bytes; empty unless it was asked for (Purpose::leak).
  std::vector<double> memory_bytes;
  // Over the worker's life; every 20 ms until warm-up, every 50 ms from there on.
  std::vector<MemoryPoint> memory_timeline;

  ClockRecord clock;
  MemoryRecord memory;
  NoiseRecord noise;
  EnergyRecord energy;
  // As the back end reports it: "dtype", "threads", "device", "provider", "runtime", "runtime_version", "library", …
  std::vector<std::pair<std::string, std::string>> executed;
  std::vector<Counter> counters;
  std::vector<OutputFacts> outputs;
  std::uint64_t input_digest = 0;   // of the first data item's bytes
  std::uint64_t output_digest = 0;  // of the outputs for it, after the timed loop
  std::vector<Diagnostic> diagnostics;

  [[nodiscard]] std::size_t iterations() const { return begin_s.size(); }
  [[nodiscard]] std::int64_t warmups() const { return std::max(warmup_iterations, std::ssize(warmup_begin_s)); }
  [[nodiscard]] std::string executed_value(std::string_view key) const;  // "" if not there
};

[[nodiscard]] double wall_s(std::span<const Samples> trials);           // of all of them
[[nodiscard]] std::vector<double> latencies_s(const Samples& samples);  // end - begin of each timed iteration
[[nodiscard]] bool has_diagnostic(const Samples& samples, DiagnosticId id);

}  // namespace infermeter
