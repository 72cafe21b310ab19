#include "latency.hpp"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <ctime>
#include <stdexcept>
#include <vector>

#include "sdk/units.hpp"

namespace infermeter {
namespace {

void expect_parts(const std::vector<std::string_view>& parts, std::size_t count) {
  if (parts.size() != count) throw std::invalid_argument("");
}

}  // namespace

Latency latency_from(std::string_view text) {
  const auto parts = split(text, ":");
  const std::string_view kind = parts[0];
  if (kind == "none") return expect_parts(parts, 1), Latency{};
  if (kind == "constant" || kind == "exponential") {
    expect_parts(parts, 2);
    return {kind == "constant" ? Distribution::constant : Distribution::exponential, seconds_from(parts[1])};
  }
  if (kind == "normal") {
    expect_parts(parts, 3);
    return {Distribution::normal, seconds_from(parts[1]), seconds_from(parts[2])};
  }
  if (kind == "lognormal") {
    expect_parts(parts, 3);
    return {Distribution::lognormal, seconds_from(parts[1]), number_from(parts[2])};
  }
  if (kind != "bimodal") throw std::invalid_argument("");
  expect_parts(parts, 4);
  const double probability = number_from(parts[3]);
  if (probability < 0 || probability > 1) throw std::invalid_argument("a probability lies between 0 and 1");
  return {Distribution::bimodal, seconds_from(parts[1]), seconds_from(parts[2]), probability};
}

Drift drift_from(std::string_view text) {
  const auto parts = split(text, ":");
  const auto count = [](std::string_view number) {
    const double value = number_from(number);
    if (value < 1 || value > 1e15) throw std::invalid_argument("the number of inferences must be at least 1");
    return static_cast<std::uint64_t>(value);
  };
  if (parts[0] == "none") return expect_parts(parts, 1), Drift{};
  if (parts[0] == "ramp") {
    expect_parts(parts, 4);
    return {Drift::Kind::ramp, number_from(parts[1]), number_from(parts[2]), count(parts[3])};
  }
  if (parts[0] != "step") throw std::invalid_argument("");
  expect_parts(parts, 3);
  return {Drift::Kind::step, 1, number_from(parts[1]), count(parts[2])};
}

double draw(const Latency& latency, std::mt19937_64& random) {
  switch (latency.distribution) {
    case Distribution::none: return 0;
    case Distribution::constant: return latency.first;
    case Distribution::normal:
      return std::max(0.0, latency.first + latency.second * std::normal_distribution()(random));
    case Distribution::lognormal: return latency.first * std::exp(latency.second * std::normal_distribution()(random));
    case Distribution::exponential: return latency.first * std::exponential_distribution()(random);
    case Distribution::bimodal: break;
  }
  return std::bernoulli_distribution(latency.third)(random) ? latency.second : latency.first;
}

double factor_at(const Drift& drift, std::uint64_t inference) {
  if (drift.kind == Drift::Kind::none) return 1;
  if (inference >= drift.count) return drift.to;
  if (drift.kind == Drift::Kind::step) return 1;
  return drift.from + (drift.to - drift.from) * static_cast<double>(inference) / static_cast<double>(drift.count);
}

std::int64_t nanoseconds_now() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

void pass_until(std::int64_t deadline_ns, Work work) {
  if (work == Work::none) return;
  if (work == Work::spin) {
    while (nanoseconds_now() < deadline_ns) {
    }
    return;
  }
  const timespec deadline{.tv_sec = deadline_ns / 1'000'000'000, .tv_nsec = deadline_ns % 1'000'000'000};
  while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &deadline, nullptr) == EINTR) {
  }
}

}  // namespace infermeter
