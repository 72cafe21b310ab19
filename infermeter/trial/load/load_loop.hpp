// LoadLoop: requests by their arrivals, instead of one after the other.
//
// Clients are threads that take the next request themselves: there is no thread that hands out, and no queue between.
// In an open loop a client takes the next arrival of the schedule, sleeps until it comes, and issues the request; where
// all clients are busy, arrivals wait in the schedule, and their response times count from when they should have
// started. In a closed loop an arrival is the moment at which its client was free. A template on its clock and its
// steps (timed_loop.hpp), so that tests run it on simulated time.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <deque>
#include <latch>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include "infermeter/samples/load/load_record.hpp"
#include "infermeter/trial/load/request_tally.hpp"
#include "infermeter/trial/load/schedule.hpp"
#include "infermeter/trial/sample_block.hpp"
#include "infermeter/trial/timed_loop.hpp"

namespace infermeter {

struct LoadOrders {
  LoadShape shape{};
  std::uint64_t requests = UINT64_MAX;        // at most
  std::uint64_t of_each = UINT64_MAX;         // at most, of each client of a closed loop
  std::uint64_t arrivals_ticks = UINT64_MAX;  // no request is due after so long
  // Of an open loop: so long after the last arrival, who still waits for a client is given up.
  std::uint64_t patience_ticks = UINT64_MAX;
  double tick_s = 1e-9;
  bool counts_failures = false;  // a request that fails is counted; otherwise it ends the load
};

struct LoadProgress {
  std::span<TickPair> pairs{};                 // arrival and completion of each success
  std::atomic<std::uint64_t>* done = nullptr;  // of them, those that are written
  const std::atomic<std::uint32_t>* interrupt = nullptr;
  LiveCounts* counts = nullptr;  // goes on from what is there; nullptr: nobody watches
};

// `Step` is a client's: `bool prepare(std::uint64_t request)`, `bool run()`, `RequestError error()` after either said
// false, `const AnswerParts* parts()` after a run that succeeded, nullptr where nothing is known of parts. `Waiter` has
// `bool until(const Clock&, std::uint64_t ticks, is_over, may_spin)`: false if the function `is_over` said true
// meanwhile; while `may_spin` says true it may wait actively.
template <class Clock, class Waiter, class Step>
class LoadLoop {
 public:
  LoadLoop(const Clock& clock, Waiter waiter, const LoadOrders& orders, Schedule schedule, const LoadProgress& progress)
      : clock_(clock),
        waiter_(std::move(waiter)),
        orders_(orders),
        schedule_(std::move(schedule)),
        progress_(progress),
        counts_(progress.counts == nullptr ? own_counts_ : *progress.counts),
        completed_before_(counts_.completed.load()),
        arrivals_(bin_ticks()) {}

  // The first step runs on this thread, the others have one each.
  LoopEnd run(std::span<Step> steps) {
    steps_ = steps.size();
    run_clients(steps);
    sort_pairs();
    if (failed_by_ != nullptr || !thread_error_.empty()) return LoopEnd::failed;
    return is_interrupted() ? LoopEnd::interrupted : LoopEnd::complete;
  }

  // After `run` failed: whose step it was, or why a thread could not be made.
  [[nodiscard]] const Step* failed_step() const { return failed_by_; }
  [[nodiscard]] const std::string& thread_error() const { return thread_error_; }

  [[nodiscard]] LoadRecord record() {
    for (std::size_t i = 1; i < tallies_.size(); ++i) tallies_[0]->merge(*tallies_[i]);
    tallies_.resize(1);
    LoadRecord record;
    record.open_loop = orders_.shape.is_open();
    record.clients = is_queued() ? orders_.shape.concurrency : static_cast<int>(steps_);
    record.samples = orders_.shape.samples;
    tallies_[0]->fill(record, arrivals_);
    record.due = record.open_loop ? due_ : record.issued;
    record.kept = std::min<std::uint64_t>(record.completed, progress_.pairs.size());
    record.gave_up = gave_up_;
    record.arrivals_s = arrivals_s(record);
    if (record.open_loop) record.duration_s = std::max(record.duration_s, record.arrivals_s);
    generation_ = tallies_[0]->generation().record(orders_.tick_s, record.duration_s);
    return record;
  }
  // After `record`: of answers that came piece by piece.
  [[nodiscard]] const std::optional<GenerationRecord>& generation() const { return generation_; }

