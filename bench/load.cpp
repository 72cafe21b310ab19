// The generator of loads beside MLPerf's LoadGen, on the same targets in one process, by turns. Prints a line per
// figure: NAME WHO VALUE.
//
//   load null FOLDER ROUNDS         requests that return at once: cost of a request in a closed and an open loop
//   load sleep FOLDER ROUNDS RATE   requests of 2 ms: percentiles of single-stream and server
#include <fmt/format.h>
#include <loadgen.h>
#include <query_sample_library.h>
#include <system_under_test.h>
#include <test_settings.h>

#include <atomic>
#include <condition_variable>
#include <cstdlib>
#include <deque>
#include <fstream>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "infermeter/trial/load/load_loop.hpp"
#include "infermeter/trial/machine/calibration.hpp"
#include "infermeter/trial/machine/clock.hpp"
#include "infermeter/trial/machine/sleep_until.hpp"

namespace {

using namespace infermeter;

void print(std::string_view name, std::string_view who, double value) {
  fmt::print("{} {} {:.9g}\n", name, who, value);
  std::fflush(stdout);
}

void work(double seconds) {
  if (seconds > 0) SleepUntil::sleep_for(seconds);
}

struct Step {
  double seconds = 0;
  [[nodiscard]] bool prepare(std::uint64_t) const { return true; }
  [[nodiscard]] bool run() const {
    work(seconds);
    return true;
  }
  [[nodiscard]] static RequestError error() { return {"", "other"}; }
  [[nodiscard]] static const AnswerParts* parts() { return nullptr; }
};

struct Load {
  Pairs shape{};
  std::uint64_t requests = UINT64_MAX;
  double duration_s = 0, work_s = 0;
  std::uint64_t seed = 1;
};

LoadRecord ours(const Load& load, std::vector<TickPair>& pairs) {
  std::atomic<std::uint64_t> done = 0;
  std::atomic<std::uint32_t> interrupt = 0;
  const MonotonicClock clock;
  LoadOrders orders{.shape = load_shape_from_pairs(load.shape).value(), .requests = load.requests, .tick_s = 1e-9};
  if (load.duration_s > 0) orders.arrivals_ticks = static_cast<std::uint64_t>(load.duration_s * 1e9);
  const LoadShape shape = orders.shape;
  LoadLoop<MonotonicClock, SleepUntil, Step> loop(clock, SleepUntil{}, orders, Schedule(shape, load.seed),
                                                  {.pairs = pairs, .done = &done, .interrupt = &interrupt});
  std::vector<Step> steps(1, {load.work_s});
  if (loop.run(steps) != LoopEnd::complete) std::exit(1);
  return loop.record();
}

// One thread answers, as LoadGen's issuing thread may not wait in a server's scenario.
class Sut : public mlperf::SystemUnderTest {
 public:
  Sut(double seconds, bool waits_here) : seconds_(seconds), waits_here_(waits_here) {
    if (!waits_here_) thread_ = std::jthread([this](const std::stop_token& stop) { answer(stop); });
  }
  ~Sut() override {
    thread_.request_stop();
    changed_.notify_all();
  }
  const std::string& Name() override { return name_; }
  void IssueQuery(const std::vector<mlperf::QuerySample>& samples) override {
    if (waits_here_) {
      for (const auto& sample : samples) complete(sample.id);
      return;
    }
    {
      const std::lock_guard lock(mutex_);
      for (const auto& sample : samples) queue_.push_back(sample.id);
    }
    changed_.notify_one();
  }
  void FlushQueries() override {}

 private:
  void complete(mlperf::ResponseId id) const {
    work(seconds_);
    mlperf::QuerySampleResponse response{id, 0, 0};
    mlperf::QuerySamplesComplete(&response, 1);
  }
  void answer(const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    for (;;) {
      changed_.wait(lock, [&] { return !queue_.empty() || stop.stop_requested(); });
      if (queue_.empty()) return;
      const auto id = queue_.front();
      queue_.pop_front();
      lock.unlock();
      complete(id);
      lock.lock();
    }
  }

  double seconds_;
  bool waits_here_;
  std::string name_ = "target";
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<mlperf::ResponseId> queue_;
  std::jthread thread_;
};

class Library : public mlperf::QuerySampleLibrary {
 public:
  const std::string& Name() override { return name_; }
  size_t TotalSampleCount() override { return 1; }
  size_t PerformanceSampleCount() override { return 1; }
  void LoadSamplesToRam(const std::vector<mlperf::QuerySampleIndex>&) override {}
  void UnloadSamplesFromRam(const std::vector<mlperf::QuerySampleIndex>&) override {}

