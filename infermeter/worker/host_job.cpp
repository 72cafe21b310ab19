#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <memory>
#include <thread>

#include "infermeter/data/value_block.hpp"
#include "infermeter/samples/samples_json.hpp"
#include "infermeter/trial/machine/noise.hpp"
#include "infermeter/trial/signal_sampler.hpp"
#include "infermeter/trial/subject.hpp"
#include "infermeter/worker/profile/python_profile.hpp"
#include "infermeter/worker/wall/shared_memory.hpp"
#include "infermeter/worker/worker.hpp"

namespace infermeter {
namespace {

std::vector<std::string> split(const char* text) {
  std::vector<std::string> parts;
  for (std::string_view rest = text == nullptr ? "" : text; !rest.empty();) {
    const std::size_t comma = std::min(rest.find(','), rest.size());
    parts.emplace_back(rest.substr(0, comma));
    rest.remove_prefix(std::min(comma + 1, rest.size()));
  }
  return parts;
}

std::string text_of(const char* text) { return text == nullptr ? "" : text; }

BackendInfo describe(const imb_runtime_info& info) {
  BackendInfo description;
  description.name = text_of(info.name);
  description.runtime_name = text_of(info.runtime_name);
  description.runtime_version = text_of(info.runtime_version);
  description.library = text_of(info.library);
  description.model_formats = split(info.model_formats);
  description.concurrent_requests = info.concurrent_requests;
  for (std::size_t i = 0; i < info.device_count; ++i) description.devices.push_back(text_of(info.devices[i]));
  for (std::size_t i = 0; i < info.dtype_count; ++i) description.dtypes.push_back(text_of(info.dtypes[i]));
  for (std::size_t i = 0; i < info.option_count; ++i)
    description.options.push_back(
        {text_of(info.options[i].key), text_of(info.options[i].values), text_of(info.options[i].help)});
  return description;
}

Result<Done> host_probe(const imb_backend& backend, const WorkerJob& job, WorkerLink& link) {
  BackendInfo info;
  auto runtime =
      Runtime::open(backend, {job.trial.subject.backend_library, job.trial.python_folders, job.trial.folder});
  if (runtime.ok())
    info = describe(runtime->info());
  else
    info.error = runtime.error().message;
  return send_frame(link.socket, FrameType::info, backend_info_to_json(info));
}

Result<Done> prepare(const imb_backend& backend, const TrialRequest& trial) {
  INFERMETER_TRY(const Runtime runtime,
                 Runtime::open(backend, {trial.subject.backend_library, trial.python_folders, trial.folder}));
  INFERMETER_TRY(LoadPlan plan, plan_load(trial.subject, model_place(trial), runtime.info(), usable_processors()));
  plan.cache_folder = trial.cache_folder;
  plan.preparing = true;
  INFERMETER_TRY(Session session, Session::load(runtime, plan));
  return session.has_compile() ? session.compile() : Done{};
}

Result<Done> host_prepare(const imb_backend& backend, const WorkerJob& job, WorkerLink& link) {
  BackendInfo info;
  if (const auto prepared = prepare(backend, job.trial); !prepared.ok()) info.error = prepared.error().message;
  return send_frame(link.socket, FrameType::info, backend_info_to_json(info));
}

// The model's inputs and outputs go to the launcher, which answers with the bytes to run on.
Result<std::vector<ItemValues>> ask_for_data(WorkerLink& link, std::span<const Port> inputs,
                                             std::span<const Port> outputs) {
  const ModelPorts ports{{inputs.begin(), inputs.end()}, {outputs.begin(), outputs.end()}};
  INFERMETER_TRY_DONE(send_frame(link.socket, FrameType::ports, ports_to_json(ports)));
  INFERMETER_TRY(const Frame answer, receive_frame(link.socket, link.frames, FrameType::data));
  INFERMETER_TRY(Mapping mapping, map_memory(answer.descriptor.get(), Access::read));
  INFERMETER_TRY(std::vector<ItemValues> items, read_block(mapping.bytes, mapping.owner));
  if (items.empty()) return internal_error("the data that came contain no item");
  for (const ItemValues& item : items)
    if (item.size() != inputs.size())
      return usage_error(fmt::format("the data give {} values for a model with {} inputs; look at --data", item.size(),
                                     inputs.size()));
  return items;
}

Result<Done> send_outputs(WorkerLink& link, const std::vector<ItemValues>& outputs) {
  INFERMETER_TRY(const SharedMemory block, SharedMemory::create(block_size(outputs), "infermeter-outputs"));
  write_block(outputs, block.bytes().first(block_size(outputs)));
  return send_frame(link.socket, FrameType::outputs, std::to_string(block_size(outputs)), block.descriptor().get());
}

void check_affinity(const std::vector<int>& wanted, std::vector<Diagnostic>& diagnostics) {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (wanted.empty() || sched_getaffinity(0, sizeof set, &set) != 0) return;
  const bool same = static_cast<int>(wanted.size()) == CPU_COUNT(&set) &&
                    std::all_of(wanted.begin(), wanted.end(), [&](int cpu) { return CPU_ISSET(cpu, &set); });
  if (!same)
    diagnostics.push_back(
        {DiagnosticId::affinity_lost,
         fmt::format("{} processors were asked for and {} were given", wanted.size(), CPU_COUNT(&set)),
         {}});
}

// It lies behind the samples.
Result<std::span<std::byte>> signal_area_of(const Mapping& mapping, const SampleBlock& block) {
  const std::size_t begin = SampleBlock::bytes_for({.warmup = block.warmup().size(), .timed = block.timed().size()});
  if (mapping.bytes.size() < begin + kSignalAreaBytes)
    return internal_error(
        "the shared block has no room for stacks: the launcher and the worker do not belong together");
  return mapping.bytes.subspan(begin, kSignalAreaBytes);
}

// The launcher answers always; an end to the wait is for one that cannot.
void signal_external_profiler(const SampleBlock& block, ExternalProfiler word) {
  constexpr std::chrono::milliseconds between_looks{1}, longest{30'000};
  auto& external_profiler = block.header().external_profiler;
  if (external_profiler.load(std::memory_order_acquire) == ExternalProfiler::gone)
    return;  // it could not come, or left early
  external_profiler.store(word, std::memory_order_release);
  for (auto waited = between_looks; waited < longest && !block.interrupted(); waited += between_looks) {
    if (external_profiler.load(std::memory_order_acquire) != word) return;
    std::this_thread::sleep_for(between_looks);
  }
}

void keep_stacks(const std::string& folder, PythonProfiler profiler, const std::string& stacks) {
  if (stacks.empty()) return;
  std::ofstream(folder + '/' + python_profile_file(profiler), std::ios::binary) << stacks << std::flush;
}

void profile_python(const WorkerJob& job, PythonProfile& profile, const SampleBlock& block, TrialHost& host) {
  if (job.python == PythonProfiler::off) return;
  const bool from_outside = job.python == PythonProfiler::py_spy;
  host.before_timed = [&, from_outside] {
    auto found = profile.begin();
    if (from_outside && found.empty()) signal_external_profiler(block, ExternalProfiler::wanted);
    return found;
  };
  host.after_timed = [&, from_outside] {
    auto found = profile.end();
    if (from_outside) signal_external_profiler(block, ExternalProfiler::dismissed);
    keep_stacks(job.trial.profile_folder, job.python, profile.stacks());
    return found;
  };
}

Result<Done> host_trial(const imb_backend& backend, const WorkerJob& job, const MemoryProbe& memory,
                        std::vector<Diagnostic> diagnostics, WorkerLink& link, const PythonProfileHooks& python) {
  INFERMETER_TRY(const Mapping mapping, map_memory(link.block, Access::read_write));
  INFERMETER_TRY(const SampleBlock block, SampleBlock::open(mapping.bytes));
  check_affinity(job.cpus, diagnostics);
  TrialHost host;
  host.data = [&](auto inputs, auto outputs) { return ask_for_data(link, inputs, outputs); };
  if (job.trial.samples_itself) {
    INFERMETER_TRY(host.signal_area, signal_area_of(mapping, block));
  }
  host.keep = [&](const Samples& samples) {
    // If the launcher has gone, so will we.
    static_cast<void>(send_frame(link.socket, FrameType::facts, samples_to_json(samples)).ok());
  };
  PythonProfile profile(python, job.python);
  profile_python(job, profile, block, host);
  // Never destroyed: a runtime that crashes or hangs when it closes has been measured by then, and the process ends.
  AnyTrial* const trial = make_trial(backend, job.trial, host, block, memory).release();
  TrialOutcome outcome = trial->run();
  auto& found = outcome.samples.diagnostics;
  found.insert(found.begin(), diagnostics.begin(), diagnostics.end());
  if (!outcome.output_values.empty()) INFERMETER_TRY_DONE(send_outputs(link, outcome.output_values));
  return send_frame(link.socket, FrameType::result, samples_to_json(outcome.samples));
}

}  // namespace

Result<Done> host_job(const imb_backend& backend, const WorkerJob& job, const MemoryProbe& memory,
                      std::vector<Diagnostic> diagnostics, WorkerLink& link, const PythonProfileHooks& python) {
  if (job.probe) return host_probe(backend, job, link);
  if (job.prepare) return host_prepare(backend, job, link);
  return host_trial(backend, job, memory, std::move(diagnostics), link, python);
}

}  // namespace infermeter