 private:
  static constexpr std::size_t kMostTallies = 4;

  struct Ticket {
    std::uint64_t request = 0;
    std::optional<std::uint64_t> arrival{};  // nullopt: when its client is free
  };

  [[nodiscard]] std::uint64_t bin_ticks() const {
    constexpr double narrowest_s = 0.01;
    return std::max<std::uint64_t>(static_cast<std::uint64_t>(narrowest_s / orders_.tick_s), 1);
  }
  // Of a closed loop: more clients than the subject takes requests at a time wait for each other.
  [[nodiscard]] bool is_queued() const {
    return orders_.shape.scenario == LoadScenario::closed &&
           static_cast<std::size_t>(orders_.shape.concurrency) > steps_;
  }
  [[nodiscard]] bool is_interrupted() const { return progress_.interrupt->load(std::memory_order_relaxed) != 0; }
  [[nodiscard]] bool may_spin() const {
    if (orders_.shape.spin != Spin::automatic) return orders_.shape.spin == Spin::on;
    const std::uint64_t ended =
        counts_.completed.load(std::memory_order_relaxed) + counts_.failed.load(std::memory_order_relaxed);
    return counts_.issued.load(std::memory_order_relaxed) <= ended;
  }
  [[nodiscard]] bool is_over() const { return over_.load(std::memory_order_relaxed) || is_interrupted(); }

  void run_clients(std::span<Step> steps) {
    std::latch waiting(static_cast<std::ptrdiff_t>(steps.size()) - 1);
    std::vector<std::jthread> threads;
    try {
      for (std::size_t i = 1; i < steps.size(); ++i) {
        threads.emplace_back([this, &waiting, &step = steps[i], i] {
          waiting.count_down();
          has_begun_.wait(false);
          client(step, i);
        });
      }
      waiting.wait();
    } catch (const std::system_error& error) {
      thread_error_ = error.code().message();
      const std::lock_guard lock(taking_);
      end_load();
    }
    begin();
    has_begun_.store(true);
    has_begun_.notify_all();
    client(steps[0], 0);
  }

  // Once all clients are there: the time that it takes to make their threads is not a part of the load.
  void begin() {
    begin_ = clock_.now();
    // More tallies than processors bring nothing.
    const std::size_t tallies = std::min<std::size_t>(steps_, kMostTallies);
    for (std::size_t i = 0; i < tallies; ++i)
      tallies_.push_back(std::make_unique<RequestTally>(begin_, bin_ticks(), !orders_.shape.is_open(),
                                                        orders_.shape.goodput, orders_.tick_s));
    if (orders_.shape.scenario == LoadScenario::multi_stream) begin_query(begin_);
    if (is_queued()) free_since_.assign(static_cast<std::size_t>(orders_.shape.concurrency), begin_);
  }

  void client(Step& step, std::size_t number) {
    RequestTally& tally = *tallies_[number % tallies_.size()];
    if (orders_.shape.scenario == LoadScenario::multi_stream) return stream(step, tally);
    std::uint64_t now = begin_;
    for (std::uint64_t own = 0; own < orders_.of_each && !is_over(); ++own) {
      const std::optional<Ticket> ticket = orders_.shape.is_open() ? take_scheduled(now) : take_free(now);
      if (!ticket) return;
      RequestTimes times;
      const bool is_ready = step.prepare(ticket->request);
      times.free = clock_.now();
      times.arrival = ticket->arrival.value_or(times.free);
      times.issue = times.free;
      if (is_ready && times.arrival > times.free) {
        const bool has_come =
            waiter_.until(clock_, times.arrival, [this] { return is_over(); }, [this] { return may_spin(); });
        if (!has_come) return take_back();
        times.issue = clock_.now();
      }
      counts_.issued.fetch_add(1, std::memory_order_relaxed);
      const bool good = is_ready && step.run();
      times.end = now = clock_.now();
      if (!note(good, times, step, tally)) return;
      if (is_queued()) give_back(now);
    }
  }

