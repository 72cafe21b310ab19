// Diagnostic: the number stands, but read this. A closed list; each entry names the remedy.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace infermeter {

enum class Severity { info, warning, error };

// One line each in diagnostic.cpp's table, with its severity and its remedy; each has a test that provokes it.
// The names are what files and reports carry: they are never renamed or reused.
enum class DiagnosticId {
  // The machine and the moment.
  foreign_load,             // other programs used the processor during the trial
  steal,                    // the hypervisor gave the processor to others
  throttled,                // a cgroup quota stopped the worker
  involuntary_switches,     // the worker was taken off its processor
  major_faults,             // pages came from disk during the timed loop
  frequency_changed,        // the processor's frequency moved between begin and end
  more_threads_than_cores,  // the subject runs more threads than it has processors
  affinity_lost,            // the processors asked for were not given
  clock_not_tsc,            // the monotonic clock was used: no invariant time stamp counter
  governor_not_performance,
  turbo_enabled,
  smt_enabled,
  few_cores,
  swap_in_use,
  high_load,
  virtual_machine,
  no_hardware_counters,
  no_landlock,
  no_seccomp,
  no_memory_reset,  // the peak of the resident set could not be reset: it includes loading
  home_read_only,
  aslr_disabled,
  low_memory,
  debug_build,   // infermeter itself is not a release build
  not_isolated,  // measured in the process that holds the subject, not in one of its own
  stood_still,   // an outlying iteration in which the worker used no processor time: stopped, frozen or suspended
  // The samples.
  too_few_samples,        // a percentile needs more
  too_few_processes,      // no interval from fewer than two processes
  outliers_removed,       // the user's rule dropped some
  many_outliers_removed,  // and fewer than 80 % are left
  outlier_rule_ignored,   // it would have dropped all
  outliers_marked,
  constant_latencies,
  non_finite_latencies,
  samples_partial,          // the trial ended early: what there is is shown
  timer_resolution,         // the subject is too fast for the clock
  iterations_capped,        // the sample block was full before the duration was over
  clock_went_back,          // the clock's counter did: later iterations are left out
  counter_repeated,         // the back end gave two counters of one name
  counters_failed,          // the back end, or what it runs, could not tell its counters
  parts_not_tokens,         // answers came in pieces of several tokens, or of none
  prompts_repeat,           // a file has fewer prompts than requests asked
  trace_lengths_not_taken,  // of recorded arrivals of language models the times alone are used
  // Like for like.
  precision_differs,
  threads_differ,
  runtime_version_differs,
  provider_differs,
  device_differs,
  batch_differs,
  no_batch_axis,        // an inference is taken for one item, and an input's first dimension is larger
  batch_axes_told,      // it is not the first dimension of every input
  environment_differs,  // the variables that their workers were given
  model_differs,        // not the same model file or weights
  input_differs,        // not the same input bytes
  precision_not_as_asked,
  threads_not_as_asked,
  one_request_at_a_time,  // loaded for several inferences at once, and one at a time was measured
  nodes_disagree,         // what is compared comes out differently on different nodes of a cluster
  machines_differ,        // reports of several machines beside each other
  times_imported,         // of files that other tools wrote: nobody knows whether they took turns
  import_cut,             // some times of a file are left out
  runs_not_interleaved,   // subjects of runs that were measured at different times
  // Outputs.
  outputs_differ,
  outputs_not_finite,
  outputs_undecided,       // within the tolerance, as any values of their size would be
  outputs_not_comparable,  // number, name, shape or type differ
  outputs_not_deterministic,
  output_shapes_change,
  outputs_constant,   // the outputs are the same for different inputs
  accuracy_not_told,  // the data's own labels do not fit the outputs
  // Pilots and comparisons.
  no_steady_state,      // the times of a subject's pilots kept changing
  pilot_failed,         // warm-up and iterations could not be chosen
  margin_out_of_reach,  // the pairs that may run cannot show so small a difference
  pairs_incomplete,     // a process of a pair gave no value
  disturbed_repeated,   // blocks were disturbed, and measured again
  pairs_dropped,        // disturbed, and left out because that was asked for
  skewed_differences,   // the two intervals of the differences do not agree
  // Requests under load: rules of verdict/load/load_validity.hpp.
  load_rate,     // fewer ended per second than came
  load_late,     // the generator issued requests late
  load_errors,   // requests failed
  load_too_few,  // too few requests for the percentile that the scenario is about
  load_grows,    // the queue grew as long as requests came
  load_gave_up,  // requests were still waiting long after the last arrival
  load_outputs,  // answers are not those of one inference after the other
  // Memory over iterations.
  memory_leak,   // it grows with every iteration
  leak_unclear,  // it cannot be determined whether it grows
  // Profiles.
  no_operator_profile,   // the runtime reported nothing about its operators
  profile_too_long,      // its file is, or the profiler ended before the timed iterations
  profile_distorted,     // profiling slowed the inference down: its times are not the timed run's
  profile_cut,           // events are missing
  no_stack_profile,      // no call stack was sampled, though it was asked for
  stacks_by_signal,      // sampled from within, at the kernel's tick
  stacks_not_joined,     // it cannot be determined which operator a stack belongs to
  no_python_profile,     // the profiler of Python that was asked for told nothing
  nodes_not_attributed,  // operators whose place in the model could not be found
  // The run.
  trial_failed,
  trial_interrupted,
};

struct Diagnostic {
  DiagnosticId id{};
  // What was seen, with its figures: "other programs used 41 % of a core". One sentence without the remedy.
  std::string message;
  // Which subject or trial it is about; empty: the whole run.
  std::string about;
};

struct DiagnosticInfo {
  DiagnosticId id{};
  std::string_view name;  // snake_case, as in files
  Severity severity{};
  std::string_view remedy;  // what the reader can do about it
};

[[nodiscard]] std::span<const DiagnosticInfo> all_diagnostics();
[[nodiscard]] const DiagnosticInfo& info(DiagnosticId id);
[[nodiscard]] std::string_view to_string(DiagnosticId id);
[[nodiscard]] std::optional<DiagnosticId> diagnostic_from_string(std::string_view name);
[[nodiscard]] std::string_view to_string(Severity severity);

}  // namespace infermeter
