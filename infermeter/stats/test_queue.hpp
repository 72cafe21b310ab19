// One server and a queue, simulated: the record of a load whose every figure is known.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "infermeter/samples/load/load_record.hpp"
#include "infermeter/stats/test_noise.hpp"

namespace infermeter {

// Arrivals and completions, seconds. Lindley's recursion: a request begins when it has come and the one before it is
// done.
struct TestQueue {
  std::vector<double> arrivals, completions;
};

// Poisson arrivals at `rate`, exponential service times of mean `service_s`.
inline TestQueue poisson_queue(double rate, double service_s, std::size_t requests, std::uint64_t seed) {
  SplitMix noise(seed);
  const auto exponential = [&](double mean) { return -mean * std::log(1 - noise.uniform()); };
  TestQueue queue;
  double arrival = 0, free = 0;
  for (std::size_t i = 0; i < requests; ++i) {
    arrival += exponential(1 / rate);
    free = std::max(arrival, free) + exponential(service_s);
    queue.arrivals.push_back(arrival);
    queue.completions.push_back(free);
  }
  return queue;
}

// As the engine would have recorded it, with ticks of a nanosecond.
inline LoadRecord record_of(const TestQueue& queue, std::size_t bins = 200) {
  LoadRecord record;
  record.open_loop = true;
  record.due = record.issued = record.completed = record.kept = queue.arrivals.size();
  record.arrivals_s = queue.arrivals.back();
  record.duration_s = queue.completions.back();
  record.bin_s = record.arrivals_s / static_cast<double>(bins);
  LogHistogram response, service, lag;
  double free = 0;
  for (std::size_t i = 0; i < queue.arrivals.size(); ++i) {
    const auto ticks = [](double seconds) { return static_cast<std::uint64_t>(std::max(seconds, 0.0) * 1e9); };
    response.add(ticks(queue.completions[i] - queue.arrivals[i]));
    const double issue = std::max(queue.arrivals[i], free);
    lag.add(ticks(issue - queue.arrivals[i]));
    service.add(ticks(queue.completions[i] - issue));
    free = queue.completions[i];
  }
  record.response = {1e-9, response.counts()};
  record.service = {1e-9, service.counts()};
  record.lag = {1e-9, lag.counts()};
  record.late = {1e-9, {{0, queue.arrivals.size()}}};
  std::size_t arrived = 0, done = 0;
  for (std::size_t bin = 1; bin <= bins; ++bin) {
    const double end = record.bin_s * static_cast<double>(bin);
    LoadBin& now = record.timeline.emplace_back();
    for (; arrived < queue.arrivals.size() && queue.arrivals[arrived] <= end; ++arrived) ++now.arrived;
    for (; done < queue.completions.size() && queue.completions[done] <= end; ++done) ++now.completed;
    now.in_flight = arrived - done;
  }
  return record;
}

}  // namespace infermeter