  // False: the load is over.
  bool note(bool good, const RequestTimes& times, Step& step, RequestTally& tally) {
    if (!good && !orders_.counts_failures) return fail(step);
    if (!good) {
      counts_.failed.fetch_add(1, std::memory_order_relaxed);
      tally.failed(times, step.error());
      return true;
    }
    keep(times, step.parts(), tally);
    return true;
  }

  void keep(const RequestTimes& times, const AnswerParts* parts, RequestTally& tally) {
    tally.completed(times, parts);
    const std::uint64_t place = counts_.completed.fetch_add(1, std::memory_order_relaxed) - completed_before_;
    if (place >= progress_.pairs.size()) return;
    progress_.pairs[place] = {times.arrival, times.end};
    progress_.done->fetch_add(1, std::memory_order_release);
  }

  bool fail(Step& step) {
    const std::lock_guard lock(taking_);
    if (failed_by_ == nullptr) failed_by_ = &step;
    end_load();
    return false;
  }

  void end_load() {
    over_.store(true, std::memory_order_relaxed);
    released_.fetch_add(1);  // whoever waits for the next query looks up
    released_.notify_all();
  }

  // Open loop.
  std::optional<Ticket> take_scheduled(std::uint64_t now) {
    const std::lock_guard lock(taking_);
    if (ended_) return std::nullopt;
    const std::optional<std::uint64_t> next = next_arrival();
    if (!next) return std::nullopt;
    const bool is_patient = orders_.patience_ticks == UINT64_MAX || orders_.arrivals_ticks == UINT64_MAX ||
                            now <= begin_ + orders_.arrivals_ticks + orders_.patience_ticks;
    if (!is_patient) {
      // Those that are due are counted, all of them.
      gave_up_ = true;
      while (next_arrival()) continue;
      return std::nullopt;
    }
    return Ticket{due_ - 1, begin_ + *next};
  }

  // Ticks from the beginning; counts it.
  std::optional<std::uint64_t> next_arrival() {
    if (ended_) return std::nullopt;
    const std::optional<double> next_s = due_ < orders_.requests ? schedule_.next() : std::nullopt;
    const auto ticks = static_cast<std::uint64_t>(next_s.value_or(0) / orders_.tick_s + 0.5);
    if (!next_s || ticks >= orders_.arrivals_ticks) {
      ended_ = true;
      return std::nullopt;
    }
    ++due_;
    last_arrival_ = ticks;
    arrivals_.arrived(ticks);
    return ticks;
  }

  // It was due later than the load was stopped.
  void take_back() {
    const std::lock_guard lock(taking_);
    ended_ = true;
    --due_;
  }

  // Closed loop.
  std::optional<Ticket> take_free(std::uint64_t now) {
    const std::uint64_t spent = now - begin_;
    const std::uint64_t request = request_.fetch_add(1, std::memory_order_relaxed);
    if (request >= orders_.requests || spent >= orders_.arrivals_ticks) return std::nullopt;
    if (!is_queued()) return Ticket{request, std::nullopt};
    const std::lock_guard lock(taking_);
    const std::uint64_t arrival = free_since_.front();
    free_since_.pop_front();  // there are more of them than steps
    return Ticket{request, arrival};
  }

  void give_back(std::uint64_t now) {
    const std::lock_guard lock(taking_);
    free_since_.push_back(now);
  }

