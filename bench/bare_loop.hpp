// What both bare programs share: the printed line. They use nothing of infermeter, so that they are a peer.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <vector>

template <class Run>
std::vector<double> timed_loop(int warmup, int iterations, Run&& run) {
  for (int i = 0; i < warmup; ++i) run();
  std::vector<double> seconds;
  seconds.reserve(static_cast<std::size_t>(iterations));
  for (int i = 0; i < iterations; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    run();
    seconds.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
  }
  return seconds;
}

inline void print_median(std::vector<double> seconds) {
  std::sort(seconds.begin(), seconds.end());
  const std::size_t n = seconds.size();
  std::printf("%.9f\n", n % 2 == 1 ? seconds[n / 2] : (seconds[n / 2 - 1] + seconds[n / 2]) / 2);
}
