#include "infermeter/worker/wall/watchdog.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>

#include <algorithm>
#include <optional>

#include "infermeter/diagnostics/interrupt.hpp"
#include "infermeter/trial/machine/clock.hpp"
#include "infermeter/trial/machine/noise.hpp"
#include "infermeter/trial/machine/proc_file.hpp"
#include "infermeter/worker/profile/memory_timeline.hpp"
#include "infermeter/worker/wall/load_watch.hpp"

namespace infermeter {
namespace {

constexpr int loading_ms = 20, running_ms = 50;
constexpr double progress_s = 0.1, load_s = 0.5;
constexpr double closing_s = 5;    // between its last message and its end
constexpr double finishing_s = 1;  // of the iteration in which a signal came

class Watch {
 public:
  Watch(WorkerProcess& worker, const WatchRules& rules) : worker_(worker), rules_(rules), phase_(monotonic_s()) {}

  WatchEnd operator()() {
    while (!ended_ && end_.reason == KillReason::none) {
      wait();
      if (rules_.on_wake) rules_.on_wake();
      read_frames();
      if (ended_ || end_.reason != KillReason::none) break;
      note_phase();
      pass_interrupt();
      check_time();
      look_at_memory();
      look_for_stalls();
      report();
    }
    if (!ended_) worker_.kill();
    end_.worker = worker_.reap();
    drain();
    end_.memory = memory_.points();
    end_.stalls = stalls_.stalls();
    return std::move(end_);
  }

 private:
  void wait() {
    pollfd descriptors[] = {
        {worker_.pidfd(), POLLIN, 0}, {socket_open_ ? worker_.socket() : -1, POLLIN, 0}, {worker_.output(), POLLIN, 0}};
    const int due_ms = running_ ? running_ms : loading_ms;
    const int ready = poll(descriptors, 3, due_ms);
    phase_.look(monotonic_s(), due_ms * 1e-3);
    if (ready <= 0) return;
    ended_ = (descriptors[0].revents & POLLIN) != 0;
    socket_ready_ = descriptors[1].revents != 0;
    if (descriptors[2].revents != 0) worker_.read_output();
  }

  void read_frames() {
    if (!socket_ready_) return;
    socket_ready_ = false;
    const Result<bool> open = worker_.frames().read_some(worker_.socket());
    if (!open.ok()) return refuse(open.error());
    socket_open_ = open.value();
    for (;;) {
      Result<std::optional<Frame>> frame = worker_.frames().next();
      if (!frame.ok()) return refuse(frame.error());
      if (!frame.value()) return;
      handle(**frame);
      if (end_.reason != KillReason::none) return;
    }
  }

  // What the launcher itself takes to make data is not the worker's time.
  void handle(Frame& frame) {
    if (end_.finished) return refuse(worker_error("the worker sent a message after its last one"));
    const double begin_s = monotonic_s();
    end_.finished = frame.type == FrameType::result || frame.type == FrameType::info;
    const Result<Done> done = rules_.on_frame(frame);
    if (!done.ok()) refuse(done.error());
    if (frame.type == FrameType::ports) phase_.exclude(monotonic_s() - begin_s);
    if (end_.finished) finished_s_ = monotonic_s();
  }

  void refuse(const Error& error) {
    end_.reason = KillReason::refused;
    end_.refused = error;
  }

  void note_phase() {
    if (running_ || rules_.block == nullptr || rules_.block->phase() < Phase::warmup) return;
    running_ = true;
    phase_.begin(monotonic_s());
  }

  // Whoever loads or compiles a model does not look for signals. A loop finishes its iteration where that is short:
  // what it has done by then is kept either way.
  void pass_interrupt() {
    const int interrupt = look_at_interrupts(rules_.interrupt);
    if (interrupt == 0 || end_.reason != KillReason::none) return;
    const double now_s = monotonic_s();
    if (!interrupted_s_) interrupted_s_ = now_s;
    if (interrupt >= 2 || !running_ || now_s - *interrupted_s_ > finishing_s)
      end_.reason = KillReason::interrupt;
    else
      rules_.block->header().interrupt.store(1, std::memory_order_relaxed);
  }

