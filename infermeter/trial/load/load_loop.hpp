// LoadLoop: requests by their arrivals, instead of one after the other.
//
// Clients are threads that take the next request themselves: there is no thread that hands out, and no queue between.
// In an open loop a client takes the next arrival of the schedule, sleeps until it comes, and issues the request; where
// all clients are busy, arrivals wait in the schedule, and their response times count from when they should have
// started. In a closed loop an arrival is the moment at which its client was free. Where the subject has queues, a
// thread drives as many clients as its queue was given: a thread for each would have to be woken for each answer. A
// template on its clock and its steps (timed_loop.hpp), so that tests run it on simulated time.
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
#include <type_traits>
#include <utility>
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

// `Step` is a client's: `bool prepare(std::uint64_t request)`, `bool run()`, `bool settle()` after a run that succeeded
// where failures are counted (whether it was an answer), `RequestError error()` after one of them said false, `const
// AnswerParts* parts()` after a run that succeeded, nullptr where nothing is known of parts. `Waiter` has `bool
// until(const Clock&, std::uint64_t ticks, is_over, may_spin)`: false if the function `is_over` said true meanwhile;
// while `may_spin` says true it may wait actively.
//
// With a `Queue`: `bool submit(Queue&)` and `bool finish()` of a step, which has ended when `EndedStep<Step>
// Queue::next(const Clock&, std::uint64_t ticks, bool may_spin)` returns it; that returns none at the moment `ticks`,
// or earlier. After `bool Queue::is_broken()` said true steps are finished as they are.
template <class Step>
struct EndedStep {
  Step* step = nullptr;
  std::uint64_t ticks = 0;  // when it did
};
struct NoQueue {};