 private:
  std::string name_ = "none";
};

// "50.00 percentile latency (ns)   : 123"
double summary_value(const std::string& folder, const std::string& key) {
  std::ifstream file(folder + "/mlperf_log_summary.txt");
  for (std::string line; std::getline(file, line);) {
    const std::size_t colon = line.find(':');
    if (line.find(key) != std::string::npos && colon != std::string::npos)
      return std::strtod(line.c_str() + colon + 1, nullptr);
  }
  fmt::print(stderr, "LoadGen's summary has no '{}'\n", key);
  std::exit(1);
}

// Seconds that its test took.
double loadgen(const Load& load, mlperf::TestScenario scenario, double rate, const std::string& folder,
               bool waits_here) {
  mlperf::TestSettings settings;
  settings.scenario = scenario;
  settings.server_target_qps = rate;
  settings.single_stream_expected_latency_ns = load.work_s * 1e9 + 500;
  settings.min_duration_ms = static_cast<std::uint64_t>(load.duration_s * 1e3);
  settings.min_query_count = load.requests == UINT64_MAX ? 1 : load.requests;
  settings.max_query_count = load.requests == UINT64_MAX ? 0 : load.requests;
  settings.schedule_rng_seed = load.seed;
  mlperf::LogSettings log;
  log.log_output.outdir = folder;
  log.enable_trace = false;
  Sut sut(load.work_s, waits_here);
  Library library;
  const double begin = monotonic_s();
  mlperf::StartTest(&sut, &library, settings, log);
  return monotonic_s() - begin;
}

void null_target(const std::string& folder, int rounds) {
  constexpr std::uint64_t requests = 1'000'000;
  std::vector<TickPair> pairs(requests);
  const MonotonicClock clock;
  for (int round = 0; round < rounds; ++round) {
    print("two_readings_s", "bare", 2 * read_cost_ticks(clock) * 1e-9);
    const LoadRecord closed = ours({.shape = {{"concurrency", "1"}}, .requests = requests}, pairs);
    print("closed_request_s", "infermeter", closed.duration_s / static_cast<double>(closed.completed));
    loadgen({.requests = requests / 4}, mlperf::TestScenario::SingleStream, 1, folder, true);
    print("closed_request_s", "loadgen", 1 / summary_value(folder, "QPS w/ loadgen overhead"));
    // As fast as it can be issued: all arrivals are over when it begins to ask.
    const LoadRecord open = ours({.shape = {{"rate", "1e9"}}, .requests = requests}, pairs);
    print("saturated_rate", "infermeter", static_cast<double>(open.completed) / open.duration_s);
    for (const double rate : {10'000.0, 100'000.0, 1'000'000.0}) {
      const LoadRecord poisson =
          ours({.shape = {{"rate", fmt::format("{:.0f}", rate)}}, .duration_s = 2, .seed = 7}, pairs);
      const std::string name = fmt::format("poisson_{:.0f}", rate);
      print(name + "_achieved", "infermeter", static_cast<double>(poisson.completed) / poisson.duration_s);
      print(name + "_late_p99_s", "infermeter", poisson.late.quantile_s(0.99).value());
      print(name + "_response_p99_s", "infermeter", poisson.response.quantile_s(0.99).value());
      loadgen({.duration_s = 2, .seed = 7}, mlperf::TestScenario::Server, rate, folder, true);
      print(name + "_achieved", "loadgen", summary_value(folder, "Completed samples per second"));
      print(name + "_response_p99_s", "loadgen", summary_value(folder, "99.00 percentile latency") * 1e-9);
    }
  }
}

void sleeping_target(const std::string& folder, int rounds, double rate) {
  constexpr double work_s = 0.002;
  std::vector<TickPair> pairs(1'000'000);
  for (int round = 0; round < rounds; ++round) {
    const auto seed = static_cast<std::uint64_t>(round + 1);
    const Load single{.shape = {{"scenario", "single-stream"}}, .duration_s = 3, .work_s = work_s};
    const Load server{.shape = {{"scenario", "server"}, {"rate", fmt::format("{}", rate)}},
                      .duration_s = 10,
                      .work_s = work_s,
                      .seed = seed};
    const LoadRecord one = ours(single, pairs), many = ours(server, pairs);
    loadgen(single, mlperf::TestScenario::SingleStream, 1, folder, true);
    for (const double share : {0.5, 0.9, 0.99}) {
      const std::string name = fmt::format("{:.2f} percentile latency", share * 100);
      print(fmt::format("single_p{:.0f}_s", share * 100), "infermeter", one.response.quantile_s(share).value());
      print(fmt::format("single_p{:.0f}_s", share * 100), "loadgen", summary_value(folder, name) * 1e-9);
    }
    loadgen(server, mlperf::TestScenario::Server, rate, folder, false);
    for (const double share : {0.5, 0.9, 0.99}) {
      const std::string name = fmt::format("{:.2f} percentile latency", share * 100);
      print(fmt::format("server_p{:.0f}_s", share * 100), "infermeter", many.response.quantile_s(share).value());
      print(fmt::format("server_p{:.0f}_s", share * 100), "loadgen", summary_value(folder, name) * 1e-9);
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  const std::string what = argc > 3 ? argv[1] : "";
  if (what == "null") return null_target(argv[2], std::atoi(argv[3])), 0;
  if (what == "sleep" && argc > 4) return sleeping_target(argv[2], std::atoi(argv[3]), std::atof(argv[4])), 0;
  fmt::print(stderr, "usage: load null FOLDER ROUNDS | load sleep FOLDER ROUNDS RATE\n");
  return 2;
}
