#include <fmt/format.h>
#include <signal.h>
#include <string.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <new>
#include <system_error>

#include "infermeter/data/value_block.hpp"
#include "infermeter/diagnostics/interrupt.hpp"
#include "infermeter/samples/samples_json.hpp"
#include "infermeter/trial/machine/clock.hpp"
#include "infermeter/trial/machine/proc_file.hpp"
#include "infermeter/trial/machine/times.hpp"
#include "infermeter/trial/signal_sampler.hpp"
#include "infermeter/worker/launcher.hpp"
#include "infermeter/worker/memory_limit.hpp"
#include "infermeter/worker/plugin.hpp"
#include "infermeter/worker/profile/profile_folder.hpp"
#include "infermeter/worker/profile/python_look.hpp"
#include "infermeter/worker/profile/stack_sampler.hpp"
#include "infermeter/worker/wall/shared_memory.hpp"
#include "infermeter/worker/wall/watchdog.hpp"
#include "infermeter/worker/wire/wire.hpp"
#include "infermeter/worker/worker_job.hpp"

namespace infermeter {
namespace {

constexpr std::size_t large_message = 1 << 20;  // bytes

std::uint64_t kernel_kills() { return number_after(read_proc_file("/proc/vmstat"), "\noom_kill ").value_or(0); }

std::string signal_name(int signal) {
  const char* const name = sigabbrev_np(signal);
  return name == nullptr ? fmt::format("signal {}", signal) : fmt::format("SIG{}", name);
}

std::string while_doing(Phase phase) {
  switch (phase) {
    case Phase::start: return "while it started";
    case Phase::load: return "while it loaded the model";
    case Phase::compile: return "while it compiled the model";
    case Phase::inputs: return "while it was given its inputs";
    case Phase::first_inference: return "in the first inference";
    case Phase::warmup: return "while it warmed up";
    case Phase::timed: return "while it was timed";
    case Phase::outputs: return "while its outputs were collected";
    case Phase::done: return "at its end";
  }
  return "";
}

// What cannot be read of it is not the user's to mend: the other subjects go on.
template <class T>
Result<T> as_the_worker_said(Result<T> read) {
  if (read.ok()) return read;
  return worker_error(read.error().message);
}

class TrialRun {
 public:
  TrialRun(const Launcher& launcher, const TrialJob& job, const TrialHooks& hooks)
      : launcher_(launcher), job_(job), hooks_(hooks) {}

  TrialResult operator()() {
    const double started_at = wall_clock_s(), begin_s = monotonic_s();
    const Result<Done> done = all_steps();
    Samples& samples = product_.samples;
    if (!done.ok()) fail(done.error());
    for (Diagnostic& diagnostic : samples.diagnostics)
      if (diagnostic.about.empty()) diagnostic.about = job_.subject.label;
    samples.started_at = started_at;
    samples.wall_s = monotonic_s() - begin_s;
    return std::move(product_);
  }

 private:
  Result<Done> all_steps() {
    INFERMETER_TRY(WorkerJob orders, worker_job(launcher_, job_));
    INFERMETER_TRY(
        const SharedMemory memory,
        ours(SharedMemory::create(SampleBlock::bytes_for(capacity()) + signal_bytes(), "infermeter-samples")));
    const ClockKind clock = best_clock();
    const SampleBlock block = SampleBlock::create(memory.bytes(), capacity(), clock, read_pair(clock));
    PythonLook python(launcher_, job_, is_python(orders.plugin), block);
    orders.python = python.profiler();
    const std::uint64_t kills_before = kernel_kills();
    INFERMETER_TRY(WorkerProgram program, program_for(launcher_, orders.plugin));
    // Names of generated code, as perf reads them: what oneDNN knows (dnnl_set_jit_profiling_flags).
    if (samples_stacks()) program.environment.emplace_back("ONEDNN_JIT_PROFILE=2");
    INFERMETER_TRY(WorkerProcess worker, ours(WorkerProcess::start({.program = std::move(program),
                                                                    .cpus = job_.cpus,
                                                                    .seed = job_.seed,
                                                                    .variables = job_.subject.environment,
                                                                    .block = memory.descriptor().get()})));
    if (job_.profile) {
      INFERMETER_TRY(orders.trial.profile_folder, ours(make_profile_folder(worker.folder())));
    }
    if (samples_stacks()) sample_stacks(worker, block, memory, orders);
    // One that is gone already shows below why.
    const auto sent = send_frame(worker.socket(), FrameType::job, job_to_json(orders));
    if (!sent.ok() && sent.error().kind != ErrorKind::worker) return sent.error();
    WatchEnd end = watch(worker, rules_for(worker, block, memory, python));
    // They are there, however the worker ended after its last message.
    if (outputs_ && (end.reason == KillReason::none || is_over(end))) {
      if (const Result<Done> read = read_outputs(); !read.ok()) {
        end.reason = KillReason::refused;
        end.refused = read.error();
      }
    }
    if (auto unfit = why_unfit(end.worker, worker.tail().text())) return *unfit;
    conclude(end, block, kernel_kills() > kills_before);
    product_.samples.memory_timeline = std::move(end.memory);
    record_times(block, read_pair(clock), product_.samples, !job_.subject.load.empty());
    if (sampler_) product_.raw_stacks = sampler_->take();
    note_partial();
    product_.samples.stderr_tail = worker.tail().text();
    if (job_.profile) product_.profile_files = read_profile_folder(orders.trial.profile_folder);
    python.conclude(product_);
    for (Diagnostic& diagnostic : diagnose_stalls(end.stalls, product_.samples))
      product_.samples.diagnostics.push_back(std::move(diagnostic));
    return Done{};
  }

