#include "infermeter/worker/trial_here.hpp"

#include <unistd.h>

#include <filesystem>
#include <memory>

#include "infermeter/data/value_block.hpp"
#include "infermeter/trial/host_process.hpp"
#include "infermeter/trial/machine/clock.hpp"
#include "infermeter/trial/machine/lazy_pages.hpp"
#include "infermeter/trial/machine/memory_probe.hpp"
#include "infermeter/trial/machine/times.hpp"
#include "infermeter/trial/trial.hpp"

namespace infermeter {
namespace {

TrialRequest request_for(const TrialJob& job) {
  std::error_code error;
  return {.subject = job.subject,
          .model_path = job.model_path,
          .zoo_name = job.zoo_name,
          .data_shape = job.data_shape,
          .arrivals_seed = job.arrivals_seed,
          .stopping = job.stopping,
          .time_it = job.time_it,
          .keep_outputs = job.keep_outputs,
          .watch_memory = job.watch_memory,
          .profile_folder = {},
          .python_folders = {},
          .folder = std::filesystem::current_path(error).string(),
          .launcher = getpid()};
}

TrialHost host_for(const TrialHooks& hooks, const SampleBlock& block, TrialResult& result) {
  TrialHost host;
  host.data = [&](std::span<const Port> inputs, std::span<const Port> outputs) -> Result<std::vector<ItemValues>> {
    result.inputs.assign(inputs.begin(), inputs.end());
    result.outputs.assign(outputs.begin(), outputs.end());
    INFERMETER_TRY(const DataSet data, hooks.data(inputs));
    std::vector<ItemValues> items;
    for (const DataItem& item : data.items) items.push_back(item.inputs);
    return items;
  };
  host.keep = [&](const Samples&) {
    if (hooks.interrupt != nullptr && hooks.interrupt->load() != 0) block.header().interrupt = 1;
  };
  return host;
}

void keep_outputs(std::vector<ItemValues> values, TrialResult& result) {
  if (values.empty()) return;
  const std::size_t size = block_size(values);
  std::byte* writable = nullptr;
  result.output_block = Bytes::allocate(size, &writable);
  write_block(values, {writable, size});
  result.output_values = std::move(values);
}

}  // namespace

TrialResult run_trial_here(const imb_backend& backend, const TrialJob& job, const TrialHooks& hooks,
                           const PythonProfileHooks& python) {
  TrialResult result;
  PythonProfile profile(python, job.profile ? job.python : PythonProfiler::off);
  const double started_at = wall_clock_s(), begin_s = monotonic_s();
  const SampleCapacity capacity = SampleBlock::capacity_for(job.stopping, job.time_it, !job.subject.load.empty());
  const LazyPages pages(SampleBlock::bytes_for(capacity));
  const ClockKind clock = best_clock();
  const SampleBlock block = SampleBlock::create(pages.bytes(), capacity, clock, read_pair(clock));
  const MemoryProbe memory;
  {
    TrialHost host = host_for(hooks, block, result);
    host.before_timed = [&profile] { return profile.begin(); };
    host.after_timed = [&profile] { return profile.end(); };
    const auto trial = make_trial(backend, request_for(job), host, block, memory);
    TrialOutcome outcome = trial->run();
    result.samples = std::move(outcome.samples);
    keep_outputs(std::move(outcome.output_values), result);
  }
  if (!profile.stacks().empty())
    result.profile_files.push_back({.name = python_profile_file(job.python), .bytes = profile.stacks()});
  record_times(block, read_pair(clock), result.samples, !job.subject.load.empty());
  result.samples.host_process = host_process_name();
  result.samples.started_at = started_at;
  result.samples.wall_s = monotonic_s() - begin_s;
  result.samples.ready_s.reset();  // there was no process to start
  result.samples.diagnostics.push_back(
      {DiagnosticId::not_isolated, "it was measured in its own process, together with everything else in it", {}});
  if (job.profile && job.stacks != StackSampling::off)
    result.samples.diagnostics.push_back({DiagnosticId::no_stack_profile,
                                          "no call stacks: those of a process of its own are sampled, not of this one",
                                          {}});
  for (Diagnostic& diagnostic : result.samples.diagnostics)
    if (diagnostic.about.empty()) diagnostic.about = job.subject.label;
  return result;
}

}  // namespace infermeter