template <class Clock, class Waiter, class Step, class Queue = NoQueue>
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

  // The first step runs on this thread, the others have one each; or the first queue, among which steps are divided.
  // multi_stream has no use for queues.
  LoopEnd run(std::span<Step> steps, std::span<Queue> queues = {}) {
    steps_ = steps.size();
    run_clients(steps, queues);
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

  [[nodiscard]] std::uint64_t ticks_of(double seconds) const {
    return static_cast<std::uint64_t>(seconds / orders_.tick_s);
  }
  [[nodiscard]] std::uint64_t bin_ticks() const {
    constexpr double narrowest_s = 0.01;
    return std::max<std::uint64_t>(ticks_of(narrowest_s), 1);
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

  void run_clients(std::span<Step> steps, std::span<Queue> queues) {
    const std::size_t count = queues.empty() ? steps.size() : queues.size();
    std::latch waiting(static_cast<std::ptrdiff_t>(count) - 1);
    std::vector<std::jthread> threads;
    try {
      for (std::size_t i = 1; i < count; ++i) {
        threads.emplace_back([this, &waiting, steps, queues, i] {
          waiting.count_down();
          has_begun_.wait(false);
          run_thread(steps, queues, i);
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
    run_thread(steps, queues, 0);
  }

  void run_thread(std::span<Step> steps, std::span<Queue> queues, std::size_t number) {
    RequestTally& tally = *tallies_[number % tallies_.size()];
    if constexpr (!std::is_same_v<Queue, NoQueue>) {
      if (!queues.empty()) {
        const std::size_t first = steps.size() * number / queues.size();
        const std::size_t last = steps.size() * (number + 1) / queues.size();
        return Driver(*this, steps.subspan(first, last - first), queues[number], tally).run();
      }
    }
    client(steps[number], tally);
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

  void client(Step& step, RequestTally& tally) {
    if (orders_.shape.scenario == LoadScenario::multi_stream) return stream(step, tally);
    std::uint64_t now = begin_;
    for (std::uint64_t own = 0; own < orders_.of_each && !is_over(); ++own) {
      const std::optional<Ticket> ticket = take(now);
      if (!ticket) return;
      RequestTimes times;
      const bool is_ready = step.prepare(ticket->request);
      times.free = clock_.now();
      times.arrival = ticket->arrival.value_or(times.free);
      times.issue = times.free;
      if (times.arrival > times.free) {
        const bool has_come =
            waiter_.until(clock_, times.arrival, [this] { return is_over(); }, [this] { return may_spin(); });
        if (!has_come) return take_back(times.arrival);
        times.issue = clock_.now();
      }
      counts_.issued.fetch_add(1, std::memory_order_relaxed);
      const bool good = is_ready && step.run();
      times.end = now = clock_.now();
      if (!note(good, times, step, tally)) return;
      if (is_queued()) give_back(now);
    }
  }

  // The clients of a queue. Instead of sleeping until its request ends, a client is a slot that is free or in flight.
  class Driver {
   public:
    Driver(LoadLoop& loop, std::span<Step> steps, Queue& queue, RequestTally& tally)
        : loop_(loop), steps_(steps), queue_(queue), tally_(tally), slots_(steps.size()), now_(loop.begin_) {
      for (std::size_t i = steps.size(); i > 0; --i) free_.push_back(i - 1);
    }

    void run() {
      for (;;) {
        while (issue_next()) continue;
        if (in_flight_ == 0 && !due_) return;
        if (due_ && !may_go_on()) {
          loop_.take_back(slots_[due_->slot].times.arrival);
          due_.reset();
          is_over_ = true;
          continue;
        }
        if (in_flight_ > 0) take_ended();
      }
    }

   private:
    struct Slot {
      RequestTimes times{};
      std::uint64_t issued = 0;
      bool is_in_flight = false;
    };
    struct Due {
      std::size_t slot = 0;
      bool is_ready = false;
    };

    // False: nothing can be issued yet.
    bool issue_next() {
      if (!due_ && !take_next()) return false;
      const RequestTimes& times = slots_[due_->slot].times;
      if (times.arrival > times.free && times.arrival > loop_.clock_.now()) return false;
      issue(*std::exchange(due_, std::nullopt));
      return true;
    }

    bool take_next() {
      if (is_over_ || free_.empty()) return false;
      const std::optional<Ticket> ticket = loop_.is_over() ? std::nullopt : loop_.take(now_);
      if (!ticket) {
        is_over_ = true;
        return false;
      }
      due_ = {.slot = free_.back(), .is_ready = steps_[free_.back()].prepare(ticket->request)};
      free_.pop_back();
      RequestTimes& times = slots_[due_->slot].times;
      times.issue = times.free = loop_.clock_.now();
      times.arrival = ticket->arrival.value_or(times.free);
      return true;
    }

    void issue(const Due& due) {
      Slot& slot = slots_[due.slot];
      if (slot.times.arrival > slot.times.free) slot.times.issue = loop_.clock_.now();
      ++slot.issued;
      loop_.counts_.issued.fetch_add(1, std::memory_order_relaxed);
      slot.is_in_flight = due.is_ready && steps_[due.slot].submit(queue_);
      if (slot.is_in_flight) return static_cast<void>(++in_flight_);
      slot.times.end = loop_.clock_.now();
      end(due.slot, false);
    }

    // False: the load is over while something is due.
    bool may_go_on() {
      if (in_flight_ > 0) return !loop_.is_over();
      return loop_.waiter_.until(
          loop_.clock_, slots_[due_->slot].times.arrival, [this] { return loop_.is_over(); },
          [this] { return loop_.may_spin(); });
    }

    void take_ended() {
      const std::uint64_t longest = loop_.ticks_of(0.05);  // then it is looked whether the load is over
      std::uint64_t moment = loop_.clock_.now() + longest;
      if (due_) moment = std::min(moment, slots_[due_->slot].times.arrival);
      const EndedStep<Step> ended = queue_.next(loop_.clock_, moment, loop_.may_spin());
      if (ended.step != nullptr) return take(static_cast<std::size_t>(ended.step - steps_.data()), ended.ticks);
      if (!queue_.is_broken()) return;
      for (std::size_t i = 0; i < slots_.size(); ++i)
        if (slots_[i].is_in_flight) take(i, loop_.clock_.now());
    }

    void take(std::size_t place, std::uint64_t ticks) {
      slots_[place].times.end = std::max(ticks, slots_[place].times.issue);
      slots_[place].is_in_flight = false;
      --in_flight_;
      end(place, steps_[place].finish());
    }

    void end(std::size_t place, bool good) {
      Slot& slot = slots_[place];
      now_ = slot.times.end;
      if (!loop_.note(good, slot.times, steps_[place], tally_)) is_over_ = true;
      if (loop_.is_queued()) loop_.give_back(now_);
      if (slot.issued < loop_.orders_.of_each) free_.push_back(place);
    }

    LoadLoop& loop_;
    std::span<Step> steps_;
    Queue& queue_;
    RequestTally& tally_;
    std::vector<Slot> slots_;
    std::vector<std::size_t> free_;
    std::optional<Due> due_;  // taken and prepared
    std::size_t in_flight_ = 0;
    std::uint64_t now_;     // when a request ended last
    bool is_over_ = false;  // nothing more is issued
  };

  // What a server sent may be none: a failure of this request, and not of the next. Nobody waits for that look.
  [[nodiscard]] bool is_answer(Step& step) const { return !orders_.counts_failures || step.settle(); }

  // False: the load is over.
  bool note(bool good, const RequestTimes& times, Step& step, RequestTally& tally) {
    if (!good && !orders_.counts_failures) return fail(step);
    const AnswerParts* const parts = good ? step.parts() : nullptr;
    if (!good || !is_answer(step)) {
      counts_.failed.fetch_add(1, std::memory_order_relaxed);
      tally.failed(times, step.error());
      return true;
    }
    keep(times, parts, tally);
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

  std::optional<Ticket> take(std::uint64_t now) {
    return orders_.shape.is_open() ? take_scheduled(now) : take_free(now);
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
  void take_back(std::uint64_t arrival) {
    const std::lock_guard lock(taking_);
    ended_ = true;
    --due_;
    last_arrival_ = std::min(last_arrival_, clock_.now() - begin_);
    arrivals_.take_back(arrival - begin_);
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
      const bool is_ready = step.prepare(inference);
      if (!is_ready && !orders_.counts_failures) return static_cast<void>(fail(step));
      for (std::uint64_t seen = released_.load(); seen < inference / samples; seen = released_.load()) {
        if (over_.load()) return;
        released_.wait(seen);
      }
      // Not for an interruption: whoever has an inference of a query that others wait for runs it.
      if (over_.load()) return;
      const bool good = is_ready && step.run();
      note_end_of_inference(clock_.now());
      if (!good && !orders_.counts_failures) return static_cast<void>(fail(step));
      if (!good || !is_answer(step)) remember(step);
      if (query_left_.fetch_sub(1, std::memory_order_acq_rel) > 1) continue;
      if (!end_query(tally)) return;
    }
  }

  void remember(Step& step) {
    const std::lock_guard lock(taking_);
    query_error_ = step.error();
  }

  void note_end_of_inference(std::uint64_t now) {
    std::uint64_t last = query_end_.load(std::memory_order_relaxed);
    while (last < now && !query_end_.compare_exchange_weak(last, now, std::memory_order_relaxed)) continue;
  }

  void begin_query(std::uint64_t now) {
    query_left_.store(orders_.shape.samples, std::memory_order_relaxed);
    query_begin_ = now;
    counts_.issued.fetch_add(1, std::memory_order_relaxed);
  }

  // By whoever ended it, alone: all others wait for the next.
  bool end_query(RequestTally& tally) {
    RequestTimes times{query_begin_, query_begin_, query_begin_, query_end_.load(std::memory_order_relaxed)};
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
    // The last of n arrivals ends n - 1 gaps, but for those that come together.
    if (orders_.shape.arrivals.kind == Arrivals::Kind::burst) return static_cast<double>(due_) / orders_.shape.rate;
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
  std::atomic<std::uint64_t> query_end_ = 0;  // of its inferences, so far the last one's
  std::atomic<std::uint64_t> released_ = 0;   // the query that inferences may belong to
  std::uint64_t query_begin_ = 0, queries_ = 0;
  std::optional<RequestError> query_error_;

  std::optional<GenerationRecord> generation_;
};

}  // namespace infermeter
