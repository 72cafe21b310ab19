// Schedule: the arrivals of an open loop, one after the other, made as they are needed.
//
// The same shape and seed give the same times, bit for bit, on every platform: all distributions are made of SplitMix64
// and of +, -, *, / and square roots alone (IEEE 754 rounds each of them correctly), without the standard library's
// logarithm and distributions, and without fused multiplication.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "infermeter/diagnostics/result.hpp"
#include "infermeter/plan/load/load_shape.hpp"
#include "infermeter/plan/split_mix64.hpp"

namespace infermeter {

class Schedule {
 public:
  // `trace`: times of arrivals that come from a file (trace.hpp); it must outlive this.
  Schedule(const LoadShape& shape, std::uint64_t seed, std::span<const double> trace = {});

  // The next arrival, seconds from the load's beginning, never before the last one. nullopt: a trace has ended.
  [[nodiscard]] std::optional<double> next();

 private:
  [[nodiscard]] double exponential();  // mean 1
  [[nodiscard]] double gamma_gap();    // mean 1
  [[nodiscard]] double normal();
  [[nodiscard]] double standard_gamma(double shape);
  [[nodiscard]] double uniform();  // in (0, 1]
  [[nodiscard]] double next_of_rates();

  LoadShape shape_;
  SplitMix64 random_;
  std::span<const double> trace_;
  std::uint64_t count_ = 0;
  double at_s_ = 0;
  double step_begin_s_ = 0;
  std::size_t step_ = 0;
};

// Natural logarithm of a normal number above 0 and exponential of a number in [-700, 700], within 2 units in the last
// place, the same bits everywhere.
[[nodiscard]] double exact_log(double x);
[[nodiscard]] double exact_exp(double x);

}  // namespace infermeter
