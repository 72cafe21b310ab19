#include "infermeter/diagnostics/diagnostic.hpp"

#include <array>

#include "infermeter/diagnostics/check.hpp"

namespace infermeter {
namespace {

#define INFERMETER_ROW(id, severity, remedy) \
  DiagnosticInfo { DiagnosticId::id, #id, Severity::severity, remedy }

// In the order of the enumerators. error: the number must not be used as it stands; warning: it may be off, or is not
// what it seems; info: known about, and usually accepted.
constexpr std::array table = {
    // The machine and the moment.
    INFERMETER_ROW(foreign_load, warning,
                   "Stop other programs, or give the trial processors of its own with `cpus` in the plan."),
    INFERMETER_ROW(steal, warning,
                   "Measure on a machine that is not shared, or raise --processes to measure at more times."),
    INFERMETER_ROW(throttled, warning, "Raise the container's CPU quota, or lower --threads to what the quota allows."),
    INFERMETER_ROW(involuntary_switches, info,
                   "Stop other programs, or lower --threads by one so that the system has a processor."),
    INFERMETER_ROW(major_faults, warning, "Raise --warmup, and free memory so that the model's pages stay resident."),
    INFERMETER_ROW(frequency_changed, warning,
                   "Raise --warmup, and set the governor to performance (`cpupower frequency-set -g performance`)."),
    INFERMETER_ROW(more_threads_than_cores, warning, "Lower --threads to the number of usable processors."),
    INFERMETER_ROW(affinity_lost, warning,
                   "Name only usable processors in the plan's `cpus`, or widen the container's CPU set."),
    INFERMETER_ROW(clock_not_tsc, info,
                   "No action is needed above 10 µs per inference; below, measure on a machine with an invariant time "
                   "stamp counter."),
    INFERMETER_ROW(governor_not_performance, warning,
                   "Set the governor to performance: `sudo cpupower frequency-set -g performance`."),
    INFERMETER_ROW(turbo_enabled, info,
                   "Turn turbo off for steadier times: `echo 1 | sudo tee "
                   "/sys/devices/system/cpu/intel_pstate/no_turbo`, or 0 into /sys/devices/system/cpu/cpufreq/boost."),
    INFERMETER_ROW(smt_enabled, info,
                   "Keep --threads at or below the number of cores, or turn SMT off: `echo off | sudo tee "
                   "/sys/devices/system/cpu/smt/control`."),
    INFERMETER_ROW(few_cores, info,
                   "Measure on a machine with more processors, or use --threads 1 so that the system keeps one."),
    INFERMETER_ROW(swap_in_use, warning, "Free memory, and turn swap off while measuring: `sudo swapoff -a`."),
    INFERMETER_ROW(high_load, warning, "Wait until other programs have ended, or stop them."),
    INFERMETER_ROW(virtual_machine, info,
                   "Compare only with runs on the same machine, and raise --processes; measure on bare metal for "
                   "absolute figures."),
    INFERMETER_ROW(no_hardware_counters, info,
                   "Lower kernel.perf_event_paranoid (`sudo sysctl kernel.perf_event_paranoid=1`); in a virtual "
                   "machine, ask the host to expose the counters."),
    INFERMETER_ROW(no_landlock, info,
                   "Use a kernel of 5.13 or newer with Landlock enabled; only --sandbox strict needs it."),
    INFERMETER_ROW(no_seccomp, info, "Use a kernel built with seccomp filters; only --sandbox strict needs them."),
    INFERMETER_ROW(no_memory_reset, info,
                   "Note that the peak includes loading, or measure where /proc/self/clear_refs can be written."),
    INFERMETER_ROW(home_read_only, info,
                   "Set INFERMETER_CACHE to a folder that can be written, so that zoo models are kept."),
    INFERMETER_ROW(
        aslr_disabled, info,
        "Turn it on (`sudo sysctl kernel.randomize_va_space=2`), so that memory layouts of processes are independent."),
    INFERMETER_ROW(low_memory, warning, "Free memory, or lower --batch-sizes."),
    INFERMETER_ROW(debug_build, warning, "Build with `cmake --preset release` before measuring."),
    INFERMETER_ROW(not_isolated, warning,
                   "Give a factory (MODULE:FACTORY) instead of an object: each trial then has a fresh process, and the "
                   "interval covers differences between processes."),
    INFERMETER_ROW(stood_still, warning,
                   "Do not stop or suspend the worker or its machine; measure again, or use the median, which one "
                   "iteration does not affect."),
    // The samples.
    INFERMETER_ROW(too_few_samples, info, "Raise --iterations or --duration."),
    INFERMETER_ROW(
        too_few_processes, warning,
        "Raise --processes to 3 or more (of imported times: give more files); objects of one process have no "
        "interval, factories do."),
    INFERMETER_ROW(outliers_removed, warning, "Use --outliers none to see all samples."),
    INFERMETER_ROW(many_outliers_removed, error,
                   "Use --outliers none: the dropped iterations are part of the model's behaviour here."),
    INFERMETER_ROW(outlier_rule_ignored, warning, "Choose a rule with a larger factor, or --outliers none."),
    INFERMETER_ROW(outliers_marked, info, "Look at the times in order; raise --warmup if they are at the beginning."),
    INFERMETER_ROW(constant_latencies, warning,
                   "Check that the back end really runs the model; no spread can be estimated from equal times."),
    INFERMETER_ROW(non_finite_latencies, error, "Report it with this command; the samples cannot be used."),
    INFERMETER_ROW(samples_partial, warning, "Finish the run with --resume, or raise --run-timeout."),
    INFERMETER_ROW(timer_resolution, warning, "Raise --batch-sizes, so that one inference takes longer."),
    INFERMETER_ROW(iterations_capped, info, "Lower --duration, or set --iterations."),
    INFERMETER_ROW(clock_went_back, error,
                   "Measure on a machine with a reliable clock, and do not migrate the virtual machine "
                   "meanwhile."),
    INFERMETER_ROW(counter_repeated, warning, "Give each counter of the back end a unique name."),
    INFERMETER_ROW(counters_failed, warning,
                   "Mend what counts: of a Python callable, its counters return numbers, or a number and a unit each."),
    INFERMETER_ROW(parts_not_tokens, info, "Compare servers by tpot and output_tokens_rate, which count tokens."),
    INFERMETER_ROW(prompts_repeat, info,
                   "Name a file with more prompts, or send fewer requests: a cache may answer repeated prompts."),
    INFERMETER_ROW(trace_lengths_not_taken, info,
                   "Set the lengths with prompt_tokens= and output_tokens= of a language model; these figures use only "
                   "the times of the trace."),
    // Like for like.
    INFERMETER_ROW(
        precision_differs, warning,
        "Ask for the same --dtype (of language models kv_cache, too) for all subjects, or read the ratio as one "
        "between precisions."),
    INFERMETER_ROW(threads_differ, warning, "Set --threads, so that all subjects run with the same number."),
    INFERMETER_ROW(runtime_version_differs, info,
                   "Read the ratio as one between versions, or name the same library with --backend-library."),
    INFERMETER_ROW(provider_differs, info,
                   "Name the same provider in the subjects' options, or read the ratio as one between providers."),
    INFERMETER_ROW(device_differs, warning, "Set --device to one device for all subjects."),
    INFERMETER_ROW(batch_differs, info,
                   "Compare throughput rather than latency, or set one batch size with --batch-sizes."),
    INFERMETER_ROW(no_batch_axis, info,
                   "If a dimension is the batch, name it, with its size: --batch-axis INPUT=AXIS --batch-sizes N; if "
                   "none is, --batch-axis none."),
    INFERMETER_ROW(batch_axes_told, info, "If it is another dimension, name it: --batch-axis INPUT=AXIS, or none."),
    INFERMETER_ROW(environment_differs, info,
                   "Give all subjects the same --env, or read the ratio as one between environments."),
    INFERMETER_ROW(model_differs, info,
                   "Give all subjects the same model file, or read the ratio as one between models."),
    INFERMETER_ROW(input_differs, warning, "Give all subjects the same --data and --data-seed."),
    INFERMETER_ROW(precision_not_as_asked, warning,
                   "Ask for a --dtype that the device executes; `infermeter backends` lists them."),
    INFERMETER_ROW(threads_not_as_asked, warning, "Set --threads to what the runtime can have, or leave it out."),
    INFERMETER_ROW(one_request_at_a_time, warning,
                   "Leave out the options for throughput, or read these figures as those of one client: several "
                   "requests in flight are not measured."),
    INFERMETER_ROW(
        nodes_disagree, warning,
        "Compare on one kind of node (--constraint), or read the result of each node: the run's is of all of "
        "them together."),
    INFERMETER_ROW(machines_differ, warning,
                   "Compare times within a machine only; sizes, outputs and accuracy can be compared across machines."),
    INFERMETER_ROW(times_imported, warning,
                   "For a decision, measure with infermeter: it interleaves processes and records disturbances."),
    INFERMETER_ROW(import_cut, warning, "Fix what failed, and import the complete file."),
    INFERMETER_ROW(runs_not_interleaved, warning,
                   "Measure both side by side if possible: `infermeter compare A B` cancels drift."),
    // Outputs.
    INFERMETER_ROW(outputs_differ, error,
                   "Find out why before trusting the times: compare with --dtype float32 and a runtime without graph "
                   "optimisations."),
    INFERMETER_ROW(outputs_not_finite, error,
                   "Check the model's weights and its inputs (--data), and try --dtype float32."),
    INFERMETER_ROW(outputs_undecided, warning,
                   "Give the model inputs that its outputs depend on (--data) and its trained weights; with validate, "
                   "--atol sets the difference that is allowed."),
    INFERMETER_ROW(outputs_not_comparable, error,
                   "Compare subjects of the same model, with the same batch size and dimensions."),
    INFERMETER_ROW(
        outputs_not_deterministic, warning,
        "Use --threads 1 or the runtime's deterministic option, and look for random operators in the model."),
    INFERMETER_ROW(
        output_shapes_change, warning,
        "Read the times as a mixture of different work, or fix what decides the shape: the seed of random operators in "
        "the model, or one item of the data at a time (--data-limit 1)."),
    INFERMETER_ROW(outputs_constant, warning,
                   "Check that the model reads its input, and give it inputs of its own kind with --data."),
    INFERMETER_ROW(accuracy_not_told, info, "Give the class of each item of the data with --labels."),
    // Pilots and comparisons.
    INFERMETER_ROW(no_steady_state, warning,
                   "Look at the times of its pilot in the JSON report; quiet the machine, or fix the warm-up with "
                   "--warmup N."),
    INFERMETER_ROW(pilot_failed, warning, "Give --warmup and --iterations, so that no pilot is needed."),
    INFERMETER_ROW(margin_out_of_reach, warning,
                   "Raise --max-pairs or --budget, use --until-resolved, widen --margin, or quiet the machine "
                   "(`infermeter doctor`)."),
    INFERMETER_ROW(pairs_incomplete, warning, "See why trials failed; only complete pairs are compared."),
    INFERMETER_ROW(disturbed_repeated, info,
                   "No action is needed; a quiet machine finishes sooner, and --repeat-disturbed 0 keeps all rounds."),
    INFERMETER_ROW(pairs_dropped, warning, "Leave --drop-disturbed out to see all pairs, or quiet the machine."),
    INFERMETER_ROW(skewed_differences, info,
                   "Trust the direction less than the interval says; more pairs (--max-pairs) decide it."),
    // Requests under load.
    INFERMETER_ROW(load_rate, error,
                   "Lower --rate, or give the subject more resources: threads, streams, more requests at once."),
    INFERMETER_ROW(load_late, error,
                   "Leave the generator its own processor (fewer threads of the subject), or measure a server from "
                   "another machine."),
    INFERMETER_ROW(load_errors, error, "Fix the cause of the errors, or lower --rate or --concurrency."),
    INFERMETER_ROW(load_too_few, error, "Raise --duration or --requests."),
    INFERMETER_ROW(load_grows, error,
                   "Lower --rate: while a queue grows, response times depend only on the length of the run."),
    INFERMETER_ROW(load_gave_up, error, "Lower --rate, or raise the time that a request may take."),
    INFERMETER_ROW(load_outputs, error,
                   "Answers may be mixed up between requests in flight: compare with `infermeter validate`, and with "
                   "--concurrency 1."),
    // Memory over iterations.
    INFERMETER_ROW(memory_leak, error,
                   "Report it to the maintainers of the runtime, with this command; restart long-running "
                   "processes until it is fixed."),
    INFERMETER_ROW(leak_unclear, warning, "Raise --leak-iterations, so that slow growth stands out."),
    // Profiles.
    INFERMETER_ROW(no_operator_profile, warning,
                   "Choose a back end that profiles its operators: docs/profile.md lists them and what each shows."),
    INFERMETER_ROW(profile_too_long, warning,
                   "Give fewer warm-up inferences with --warmup, which the profile contains too, or lower "
                   "--profile-iterations."),
    INFERMETER_ROW(profile_distorted, warning, "Use shares, not times; the times of the timed trials are above."),
    INFERMETER_ROW(profile_cut, info,
                   "Lower --profile-iterations or --warmup, or import the whole file, so that all of them are kept."),
    INFERMETER_ROW(no_stack_profile, info,
                   "Let unprivileged programs sample themselves (kernel.perf_event_paranoid at most 2, no seccomp rule "
                   "against perf_event_open), or do without: --stacks off."),
    INFERMETER_ROW(stacks_by_signal, info,
                   "Let unprivileged programs sample themselves (kernel.perf_event_paranoid at most 2, no seccomp rule "
                   "against perf_event_open): then there are more samples, and whole stacks."),
    INFERMETER_ROW(stacks_not_joined, info, "Use the stacks without operators, or measure again."),
    INFERMETER_ROW(no_python_profile, info,
                   "Install the profiler into the Python environment that hosts the back end, or ask for another one "
                   "(--python-profiler)."),
    INFERMETER_ROW(nodes_not_attributed, info,
                   "Identify these operators by the runtime's own names; differences between runtimes leave them out."),
    // The run.
    INFERMETER_ROW(trial_failed, error,
                   "Read the end of its error output in the report (--format json), fix the cause, and run it again."),
    INFERMETER_ROW(trial_interrupted, warning, "Finish the run with --resume."),
};

#undef INFERMETER_ROW

}  // namespace

std::span<const DiagnosticInfo> all_diagnostics() { return table; }

const DiagnosticInfo& info(DiagnosticId id) {
  const auto index = static_cast<std::size_t>(id);
  INFERMETER_CHECK(index < table.size());
  return table[index];
}

std::string_view to_string(DiagnosticId id) { return info(id).name; }

std::optional<DiagnosticId> diagnostic_from_string(std::string_view name) {
  for (const auto& row : table) {
    if (row.name == name) return row.id;
  }
  return std::nullopt;
}

std::string_view to_string(Severity severity) {
  switch (severity) {
    case Severity::info: return "info";
    case Severity::warning: return "warning";
    case Severity::error: return "error";
  }
  return "error";
}

}  // namespace infermeter