  void check_time() {
    if (end_.reason != KillReason::none) return;
    const double now_s = monotonic_s();
    if (end_.finished) {
      if (now_s - finished_s_ > closing_s) end_.reason = KillReason::run_timeout;
    } else if (phase_.spent_s(now_s) > (running_ ? rules_.run_timeout_s : rules_.load_timeout_s)) {
      end_.reason = running_ ? KillReason::run_timeout : KillReason::load_timeout;
    }
  }

  // One reading for the record and for the limit; also where a limit of time was passed: its end is what is asked
  // about.
  void look_at_memory() {
    if (rules_.memory_limit_bytes == 0 && rules_.block == nullptr) return;
    const std::uint64_t bytes = worker_.resident_bytes(own_bytes(), rules_.memory_limit_bytes).value_or(0);
    if (rules_.block != nullptr) memory_.add({seconds_since_origin(), rules_.block->phase(), bytes});
    if (rules_.memory_limit_bytes == 0 || end_.reason != KillReason::none) return;
    const std::uint64_t all = bytes + worker_.tree().bytes_beside(bytes, rules_.memory_limit_bytes);
    end_.memory_bytes = std::max(end_.memory_bytes, all);
    if (all > rules_.memory_limit_bytes) end_.reason = KillReason::memory;
    const std::string excess = worker_.tree().excess();
    if (!excess.empty() && end_.reason == KillReason::none) refuse(worker_error("the worker has " + excess));
  }

  void look_for_stalls() {
    if (!running_) return;
    const double at_s = seconds_since_origin();
    stalls_.look(at_s, process_time_s(read_proc_file(fmt::format("/proc/{}/stat", worker_.pid())), jiffy_s()));
  }

  // The pages that samples have been written to are ours, not the subject's.
  [[nodiscard]] std::uint64_t own_bytes() const {
    struct stat status{};
    if (rules_.block_descriptor < 0 || fstat(rules_.block_descriptor, &status) != 0) return 0;
    constexpr std::uint64_t bytes_per_block = 512;  // stat(2)
    return static_cast<std::uint64_t>(status.st_blocks) * bytes_per_block;
  }

  [[nodiscard]] double seconds_since_origin() const {
    return monotonic_s() - static_cast<double>(rules_.block->start().monotonic_ns) * 1e-9;
  }

  void report() {
    const double now_s = monotonic_s();
    if (!rules_.on_progress || rules_.block == nullptr || now_s - reported_s_ < progress_s) return;
    reported_s_ = now_s;
    const Phase phase = rules_.block->phase();
    look_at_load(phase, now_s);
    rules_.on_progress({.phase = phase,
                        .iterations_done = static_cast<std::int64_t>(rules_.block->timed_done().size()),
                        .load = load_});
  }

  void look_at_load(Phase phase, double now_s) {
    if (phase != Phase::timed) return load_.reset();
    if (now_s - load_looked_s_ < load_s) return;
    load_looked_s_ = now_s;
    load_ = load_watch_.look(*rules_.block, read_pair(rules_.block->clock()));
  }

  // What it had written before it ended; its children, if any, have ended with it, so both come to an end.
  void drain() {
    constexpr int most_reads = 4096;
    for (int i = 0; i < most_reads && worker_.output() >= 0; ++i) {
      pollfd descriptor{worker_.output(), POLLIN, 0};
      if (poll(&descriptor, 1, 0) <= 0) break;
      worker_.read_output();
    }
    for (int i = 0; i < most_reads && socket_open_ && end_.reason == KillReason::none; ++i) {
      pollfd descriptor{worker_.socket(), POLLIN, 0};
      socket_ready_ = poll(&descriptor, 1, 0) > 0;
      if (!socket_ready_) break;
      read_frames();
    }
  }

  WorkerProcess& worker_;
  const WatchRules& rules_;
  WatchEnd end_;
  MemoryTimeline memory_;
  PhaseClock phase_;
  StallWatch stalls_;
  LoadWatch load_watch_;
  std::optional<LoadNow> load_;
  double finished_s_ = 0, reported_s_ = 0, load_looked_s_ = 0;
  std::optional<double> interrupted_s_;
  bool ended_ = false, running_ = false, socket_open_ = true, socket_ready_ = false;
};

}  // namespace

WatchEnd watch(WorkerProcess& worker, const WatchRules& rules) { return Watch(worker, rules)(); }

}  // namespace infermeter