  // What the launcher needs for itself: without it nothing is known of the subject.
  template <class T>
  Result<T> ours(Result<T> had) {
    if (!had.ok()) product_.launcher_error = internal_error(had.error().message);
    return had;
  }

  [[nodiscard]] SampleCapacity capacity() const {
    return SampleBlock::capacity_for(job_.stopping, job_.time_it, !job_.subject.load.empty());
  }

  WatchRules rules_for(WorkerProcess& worker, const SampleBlock& block, const SharedMemory& memory,
                       PythonLook& python) {
    memory_limit_ = memory_limit_in_force(job_.limits.memory_limit_bytes);
    return {.load_timeout_s = job_.limits.load_timeout_s,
            .run_timeout_s = job_.limits.run_timeout_s,
            .memory_limit_bytes = memory_limit_,
            .block = &block,
            .block_descriptor = memory.descriptor().get(),
            .interrupt = hooks_.interrupt,
            .on_progress = hooks_.on_progress,
            .on_wake =
                [this, &worker, &python] {
                  if (sampler_) sampler_->drain();
                  python.look(worker.pid());
                },
            .on_frame = [this, &worker](Frame& frame) { return take(worker, frame); }};
  }

  // Each message comes once, so that what a worker can make the launcher do has an end.
  Result<Done> take(WorkerProcess& worker, Frame& frame) {
    const auto kind = 1U << static_cast<unsigned>(frame.type);
    if ((taken_ & kind) != 0) return worker_error("the worker sent a message of a kind that comes once a second time");
    taken_ |= kind;
    try {
      return take_first(worker, frame);
    } catch (const std::bad_alloc&) {
      // For a small message memory has run out for everything: no fault of the subject, and nothing to be kept of it.
      if (frame.payload.size() < large_message) throw;
      return worker_error("there is not enough memory for what the worker asked for or sent");
    }
  }

  Result<Done> take_first(WorkerProcess& worker, Frame& frame) {
    switch (frame.type) {
      case FrameType::ports: return give_data(worker, frame.payload);
      case FrameType::facts:
        if (sampler_) sampler_->begin();
        return take_samples(frame.payload);
      case FrameType::result:
        if (sampler_) sampler_->end();
        return take_samples(frame.payload);
      case FrameType::outputs: outputs_ = std::move(frame.descriptor); return Done{};
      default: return worker_error("the worker sent a message that only the launcher sends");
    }
  }

  [[nodiscard]] bool samples_stacks() const {
    return job_.profile && job_.time_it && job_.stacks != StackSampling::off;
  }
  [[nodiscard]] std::size_t signal_bytes() const { return samples_stacks() ? kSignalAreaBytes : 0; }

  // Its threads are yet to be made: it waits for its job.
  void sample_stacks(const WorkerProcess& worker, const SampleBlock& block, const SharedMemory& memory,
                     WorkerJob& orders) {
    const auto signal_area = memory.bytes().subspan(SampleBlock::bytes_for(capacity()), kSignalAreaBytes);
    sampler_.emplace(worker.pid(), job_.stacks, block, signal_area);
    orders.trial.samples_itself = !sampler_->refusal().empty();
    if (!sampler_->jit_map().empty()) orders.writable.push_back(sampler_->jit_map());
  }

  Result<Done> give_data(WorkerProcess& worker, std::string_view payload) {
    INFERMETER_TRY(ModelPorts ports, as_the_worker_said(ports_from_json(payload)));
    product_.inputs = std::move(ports.inputs);
    product_.outputs = std::move(ports.outputs);
    INFERMETER_TRY(const DataSet data, hooks_.data(product_.inputs));
    std::vector<ItemValues> items;
    for (const DataItem& item : data.items) items.push_back(item.inputs);
    const std::size_t size = block_size(items);
    INFERMETER_TRY(SharedMemory memory, ours(SharedMemory::create(size, "infermeter-inputs")));
    write_block(items, memory.bytes().first(size));
    INFERMETER_TRY_DONE(memory.make_read_only());
    worker.tree().exclude_shared_memory(size);
    return send_frame(worker.socket(), FrameType::data, std::to_string(size), memory.descriptor().get());
  }

