#include "infermeter/trial/load/load_loop.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <functional>
#include <utility>

#include "infermeter/trial/load/find_rate.hpp"
#include "infermeter/trial/machine/clock.hpp"
#include "infermeter/trial/machine/sleep_until.hpp"

namespace infermeter {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::Pair;

constexpr double kTick = 1e-9;
constexpr std::uint64_t kMilli = 1'000'000, kSecond = 1'000'000'000;

struct SimulatedClock {
  std::uint64_t* time;
  [[nodiscard]] std::uint64_t now() const { return *time; }
};

// Exact, unless it is to be late.
struct SimulatedWaiter {
  std::uint64_t* time;
  std::uint64_t late = 0;
  template <class IsOver, class MaySpin>
  [[nodiscard]] bool until(const SimulatedClock&, std::uint64_t moment, const IsOver& is_over, const MaySpin&) const {
    if (is_over()) return false;
    *time = std::max(*time, moment + late);
    return true;
  }
};

struct SimulatedStep {
  std::uint64_t* time;
  std::function<std::uint64_t(std::uint64_t)> service;  // of the nth request
  std::function<bool(std::uint64_t)> is_good = [](std::uint64_t) { return true; };
  std::optional<std::uint64_t> first_part{};  // of an answer, from its issue; the second one is its end
  std::uint64_t count = 0;
  AnswerParts answer{};
  std::function<bool(std::uint64_t)> is_answer = [](std::uint64_t) { return true; };  // the nth request's, once read
  std::function<bool(std::uint64_t)> can_prepare = [](std::uint64_t) { return true; };
  std::uint64_t reading = 0;
  [[nodiscard]] bool prepare(std::uint64_t number) const { return can_prepare(number); }
  [[nodiscard]] bool settle() const {
    *time += reading;
    return is_answer(count - 1);
  }
  [[nodiscard]] bool run() {
    if (first_part) answer.moments = {*time + *first_part, *time + service(count)};
    *time += service(count);
    return is_good(count++);
  }
  [[nodiscard]] static RequestError error() { return {"it is busy", "5xx"}; }
  [[nodiscard]] const AnswerParts* parts() const { return first_part ? &answer : nullptr; }
};

struct Simulated {
  LoadRecord record;
  std::vector<TickPair> pairs;  // that were written
  LoopEnd end = LoopEnd::complete;
};

LoadShape shape_of(const Pairs& load) { return load_shape_from_pairs(load).value(); }

// One client, at the time of its step, which is as the load has left it afterwards.
Simulated simulate(const LoadOrders& orders, SimulatedStep& step, std::uint64_t late = 0) {
  const SimulatedClock clock{step.time};
  std::vector<TickPair> pairs(100'000);
  std::atomic<std::uint64_t> done = 0;
  std::atomic<std::uint32_t> interrupt = 0;
  LoadLoop<SimulatedClock, SimulatedWaiter, SimulatedStep> loop(
      clock, {step.time, late}, orders, Schedule(orders.shape, 1),
      {.pairs = pairs, .done = &done, .interrupt = &interrupt});
  std::vector<SimulatedStep> steps{step};
  Simulated result;
  result.end = loop.run(steps);
  result.record = loop.record();
  pairs.resize(done);
  result.pairs = std::move(pairs);
  step = steps[0];
  return result;
}

Simulated simulate(
    const LoadOrders& orders, std::function<std::uint64_t(std::uint64_t)> service,
    std::function<bool(std::uint64_t)> is_good = [](std::uint64_t) { return true; }, std::uint64_t late = 0) {
  std::uint64_t time = 5 * kSecond;
  SimulatedStep step{&time, std::move(service), std::move(is_good)};
  return simulate(orders, step, late);
}

LoadOrders orders_for(const Pairs& load, std::uint64_t requests, double duration_s = 0) {
  LoadOrders orders{.shape = shape_of(load), .requests = requests, .tick_s = kTick};
  if (duration_s > 0) orders.arrivals_ticks = orders.patience_ticks = static_cast<std::uint64_t>(duration_s * kSecond);
  return orders;
}

auto always(std::uint64_t ticks) {
  return [ticks](std::uint64_t) { return ticks; };
}

double ms(std::optional<double> seconds) { return seconds.value_or(-1) * 1e3; }

// One client, and a request each 10 ms that takes 20 ms: each waits for those before it, and so does its first token.
TEST(LoadLoop, FirstTokensCountFromTheArrival) {
  const LoadOrders orders =
      orders_for({{"rate", "100"}, {"arrivals", "constant"}, {"goodput", "ttft<=26ms response<=1s"}}, 4);
  std::uint64_t time = 5 * kSecond;
  const SimulatedClock clock{&time};
  std::vector<TickPair> pairs(100);
  std::atomic<std::uint64_t> done = 0;
  std::atomic<std::uint32_t> interrupt = 0;
  LoadLoop<SimulatedClock, SimulatedWaiter, SimulatedStep> loop(
      clock, {&time, 0}, orders, Schedule(orders.shape, 1), {.pairs = pairs, .done = &done, .interrupt = &interrupt});
  std::vector<SimulatedStep> steps{{.time = &time, .service = always(20 * kMilli), .first_part = 5 * kMilli}};
  EXPECT_EQ(loop.run(steps), LoopEnd::complete);
  const LoadRecord record = loop.record();
  ASSERT_TRUE(loop.generation());
  EXPECT_EQ(loop.generation()->answers, 4U);
  EXPECT_EQ(loop.generation()->parts, 8U);
  EXPECT_NEAR(ms(loop.generation()->ttft.quantile_s(0.25)), 5, 0.01);
  EXPECT_NEAR(ms(loop.generation()->ttft.quantile_s(1)), 35, 0.02) << "it waited for 30 ms";
  EXPECT_NEAR(ms(loop.generation()->tpot.quantile_s(1)), 15, 0.01);
  EXPECT_EQ(record.good, 3U);
  EXPECT_NEAR(loop.generation()->duration_s, record.duration_s, 1e-12);
}

TEST(LoadLoop, AnOpenLoopCountsFromTheArrival) {
  const auto [record, pairs, end] =
      simulate(orders_for({{"rate", "50"}, {"arrivals", "constant"}}, 10), always(10 * kMilli));
  EXPECT_EQ(end, LoopEnd::complete);
  EXPECT_EQ(record.due, 10U);
  EXPECT_EQ(record.completed, 10U);
  EXPECT_NEAR(ms(record.response.quantile_s(1)), 10, 0.01);
  EXPECT_NEAR(ms(record.lag.quantile_s(1)), 0, 1e-9);
  // Ten arrivals, 20 ms apart, are a rate of 50; the last one begins at 180 ms.
  EXPECT_NEAR(record.arrivals_s, 0.2, 1e-9);
  ASSERT_EQ(pairs.size(), 10U);
  for (const TickPair& pair : pairs) EXPECT_EQ(pair.end - pair.begin, 10 * kMilli);
}

// A subject that stands still for a second delays those who come meanwhile; from the issue on, one request alone was
// slow.
TEST(LoadLoop, AStallIsSeenByEveryoneWhoWaited) {
  const auto stalls = [](std::uint64_t request) { return request == 3000 ? kSecond : kMilli / 10; };
  const auto [record, pairs, end] =
      simulate(orders_for({{"rate", "1000"}, {"arrivals", "constant"}}, UINT64_MAX, 10), stalls);
  EXPECT_EQ(record.completed, 10'000U);
  EXPECT_GE(*record.response.quantile_s(0.99), 0.85);
  EXPECT_NEAR(ms(record.service.quantile_s(0.999)), 0.1, 0.001);
  EXPECT_NEAR(ms(record.response.quantile_s(0.5)), 0.1, 0.001);
  EXPECT_FALSE(record.gave_up);
  std::uint64_t longest = 0;
  for (const LoadBin& bin : record.timeline) longest = std::max(longest, bin.in_flight);
  EXPECT_GE(longest, 900U) << "the queue that built up";
}

TEST(LoadLoop, WhatTheGeneratorIsLateIsApartFromWaitingForAClient) {
  const auto on_time = simulate(orders_for({{"rate", "100"}, {"arrivals", "constant"}}, 100), always(kMilli),
                                {[](auto) { return true; }}, 3 * kMilli);
  EXPECT_NEAR(ms(on_time.record.late.quantile_s(0.5)), 3, 0.01);
  EXPECT_NEAR(ms(on_time.record.response.quantile_s(0.5)), 4, 0.01);
  // Twice too slow: all of the lag is waiting.
  const auto busy = simulate(orders_for({{"rate", "100"}, {"arrivals", "constant"}}, 100), always(20 * kMilli));
  EXPECT_NEAR(ms(busy.record.late.quantile_s(1)), 0, 1e-9);
  EXPECT_NEAR(ms(busy.record.lag.quantile_s(1)), 990, 1);
}

TEST(LoadLoop, WhoeverWaitsTooLongIsGivenUpAndCounted) {
  const auto [record, pairs, end] =
      simulate(orders_for({{"rate", "100"}, {"arrivals", "constant"}}, UINT64_MAX, 1), always(100 * kMilli));
  EXPECT_TRUE(record.gave_up);
  EXPECT_EQ(record.due, 100U);
  EXPECT_EQ(record.completed, 21U) << "those of the first two seconds";
  EXPECT_EQ(record.timeline.back().in_flight, 79U);
}

TEST(LoadLoop, ClientsOfAClosedLoopQueueForASubjectThatTakesOneAtATime) {
  const auto [record, pairs, end] = simulate(orders_for({{"concurrency", "4"}}, 100), always(10 * kMilli));
  EXPECT_EQ(record.clients, 4);
  EXPECT_NEAR(ms(record.response.quantile_s(0.5)), 40, 0.03);
  EXPECT_NEAR(ms(record.service.quantile_s(0.5)), 10, 0.01);
  EXPECT_NEAR(static_cast<double>(record.completed) / record.duration_s, 100, 0.01);
}

TEST(LoadLoop, ARequestOfAMultiStreamEndsWithItsLastInference) {
  const auto [record, pairs, end] = simulate(orders_for({{"scenario", "multi-stream"}}, 5), always(kMilli));
  EXPECT_EQ(record.samples, 8);
  EXPECT_EQ(record.completed, 5U);
  EXPECT_NEAR(ms(record.response.quantile_s(1)), 8, 0.01);
  ASSERT_EQ(pairs.size(), 5U);
}

TEST(LoadLoop, FailuresAreCountedByTheirSentenceOrEndTheLoad) {
  LoadOrders orders = orders_for({{"rate", "100"}, {"arrivals", "constant"}}, 10);
  const auto every_other = [](std::uint64_t n) { return n % 2 == 0; };
  EXPECT_EQ(simulate(orders, always(kMilli), every_other).end, LoopEnd::failed);
  orders.counts_failures = true;
  const auto [record, pairs, end] = simulate(orders, always(kMilli), every_other);
  EXPECT_EQ(end, LoopEnd::complete);
  EXPECT_EQ(record.completed, 5U);
  EXPECT_EQ(record.failed, 5U);
  EXPECT_EQ(pairs.size(), 5U);
  EXPECT_THAT(record.errors, ElementsAre(Pair("it is busy", 5U)));
  EXPECT_THAT(record.error_kinds, ElementsAre(Pair("5xx", 5U)));
}

// One that says it succeeded, and then is none: of this request, and whether another one follows or not.
TEST(LoadLoop, AnAnswerThatIsNoneIsAFailureOfItsOwnRequest) {
  for (const Pairs& load : std::vector<Pairs>{{{"rate", "100"}, {"arrivals", "constant"}},
                                              {{"concurrency", "1"}},
                                              {{"scenario", "multi-stream"}, {"samples", "1"}}}) {
    LoadOrders orders = orders_for(load, 10);
    orders.counts_failures = true;
    std::uint64_t time = kSecond;
    SimulatedStep step{.time = &time, .service = always(kMilli)};
    step.is_answer = [](std::uint64_t n) { return n != 3 && n != 9; };
    step.reading = 2 * kMilli;
    const auto [record, pairs, end] = simulate(orders, step);
    EXPECT_EQ(end, LoopEnd::complete);
    EXPECT_EQ(step.count, 10U) << "each was sent";
    EXPECT_EQ(record.completed, 8U);
    EXPECT_EQ(record.failed, 2U);
    EXPECT_NEAR(ms(record.response.quantile_s(1)), 1, 0.01) << "nobody waits for its reading";
  }
}

TEST(LoadLoop, WhatCannotBePreparedWaitsForItsArrivalAndFails) {
  LoadOrders orders = orders_for({{"rate", "100"}, {"arrivals", "constant"}}, 10);
  orders.counts_failures = true;
  for (const bool streams : {false, true}) {
    if (streams) orders.shape = shape_of({{"scenario", "multi-stream"}, {"samples", "1"}});
    std::uint64_t time = kSecond;
    SimulatedStep step{.time = &time, .service = always(kMilli)};
    step.can_prepare = [](std::uint64_t n) { return n < 5; };
    const auto [record, pairs, end] = simulate(orders, step);
    EXPECT_EQ(end, LoopEnd::complete);
    EXPECT_EQ(record.completed, 5U);
    EXPECT_EQ(record.failed, 5U);
    if (!streams) {
      EXPECT_NEAR(static_cast<double>(time - kSecond) * kTick, 0.09, 0.002);
    }
  }
}

// What was due is known to the last: bursts come together.
TEST(LoadLoop, BurstsAreOfferedAtTheirRate) {
  for (const auto& [burst, requests] : {std::pair("burst:50", 100), {"burst:50", 40}, {"burst:3", 9}}) {
    LoadOrders orders = orders_for({{"rate", "100"}, {"arrivals", burst}}, static_cast<std::uint64_t>(requests));
    const auto [record, pairs, end] = simulate(orders, always(kMilli / 100));
    EXPECT_EQ(record.due, static_cast<std::uint64_t>(requests));
    EXPECT_NEAR(static_cast<double>(record.due) / record.arrivals_s, 100, 1e-6) << burst << ' ' << requests;
  }
}

// What a watcher sees while the requests of one client run: failed, ended well, and one in flight.
TEST(LoadLoop, CountsShowWhatIsInFlight) {
  const LoadOrders orders{
      .shape = shape_of({{"concurrency", "1"}}), .requests = 6, .tick_s = kTick, .counts_failures = true};
  std::uint64_t time = kSecond;
  const SimulatedClock clock{&time};
  std::atomic<std::uint64_t> done = 0;
  std::atomic<std::uint32_t> interrupt = 0;
  LiveCounts counts{};
  LoadLoop<SimulatedClock, SimulatedWaiter, SimulatedStep> loop(
      clock, {&time}, orders, Schedule(orders.shape, 1),
      {.pairs = {}, .done = &done, .interrupt = &interrupt, .counts = &counts});
  std::vector<std::uint64_t> failed, in_flight;
  const auto service = [&](std::uint64_t) {
    failed.push_back(counts.failed);
    in_flight.push_back(counts.issued - counts.completed - counts.failed);
    return kMilli;
  };
  std::vector<SimulatedStep> steps{{&time, service, [](std::uint64_t n) { return n % 3 != 0; }}};
  EXPECT_EQ(loop.run(steps), LoopEnd::complete);
  EXPECT_THAT(failed, ElementsAre(0U, 1U, 1U, 1U, 2U, 2U));
  EXPECT_THAT(in_flight, Each(1U));
  EXPECT_EQ(counts.completed, 4U);
}

// Asks at each arrival, as whoever waits for it does.
struct AskingWaiter {
  std::uint64_t* time;
  std::vector<bool>* answers;
  template <class IsOver, class MaySpin>
  [[nodiscard]] bool until(const SimulatedClock&, std::uint64_t moment, const IsOver&, const MaySpin& may_spin) const {
    answers->push_back(may_spin());
    *time = std::max(*time, moment);
    return true;
  }
};

std::vector<bool> may_spin(const char* spin, std::uint64_t others_in_flight) {
  LoadOrders orders = orders_for({{"rate", "100"}, {"arrivals", "constant"}, {"spin", spin}}, 3);
  orders.counts_failures = true;
  std::uint64_t time = 5 * kSecond;
  const SimulatedClock clock{&time};
  std::vector<TickPair> pairs(10);
  std::vector<bool> answers;
  std::atomic<std::uint64_t> done = 0;
  std::atomic<std::uint32_t> interrupt = 0;
  LiveCounts counts{};
  counts.issued = others_in_flight;
  LoadLoop<SimulatedClock, AskingWaiter, SimulatedStep> loop(
      clock, {&time, &answers}, orders, Schedule(orders.shape, 1),
      {.pairs = pairs, .done = &done, .interrupt = &interrupt, .counts = &counts});
  std::vector<SimulatedStep> steps{
      {.time = &time, .service = always(kMilli), .is_good = [](std::uint64_t n) { return n != 0; }}};
  EXPECT_EQ(loop.run(steps), LoopEnd::complete);
  EXPECT_FALSE(answers.empty());
  return answers;
}

// Of those that have ended, one failed.
TEST(LoadLoop, SpinsOnlyWhileNothingIsInFlight) {
  EXPECT_THAT(may_spin("auto", 0), Each(true));
  EXPECT_THAT(may_spin("auto", 1), Each(false));
  EXPECT_THAT(may_spin("on", 1), Each(true));
  EXPECT_THAT(may_spin("off", 0), Each(false));
}

TEST(LoadLoop, AClosedLoopEndsWithItsTime) {
  const auto [record, pairs, end] = simulate(orders_for({{"concurrency", "1"}}, UINT64_MAX, 1), always(10 * kMilli));
  EXPECT_EQ(record.completed, 100U);
  EXPECT_NEAR(record.duration_s, 1, 1e-9);
}

// Exponential service at rate mu, Poisson arrivals at rate lambda: response times are exponential with rate
// mu - lambda, so that p90 is ln(10) / (mu - lambda).
TEST(FindRate, FindsTheRateOfAQueueThatIsKnown) {
  constexpr double mu = 1000, bound_s = 0.01;
  const double truth = mu - std::log(10) / bound_s;
  double sum = 0;
  constexpr int seeds = 10;
  for (int seed = 1; seed <= seeds; ++seed) {
    std::uint64_t time = kSecond;
    const SimulatedClock clock{&time};
    Schedule services(shape_of({{"rate", "1000"}}), static_cast<std::uint64_t>(seed) * 977);
    double last_s = 0;
    std::vector<SimulatedStep> steps{{&time, [&](std::uint64_t) {
                                        const double next_s = *services.next();
                                        return static_cast<std::uint64_t>((next_s - std::exchange(last_s, next_s)) /
                                                                          kTick);
                                      }}};
    std::atomic<std::uint64_t> done = 0;
    std::atomic<std::uint32_t> interrupt = 0;
    const auto run_load = [&](const LoadOrders& orders, std::uint64_t with_seed, bool) {
      LoadLoop<SimulatedClock, SimulatedWaiter, SimulatedStep> loop(
          clock, {&time}, orders, Schedule(orders.shape, with_seed),
          {.pairs = {}, .done = &done, .interrupt = &interrupt});
      const LoopEnd end = loop.run(steps);
      return std::pair(end, loop.record());
    };
    const LoadShape shape = shape_of({{"find_rate", "response_p90<=10ms"}});
    const std::uint64_t begin = time;
    const auto [end, record] = find_rate(shape, 60, kTick, static_cast<std::uint64_t>(seed) << 32, false, run_load);
    EXPECT_EQ(end, LoopEnd::complete);
    EXPECT_GE(record.steps.size(), 10U);
    EXPECT_LE(static_cast<double>(time - begin) * kTick, 75);
    EXPECT_NEAR(record.max_rate, truth, 0.15 * truth) << "seed " << seed;
    sum += record.max_rate;
  }
  EXPECT_NEAR(sum / seeds, truth, 0.05 * truth) << sum / seeds / truth;
}

TEST(RateSearch, AWrongOutcomeIsMended) {
  constexpr double truth = 137;
  RateSearch search(1000);
  for (int trial = 0; trial < 60; ++trial) {
    const double rate = search.next();
    const bool lies = trial % 7 == 2;
    search.observe(rate, (rate < truth) != lies);
  }
  EXPECT_NEAR(search.next(), truth, 0.02 * truth);
}

struct NullStep {
  std::atomic<std::uint64_t>* count;
  [[nodiscard]] bool prepare(std::uint64_t) const { return true; }
  [[nodiscard]] bool run() const { return count->fetch_add(1, std::memory_order_relaxed) < UINT64_MAX; }
  [[nodiscard]] static bool settle() { return true; }
  [[nodiscard]] static RequestError error() { return {"", "other"}; }
  [[nodiscard]] static const AnswerParts* parts() { return nullptr; }
};

// Real threads: nothing is lost or counted twice, whatever the scenario.
TEST(LoadLoop, ManyClientsCountEachRequestOnce) {
  for (const Pairs& load : std::vector<Pairs>{{{"concurrency", "8"}},
                                              {{"scenario", "offline"}},
                                              {{"rate", "1000000"}, {"concurrency", "8"}},
                                              {{"scenario", "multi-stream"}, {"samples", "5"}}}) {
    constexpr std::uint64_t requests = 5000;
    std::vector<TickPair> pairs(requests / 2);
    std::atomic<std::uint64_t> done = 0, count = 0;
    std::atomic<std::uint32_t> interrupt = 0;
    constexpr std::uint64_t earlier = 7;  // of a load before it, in the same memory
    LiveCounts counts{.issued = earlier, .completed = earlier, .failed = 0};
    const MonotonicClock clock;
    const LoadShape shape = shape_of(load);
    LoadLoop<MonotonicClock, SleepUntil, NullStep> loop(
        clock, SleepUntil{kTick}, {.shape = shape, .requests = requests}, Schedule(shape, 1),
        {.pairs = pairs, .done = &done, .interrupt = &interrupt, .counts = &counts});
    std::vector<NullStep> steps(4, {&count});
    ASSERT_EQ(loop.run(steps), LoopEnd::complete);
    EXPECT_EQ(counts.issued, earlier + requests);
    EXPECT_EQ(counts.completed, earlier + requests);
    EXPECT_EQ(counts.failed, 0U);
    const LoadRecord record = loop.record();
    EXPECT_EQ(record.completed, requests);
    EXPECT_EQ(record.response.count(), requests);
    EXPECT_EQ(record.kept, pairs.size()) << "the rest is in the histograms";
    EXPECT_EQ(done, pairs.size());
    EXPECT_GE(count, requests * static_cast<std::uint64_t>(shape.samples));
    EXPECT_TRUE(std::ranges::is_sorted(pairs, {}, &TickPair::begin));
    std::uint64_t arrived = 0;
    for (const LoadBin& bin : record.timeline) arrived += bin.arrived;
    EXPECT_EQ(arrived, requests);
    EXPECT_EQ(record.timeline.back().in_flight, 0U);
  }
}

struct CountingClock {
  int* threads_at_first;  // of this process, when the clock was read first
  std::atomic<std::uint64_t>* readings;
  [[nodiscard]] std::uint64_t now() const {
    const std::uint64_t reading = readings->fetch_add(1);
    if (reading == 0) *threads_at_first = threads_of_this_process();
    return reading;
  }
  static int threads_of_this_process() {
    return static_cast<int>(std::distance(std::filesystem::directory_iterator("/proc/self/task"), {}));
  }
};
struct NoWaiter {
  template <class IsOver, class MaySpin>
  [[nodiscard]] bool until(const CountingClock&, std::uint64_t, const IsOver&, const MaySpin&) const {
    return true;
  }
};

// Otherwise the first arrivals of an open loop are late by the time that it takes to make the threads.
TEST(LoadLoop, ALoadBeginsWhenAllItsClientsAreThere) {
  constexpr int clients = 32;
  std::vector<TickPair> pairs(10);
  std::atomic<std::uint64_t> done = 0, count = 0, readings = 0;
  std::atomic<std::uint32_t> interrupt = 0;
  int threads = 0;
  const CountingClock clock{&threads, &readings};
  const LoadShape shape = shape_of({{"rate", "1000"}, {"concurrency", "32"}});
  LoadLoop<CountingClock, NoWaiter, NullStep> loop(clock, {}, {.shape = shape, .requests = 100}, Schedule(shape, 1),
                                                   {.pairs = pairs, .done = &done, .interrupt = &interrupt});
  std::vector<NullStep> steps(clients, {&count});
  EXPECT_EQ(loop.run(steps), LoopEnd::complete);
  EXPECT_GE(threads, clients);
  EXPECT_EQ(loop.record().completed, 100U);
}

TEST(LoadLoop, AnInterruptionEndsEveryScenario) {
  for (const Pairs& load : std::vector<Pairs>{{{"concurrency", "8"}},
                                              {{"rate", "0.001"}, {"concurrency", "8"}},
                                              {{"rate", "100000"}, {"concurrency", "8"}},
                                              {{"scenario", "multi-stream"}, {"samples", "5"}}}) {
    std::vector<TickPair> pairs(10);
    std::atomic<std::uint64_t> done = 0, count = 0;
    std::atomic<std::uint32_t> interrupt = 0;
    const MonotonicClock clock;
    const LoadShape shape = shape_of(load);
    LoadLoop<MonotonicClock, SleepUntil, NullStep> loop(clock, SleepUntil{kTick}, {.shape = shape}, Schedule(shape, 1),
                                                        {.pairs = pairs, .done = &done, .interrupt = &interrupt});
    std::vector<NullStep> steps(4, {&count});
    std::jthread stopper([&] {
      while (shape.rate != 0.001 && count < 1000) std::this_thread::yield();
      interrupt = 1;
    });
    EXPECT_EQ(loop.run(steps), LoopEnd::interrupted);
    const LoadRecord record = loop.record();
    EXPECT_EQ(record.due, record.issued);
    // Arrivals that were still to come are not a part of it.
    if (!shape.is_open()) continue;
    EXPECT_LT(record.arrivals_s, 60);
    std::uint64_t arrived = 0;
    for (const LoadBin& bin : record.timeline) arrived += bin.arrived;
    EXPECT_EQ(arrived, record.due);
  }
}

}  // namespace
}  // namespace infermeter
