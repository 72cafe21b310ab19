// Arrivals: when the requests of an open loop are to start, as a user writes it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "infermeter/diagnostics/result.hpp"

namespace infermeter {

struct Arrivals {
  // constant: equal gaps. poisson: exponential gaps. gamma: gaps of a Gamma distribution with coefficient of variation
  // `cv` (1 is poisson; above it requests come in clumps). burst: `burst` requests at once, equal gaps between bursts.
  // step, ramp: Poisson with a rate that changes. trace: the times of a file.
  enum class Kind { constant, poisson, gamma, burst, step, ramp, trace };
  struct Step {
    double rate = 0;   // requests per second
    double for_s = 0;  // the last one goes on for as long as the load lasts
  };

  Kind kind = Kind::poisson;
  double cv = 1;
  int burst = 1;
  std::vector<Step> steps{};  // step: at least one; ramp: from the first one's rate to the second's, within for_s of
                              // the first
  std::string file{};         // trace

  // They say themselves how many come per second.
  [[nodiscard]] bool has_rates() const { return kind == Kind::step || kind == Kind::ramp || kind == Kind::trace; }
};

// "constant", "poisson", "gamma:CV", "burst:N", "step:RATE:TIME/RATE:TIME…", "ramp:RATE:RATE:TIME", or a file of times
// (a name that ends with .csv, .jsonl or .txt, or holds a '/').
[[nodiscard]] Result<Arrivals> arrivals_from_string(std::string_view text);

inline constexpr double kHighestRate = 1e9;  // requests per second
// "40", "40/s", above 0.
[[nodiscard]] Result<double> rate_from_string(std::string_view text);

}  // namespace infermeter
