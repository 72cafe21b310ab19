#include "infermeter/trial/machine/processor_team.hpp"

#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <optional>
#include <system_error>

#include "infermeter/trial/machine/clock.hpp"

namespace infermeter {
namespace {

bool hold_on(int processor) {
  if (processor < 0 || processor >= CPU_SETSIZE) return false;
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(processor, &set);
  return sched_setaffinity(0, sizeof set, &set) == 0;
}

}  // namespace

struct ProcessorTeam::Shared {
  std::mutex mutex;
  std::condition_variable changed;
  const std::function<void(std::size_t)>* task = nullptr;
  std::size_t round = 0, busy = 0, held = 0;
  std::optional<int> refused;  // a processor that could not be had
  bool stopping = false;
  std::atomic<std::size_t> awaited{0};
  std::vector<double> begin_s, end_s;

  void work(std::size_t index, int processor) {
    std::unique_lock lock(mutex);
    if (!hold_on(processor)) refused = processor;
    ++held;
    changed.notify_all();
    for (std::size_t seen = 0;;) {
      changed.wait(lock, [&] { return stopping || round != seen; });
      if (stopping) return;
      seen = round;
      lock.unlock();
      begin_together();
      begin_s[index] = monotonic_s();
      (*task)(index);
      end_s[index] = monotonic_s();
      lock.lock();
      if (--busy == 0) changed.notify_all();
    }
  }

  // Threads wake some 50 us apart; a short spin lets them begin within one. Where a quota keeps one from running, the
  // others give way.
  void begin_together() {
    constexpr int spins_before_yield = 100'000;
    awaited.fetch_sub(1);
    for (int spins = 0; awaited.load() != 0; ++spins)
      if (spins > spins_before_yield) std::this_thread::yield();
  }
};

ProcessorTeam::ProcessorTeam() : shared_(std::make_unique<Shared>()) {}

ProcessorTeam::~ProcessorTeam() { stop(); }

void ProcessorTeam::stop() {
  {
    const std::scoped_lock lock(shared_->mutex);
    shared_->stopping = true;
  }
  shared_->changed.notify_all();
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
}

Result<std::unique_ptr<ProcessorTeam>> ProcessorTeam::make(std::span<const int> processors) {
  std::unique_ptr<ProcessorTeam> team(new ProcessorTeam);
  Shared& shared = *team->shared_;
  shared.begin_s.resize(processors.size());
  shared.end_s.resize(processors.size());
  try {
    for (std::size_t i = 0; i < processors.size(); ++i)
      team->threads_.emplace_back([&shared, i, processor = processors[i]] { shared.work(i, processor); });
  } catch (const std::system_error& error) {
    return worker_error(fmt::format("a thread cannot be had: {}", error.what()));
  }
  std::unique_lock lock(shared.mutex);
  shared.changed.wait(lock, [&] { return shared.held == processors.size(); });
  const std::optional<int> refused = shared.refused;
  lock.unlock();
  if (refused) return worker_error(fmt::format("processor {} may not be used", *refused));
  return team;
}

ProcessorTeam::Times ProcessorTeam::run(const std::function<void(std::size_t)>& task) {
  std::unique_lock lock(shared_->mutex);
  shared_->task = &task;
  shared_->busy = threads_.size();
  shared_->awaited = threads_.size();
  ++shared_->round;
  shared_->changed.notify_all();
  shared_->changed.wait(lock, [&] { return shared_->busy == 0; });
  const std::vector<double>&begin_s = shared_->begin_s, &end_s = shared_->end_s;
  Times times{.all_s = std::ranges::max(end_s) - std::ranges::min(begin_s), .shortest_s = end_s[0] - begin_s[0]};
  for (std::size_t i = 1; i < begin_s.size(); ++i) times.shortest_s = std::min(times.shortest_s, end_s[i] - begin_s[i]);
  return times;
}

}  // namespace infermeter
