// How long an inference of the test instrument takes.
#pragma once

#include <cstdint>
#include <random>
#include <string_view>

namespace infermeter {

enum class Distribution { none, constant, normal, lognormal, exponential, bimodal };

// Seconds, except lognormal's second (the standard deviation of the logarithm) and bimodal's third (a probability).
struct Latency {
  Distribution distribution = Distribution::none;
  double first = 0, second = 0, third = 0;
};

// A factor on the latency that changes with the number of inferences: `ramp` goes linearly from `from` to `to` over
// `count` of them and stays; `step` is 1 until `count` of them are done, and `to` from then on.
struct Drift {
  enum class Kind { none, ramp, step } kind = Kind::none;
  double from = 1, to = 1;
  std::uint64_t count = 1;
};

enum class Work { none, spin, sleep };

// Both throw std::invalid_argument.
[[nodiscard]] Latency latency_from(std::string_view text);  // normal:5ms:1ms
[[nodiscard]] Drift drift_from(std::string_view text);      // ramp:1:1.5:1000

[[nodiscard]] double draw(const Latency& latency, std::mt19937_64& random);  // seconds, never negative
[[nodiscard]] double factor_at(const Drift& drift, std::uint64_t inference);

// Monotonic nanoseconds, and passing the time until then.
[[nodiscard]] std::int64_t nanoseconds_now();
void pass_until(std::int64_t deadline_ns, Work work);

}  // namespace infermeter