  Result<Done> take_samples(std::string_view payload) {
    INFERMETER_TRY(product_.samples, as_the_worker_said(samples_from_json(payload)));
    return Done{};
  }

  // When the worker and its children have ended: nobody changes them any more, and they need no copy. They and what is
  // made of them are within the limit of the worker.
  Result<Done> read_outputs() {
    INFERMETER_TRY(const Mapping mapping, map_filled_memory(outputs_.get(), memory_limit_));
    INFERMETER_TRY(product_.output_values,
                   as_the_worker_said(read_block(mapping.bytes, mapping.owner, memory_limit_ - mapping.bytes.size())));
    product_.output_block = Bytes::view(mapping.bytes, mapping.owner);
    return Done{};
  }

  // The worker's last message came, and was one.
  static bool is_over(const WatchEnd& end) { return end.finished && !end.refused; }

  // The record of how it ended, whatever the worker had said of itself before.
  void conclude(const WatchEnd& end, const SampleBlock& block, bool kernel_ran_out) {
    Samples& samples = product_.samples;
    if (is_over(end) && samples.end == TrialEnd::interrupted && look_at_interrupts(hooks_.interrupt) == 0)
      return stop(TrialEnd::crashed, "the worker says that it was interrupted, and nobody has interrupted it");
    if (is_over(end)) return;
    samples.phase = std::max(samples.phase, block.phase());
    samples.signal = end.worker.signal;
    const std::string doing = while_doing(samples.phase);
    switch (end.reason) {
      case KillReason::load_timeout:
        return stop(TrialEnd::timeout,
                    fmt::format("timeout: not ready after {} s, killed {}; --load-timeout sets the limit",
                                job_.limits.load_timeout_s, doing));
      case KillReason::run_timeout:
        return stop(TrialEnd::timeout,
                    fmt::format("timeout: not done after {} s, killed {}; --run-timeout sets the limit",
                                job_.limits.run_timeout_s, doing));
      case KillReason::memory:
        return stop(TrialEnd::out_of_memory, over_the_limit(memory_limit_, end.memory_bytes, doing));
      case KillReason::interrupt: return stop(TrialEnd::interrupted, "interrupted " + doing);
      case KillReason::refused:
        // What was made for it here may have been stopped.
        if (look_at_interrupts(hooks_.interrupt) > 0) return stop(TrialEnd::interrupted, "interrupted " + doing);
        return fail(*end.refused);
      case KillReason::none: return conclude_death(end.worker, block, kernel_ran_out, doing);
    }
  }

  void conclude_death(const WorkerEnd& worker, const SampleBlock& block, bool kernel_ran_out,
                      const std::string& doing) {
    if (worker.signal == SIGKILL && kernel_ran_out)
      return stop(
          TrialEnd::out_of_memory,
          fmt::format("out of memory: the kernel killed the worker {}; --memory-limit stops it earlier", doing));
    const std::string how =
        worker.signal != 0 ? signal_name(worker.signal) : fmt::format("it ended with status {}", worker.exit_code);
    const std::size_t done = block.timed_done().size();
    const std::string after = done > 0 ? fmt::format(", after {} iterations", done) : std::string();
    stop(TrialEnd::crashed, fmt::format("crashed: {} {}{}", how, doing, after));
  }

  void stop(TrialEnd end, std::string message) {
    product_.samples.end = end;
    product_.samples.message = std::move(message);
  }

  void fail(const Error& error) {
    stop(error.kind == ErrorKind::worker ? TrialEnd::crashed : TrialEnd::load_failed, error.message);
    product_.samples.usage = error.kind == ErrorKind::usage || error.kind == ErrorKind::io;
  }

  void note_partial() {
    Samples& samples = product_.samples;
    if (samples.end == TrialEnd::ok || samples.begin_s.empty()) return;
    samples.diagnostics.push_back({DiagnosticId::samples_partial,
                                   fmt::format("the trial ended early ({}): {} iterations are kept",
                                               to_string(samples.end), samples.iterations()),
                                   {}});
  }

  const Launcher& launcher_;
  const TrialJob& job_;
  const TrialHooks& hooks_;
  TrialResult product_;
  std::uint64_t memory_limit_ = 0;
  unsigned taken_ = 0;      // kinds of messages, as bits
  FileDescriptor outputs_;  // a memory file
  std::optional<StackSampler> sampler_;
};

}  // namespace

TrialResult run_trial(const Launcher& launcher, const TrialJob& job, const TrialHooks& hooks) {
  return TrialRun(launcher, job, hooks)();
}

}  // namespace infermeter
