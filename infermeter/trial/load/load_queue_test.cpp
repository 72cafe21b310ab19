// LoadLoop over queues, whose clients have no threads: on simulated time, and on real threads.
#include <gtest/gtest.h>

#include <deque>
#include <functional>
#include <map>

#include "infermeter/trial/load/load_loop.hpp"
#include "infermeter/trial/machine/clock.hpp"
#include "infermeter/trial/machine/sleep_until.hpp"

namespace infermeter::load_queue_test {
namespace {

constexpr double kTick = 1e-9;
constexpr std::uint64_t kMilli = 1'000'000, kSecond = 1'000'000'000;

struct Step;

// A server on simulated time: the nth request that comes to it is answered after `service(n)`.
struct Server {
  std::uint64_t time = 5 * kSecond;
  std::function<std::uint64_t(std::uint64_t)> service{};
  std::function<bool(std::uint64_t)> is_good = [](std::uint64_t) { return true; };
  std::function<bool(std::uint64_t)> is_taken = [](std::uint64_t) { return true; };
  std::function<bool(std::uint64_t)> is_answer = [](std::uint64_t) { return true; };
  std::uint64_t reading = 0;             // of an answer: time that nobody waits for
  std::uint64_t breaks_at = UINT64_MAX;  // its queue, at that moment
  std::uint64_t examining = 0;           // an answer takes so long, after which the next request is issued
  std::uint64_t came = 0;
  std::size_t most_in_flight = 0;
  std::multimap<std::uint64_t, Step*> answers{};  // by when they come
};

struct Clock {
  Server* server;
  [[nodiscard]] std::uint64_t now() const { return server->time; }
};

struct Waiter {
  Server* server;
  template <class IsOver, class MaySpin>
  [[nodiscard]] bool until(const Clock&, std::uint64_t moment, const IsOver& is_over, const MaySpin&) const {
    if (is_over()) return false;
    server->time = std::max(server->time, moment);
    return true;
  }
};

struct Queue {
  Server* server;
  std::atomic<std::uint32_t>* interrupt = nullptr;  // set where nothing comes any more
  bool broken = false;
  EndedStep<Step> next(const Clock&, std::uint64_t moment, bool) {
    broken = moment >= server->breaks_at;
    if (broken) server->time = std::max(server->time, server->breaks_at);
    if (broken) return {};
    if (server->answers.empty() || server->answers.begin()->first > moment) {
      if (interrupt != nullptr) *interrupt = 1;
      server->time = std::max(server->time, moment);
      return {};
    }
    const auto first = server->answers.begin();
    Step* const step = first->second;
    const std::uint64_t end = first->first;
    server->time = std::max(server->time, end);
    server->answers.erase(first);
    return {step, end};
  }
  [[nodiscard]] bool is_broken() const { return broken; }
};

struct Step {
  Server* server;
  bool good = true;
  std::uint64_t number = 0;
  [[nodiscard]] bool prepare(std::uint64_t) const { return true; }
  [[nodiscard]] bool run() const { return false; }
  [[nodiscard]] bool submit(Queue&) {
    number = server->came++;
    if (!server->is_taken(number)) return false;
    good = server->is_good(number);
    server->answers.emplace(server->time + server->service(number), this);
    server->most_in_flight = std::max(server->most_in_flight, server->answers.size());
    return true;
  }
  [[nodiscard]] bool finish() const {
    server->time += server->examining;
    return good && server->time < server->breaks_at;
  }
  [[nodiscard]] bool settle() const {
    server->time += server->reading;
    return server->is_answer(number);
  }
  [[nodiscard]] static RequestError error() { return {"it is busy", "5xx"}; }
  [[nodiscard]] static const AnswerParts* parts() { return nullptr; }
};

struct Loaded {
  LoadRecord record;
  LoopEnd end = LoopEnd::complete;
};

Loaded simulate(Server& server, std::size_t clients, LoadOrders orders, bool interrupts = false) {
  const Clock clock{&server};
  std::vector<TickPair> pairs(100'000);
  std::atomic<std::uint64_t> done = 0;
  std::atomic<std::uint32_t> interrupt = 0;
  orders.tick_s = kTick;
  LoadLoop<Clock, Waiter, Step, Queue> loop(clock, {&server}, orders, Schedule(orders.shape, 1),
                                            {.pairs = pairs, .done = &done, .interrupt = &interrupt});
  std::vector<Step> steps(clients, {&server});
  std::vector<Queue> queues{{&server, interrupts ? &interrupt : nullptr}};
  const LoopEnd end = loop.run(steps, queues);
  return {loop.record(), end};
}

LoadShape shape_of(const Pairs& load) { return load_shape_from_pairs(load).value(); }

auto always(std::uint64_t ticks) {
  return [ticks](std::uint64_t) { return ticks; };
}

double ms(std::optional<double> seconds) { return seconds.value_or(-1) * 1e3; }

TEST(LoadQueue, AnOpenLoopIsIssuedAtItsArrivals) {
  Server server{.service = always(3 * kMilli)};
  const auto [record, end] =
      simulate(server, 4, {.shape = shape_of({{"rate", "1000"}, {"arrivals", "constant"}}), .requests = 500});
  EXPECT_EQ(end, LoopEnd::complete);
  EXPECT_EQ(record.completed, 500U);
  EXPECT_EQ(record.clients, 4);
  EXPECT_EQ(server.most_in_flight, 3U);
  EXPECT_NEAR(ms(record.response.quantile_s(1)), 3, 0.01);
  EXPECT_NEAR(ms(record.lag.quantile_s(1)), 0, 1e-9);
  EXPECT_NEAR(record.arrivals_s, 0.5, 1e-9);
}

// Two clients answer 666 requests a second: the hundredth has to wait for some 50 ms, of which its service knows
// nothing.
TEST(LoadQueue, ArrivalsThatFindNoClientWait) {
  Server server{.service = always(3 * kMilli)};
  const auto [record, end] =
      simulate(server, 2, {.shape = shape_of({{"rate", "1000"}, {"arrivals", "constant"}}), .requests = 100});
  EXPECT_EQ(record.completed, 100U);
  EXPECT_EQ(server.most_in_flight, 2U);
  EXPECT_NEAR(ms(record.response.quantile_s(1)), 51, 2);
  EXPECT_NEAR(ms(record.service.quantile_s(1)), 3, 0.01);
}

TEST(LoadQueue, AClosedLoopKeepsAllItsClientsBusy) {
  Server server{.service = always(10 * kMilli)};
  const auto [record, end] = simulate(server, 4, {.shape = shape_of({{"concurrency", "4"}}), .requests = 40});
  EXPECT_EQ(record.completed, 40U);
  EXPECT_EQ(record.issued, 40U);
  EXPECT_NEAR(record.duration_s, 0.1, 1e-9);
  EXPECT_NEAR(ms(record.response.quantile_s(0.5)), 10, 0.01);
}

// A request that takes a second holds up its own client only.
TEST(LoadQueue, ASlowRequestDelaysNoOther) {
  Server server{.service = [](std::uint64_t number) { return number == 10 ? kSecond : kMilli; }};
  const auto [record, end] =
      simulate(server, 4, {.shape = shape_of({{"rate", "1000"}, {"arrivals", "constant"}}), .requests = 1000});
  EXPECT_NEAR(ms(record.response.quantile_s(1)), 1000, 1);
  EXPECT_NEAR(ms(record.response.quantile_s(0.99)), 1, 0.01);
}

// Four answers come together and each is examined for 2 ms: that is no time of the server.
TEST(LoadQueue, ExaminingAnAnswerIsNotInTheTimesOfOthers) {
  Server server{.service = always(10 * kMilli), .examining = 2 * kMilli};
  const auto [record, end] = simulate(server, 4, {.shape = shape_of({{"concurrency", "4"}}), .requests = 4});
  EXPECT_NEAR(ms(record.response.quantile_s(1)), 10, 0.01);
}

TEST(LoadQueue, FailuresAreCountedWhereverTheyHappen) {
  Server server{.service = always(kMilli),
                .is_good = [](std::uint64_t number) { return number % 10 != 3; },
                .is_taken = [](std::uint64_t number) { return number % 10 != 7; }};
  LoadOrders orders{.shape = shape_of({{"concurrency", "3"}}), .requests = 100, .counts_failures = true};
  const auto [record, end] = simulate(server, 3, orders);
  EXPECT_EQ(end, LoopEnd::complete);
  EXPECT_EQ(record.completed, 80U);
  EXPECT_EQ(record.failed, 20U);

  server.came = 0;
  server.is_answer = [](std::uint64_t number) { return number % 10 != 5 && number != 99; };
  server.reading = kMilli / 10;
  EXPECT_EQ(simulate(server, 3, orders).record.completed, 69U) << "each answer is looked at, the last ones as well";
  EXPECT_EQ(server.came, 100U);

  server.came = 0;
  orders.counts_failures = false;
  EXPECT_EQ(simulate(server, 3, orders).end, LoopEnd::failed);
  EXPECT_TRUE(server.answers.empty()) << "what was in flight is waited for";
}

TEST(LoadQueue, EachClientHasItsShareInAWarmUp) {
  Server server{.service = [](std::uint64_t number) { return (1 + number % 5) * kMilli; }};
  const auto [record, end] = simulate(server, 3, {.shape = shape_of({{"concurrency", "3"}}), .of_each = 7});
  EXPECT_EQ(record.completed, 21U);
}

TEST(LoadQueue, AnInterruptionTakesBackWhatIsNotDueYet) {
  Server server{.service = always(kSecond)};
  const auto [record, end] = simulate(server, 4, {.shape = shape_of({{"rate", "10"}, {"arrivals", "constant"}})}, true);
  EXPECT_EQ(end, LoopEnd::interrupted);
  EXPECT_EQ(record.due, record.issued);
  EXPECT_EQ(record.completed, record.issued);
}

// Otherwise its requests would never end.
TEST(LoadQueue, WhatIsInABrokenQueueFails) {
  Server server{.service = always(kSecond), .breaks_at = 5 * kSecond + 30 * kMilli};
  const auto [record, end] =
      simulate(server, 4, {.shape = shape_of({{"concurrency", "4"}}), .requests = 10, .counts_failures = true});
  EXPECT_EQ(record.failed + record.completed, 10U);
  EXPECT_GE(record.failed, 4U);
}

// --- real threads --------------------------------------------------------------------------------------------------

struct NullStep;
struct NullQueue {
  std::deque<NullStep*> submitted{};
  EndedStep<NullStep> next(const MonotonicClock& clock, std::uint64_t, bool) {
    if (submitted.empty()) return {};
    NullStep* const step = submitted.back();
    submitted.pop_back();
    return {step, clock.now()};
  }
  [[nodiscard]] static bool is_broken() { return false; }
};
struct NullStep {
  std::atomic<std::uint64_t>* count;
  [[nodiscard]] static bool prepare(std::uint64_t) { return true; }
  [[nodiscard]] static bool run() { return false; }
  [[nodiscard]] bool submit(NullQueue& queue) {
    queue.submitted.push_back(this);
    return true;
  }
  [[nodiscard]] bool finish() const {
    ++*count;
    return true;
  }
  [[nodiscard]] static bool settle() { return true; }
  [[nodiscard]] static RequestError error() { return {}; }
  [[nodiscard]] static const AnswerParts* parts() { return nullptr; }
};

TEST(LoadQueue, SeveralQueuesCountEachRequestOnce) {
  for (const Pairs& load :
       std::vector<Pairs>{{{"concurrency", "16"}}, {{"scenario", "offline"}}, {{"rate", "1000000"}}}) {
    constexpr std::uint64_t requests = 5000;
    std::vector<TickPair> pairs(requests);
    std::atomic<std::uint64_t> done = 0, count = 0;
    std::atomic<std::uint32_t> interrupt = 0;
    const MonotonicClock clock;
    const LoadShape shape = shape_of(load);
    LoadLoop<MonotonicClock, SleepUntil, NullStep, NullQueue> loop(
        clock, SleepUntil{kTick}, {.shape = shape, .requests = requests}, Schedule(shape, 1),
        {.pairs = pairs, .done = &done, .interrupt = &interrupt});
    std::vector<NullStep> steps(7, {&count});
    std::vector<NullQueue> queues(3);
    ASSERT_EQ(loop.run(steps, queues), LoopEnd::complete);
    const LoadRecord record = loop.record();
    EXPECT_EQ(record.completed, requests);
    EXPECT_EQ(count, requests);
    EXPECT_EQ(done, requests);
    EXPECT_TRUE(std::ranges::is_sorted(pairs, {}, &TickPair::begin));
  }
}

}  // namespace
}  // namespace infermeter::load_queue_test