  // multi_stream: a query is `samples` inferences that all clients share; the next begins when it has ended.
  void stream(Step& step, RequestTally& tally) {
    const auto samples = static_cast<std::uint64_t>(orders_.shape.samples);
    while (!is_over()) {
      const std::uint64_t inference = request_.fetch_add(1, std::memory_order_relaxed);
      if (!step.prepare(inference)) return static_cast<void>(fail(step));
      for (std::uint64_t seen = released_.load(); seen < inference / samples; seen = released_.load()) {
        if (over_.load()) return;
        released_.wait(seen);
      }
      // Not for an interruption: whoever has an inference of a query that others wait for runs it.
      if (over_.load()) return;
      const bool good = step.run();
      if (!good && !orders_.counts_failures) return static_cast<void>(fail(step));
      if (!good) remember(step);
      if (query_left_.fetch_sub(1, std::memory_order_acq_rel) > 1) continue;
      if (!end_query(tally)) return;
    }
  }

  void remember(Step& step) {
    const std::lock_guard lock(taking_);
    query_error_ = step.error();
  }

  void begin_query(std::uint64_t now) {
    query_left_.store(orders_.shape.samples, std::memory_order_relaxed);
    query_begin_ = now;
    counts_.issued.fetch_add(1, std::memory_order_relaxed);
  }

  // By whoever ended it, alone: all others wait for the next.
  bool end_query(RequestTally& tally) {
    RequestTimes times{query_begin_, query_begin_, query_begin_, clock_.now()};
    if (query_error_) {
      counts_.failed.fetch_add(1, std::memory_order_relaxed);
      tally.failed(times, *query_error_);
      query_error_.reset();
    } else {
      keep(times, nullptr, tally);
    }
    ++queries_;
    if (queries_ >= orders_.requests || times.end - begin_ >= orders_.arrivals_ticks || is_interrupted()) {
      end_load();
      return false;
    }
    begin_query(clock_.now());
    released_.fetch_add(1);
    released_.notify_all();
    return true;
  }

  // By arrival: several clients end in another order than their requests came in.
  void sort_pairs() {
    const auto kept = std::min<std::uint64_t>(counts_.completed.load() - completed_before_, progress_.pairs.size());
    const auto pairs = progress_.pairs.first(kept);
    std::ranges::sort(pairs, {}, &TickPair::begin);
  }

  [[nodiscard]] double arrivals_s(const LoadRecord& record) const {
    if (!record.open_loop) return record.duration_s;
    const bool by_time = due_ < orders_.requests && orders_.arrivals_ticks != UINT64_MAX &&
                         orders_.shape.arrivals.kind != Arrivals::Kind::trace;
    if (by_time && !is_interrupted()) return static_cast<double>(orders_.arrivals_ticks) * orders_.tick_s;
    // The last of n arrivals ends n - 1 gaps.
    const double last_s = static_cast<double>(last_arrival_) * orders_.tick_s;
    return due_ > 1 ? last_s * static_cast<double>(due_) / static_cast<double>(due_ - 1) : last_s;
  }

  const Clock& clock_;
  Waiter waiter_;
  LoadOrders orders_;
  Schedule schedule_;
  LoadProgress progress_;
  LiveCounts own_counts_{};
  LiveCounts& counts_;
  std::uint64_t completed_before_;

  std::uint64_t begin_ = 0;
  std::size_t steps_ = 0;
  std::vector<std::unique_ptr<RequestTally>> tallies_;
  std::atomic<bool> over_ = false, has_begun_ = false;
  std::atomic<std::uint64_t> request_ = 0;

  std::mutex taking_;  // of what follows
  Timeline arrivals_;
  std::uint64_t due_ = 0, last_arrival_ = 0;
  bool ended_ = false, gave_up_ = false;
  std::deque<std::uint64_t> free_since_;
  const Step* failed_by_ = nullptr;
  std::string thread_error_;

  std::atomic<std::int64_t> query_left_ = 0;
  std::atomic<std::uint64_t> released_ = 0;  // the query that inferences may belong to
  std::uint64_t query_begin_ = 0, queries_ = 0;
  std::optional<RequestError> query_error_;

  std::optional<GenerationRecord> generation_;
};

}  // namespace infermeter
