// Compiled without contraction of a * b + c (cmake/layers.cmake): a fused product has other bits.
#include "infermeter/trial/load/schedule.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace infermeter {
namespace {

// ln 2 in two parts: the upper one has trailing zeros, so that its products with exponents are exact.
constexpr double kLn2High = 0x1.62e42fefa38p-1;
constexpr double kLn2Low = 0x1.ef35793c7673p-45;
constexpr double kInverseLn2 = 0x1.71547652b82fep+0;

double power_of_two(int exponent) { return std::bit_cast<double>(static_cast<std::uint64_t>(exponent + 1023) << 52); }

}  // namespace

double exact_log(double x) {
  const auto bits = std::bit_cast<std::uint64_t>(x);
  int exponent = static_cast<int>(bits >> 52) - 1023;
  double mantissa = std::bit_cast<double>((bits & 0x000F'FFFF'FFFF'FFFFU) | 0x3FF0'0000'0000'0000U);
  if (mantissa > 1.4142135623730951) {
    mantissa *= 0.5;
    ++exponent;
  }
  // ln m = 2 artanh((m - 1) / (m + 1)); |s| <= 0.1716, so that the first term left out is below 2^-62.
  const double s = (mantissa - 1) / (mantissa + 1);
  const double square = s * s;
  double series = 0;
  for (int k = 23; k >= 3; k -= 2) series = (series + 1.0 / k) * square;
  const double log_mantissa = 2 * s + 2 * s * series;
  const auto e = static_cast<double>(exponent);
  return e * kLn2High + (e * kLn2Low + log_mantissa);
}

double exact_exp(double x) {
  const double k = std::floor(x * kInverseLn2 + 0.5);
  const double rest = (x - k * kLn2High) - k * kLn2Low;
  double sum = 1;
  for (int i = 14; i >= 1; --i) sum = 1 + sum * rest / i;
  return sum * power_of_two(static_cast<int>(k));
}

Schedule::Schedule(const LoadShape& shape, std::uint64_t seed, std::span<const double> trace)
    : shape_(shape), random_(seed), trace_(trace) {}

double Schedule::uniform() { return static_cast<double>((random_.next() >> 11) + 1) * 0x1p-53; }

double Schedule::exponential() { return -exact_log(uniform()); }

// Marsaglia's polar method (Marsaglia and Bray 1964); the second of each pair is not used, so that a draw has no state.
double Schedule::normal() {
  for (;;) {
    const double u = 2 * uniform() - 1, v = 2 * uniform() - 1;
    const double s = u * u + v * v;
    if (s > 0 && s < 1) return u * std::sqrt(-2 * exact_log(s) / s);
  }
}

// Marsaglia and Tsang 2000, "A simple method for generating gamma variables"; for shapes below 1 by their boost.
double Schedule::standard_gamma(double shape) {
  if (shape < 1) {
    const double boost = exact_exp(std::max(exact_log(uniform()) / shape, -700.0));
    return standard_gamma(shape + 1) * boost;
  }
  const double d = shape - 1.0 / 3, c = 1 / std::sqrt(9 * d);
  for (;;) {
    const double x = normal();
    const double root = 1 + c * x;
    if (root <= 0) continue;
    const double v = root * root * root;
    if (exact_log(uniform()) < 0.5 * x * x + d * (1 - v + exact_log(v))) return d * v;
  }
}

double Schedule::gamma_gap() {
  const double shape = 1 / (shape_.arrivals.cv * shape_.arrivals.cv);
  return standard_gamma(shape) / shape;
}

// The expected number of arrivals until t grows by an exponential draw from one to the next.
double Schedule::next_of_rates() {
  const auto& steps = shape_.arrivals.steps;
  double left = exponential();
  if (shape_.arrivals.kind == Arrivals::Kind::step) {
    while (step_ + 1 < steps.size()) {
      const double end_s = step_begin_s_ + steps[step_].for_s;
      const double until_end = (end_s - at_s_) * steps[step_].rate;
      if (left < until_end) break;
      left -= until_end;
      at_s_ = step_begin_s_ = end_s;
      ++step_;
    }
    return at_s_ + left / steps[step_].rate;
  }
  const double from = steps[0].rate, to = steps[1].rate, for_s = steps[0].for_s;
  if (at_s_ < for_s) {
    const double slope = (to - from) / for_s, now = from + slope * at_s_;
    const double until_end = (now + to) * 0.5 * (for_s - at_s_);
    if (left < until_end) {
      // left = now dt + slope dt^2 / 2, solved for dt in the form that loses no digits.
      const double root = std::sqrt(std::max(now * now + 2 * slope * left, 0.0));
      return std::min(at_s_ + 2 * left / (now + root), for_s);
    }
    left -= until_end;
    at_s_ = for_s;
  }
  return at_s_ + left / to;
}

std::optional<double> Schedule::next() {
  const std::uint64_t index = count_++;
  switch (shape_.arrivals.kind) {
    case Arrivals::Kind::constant: return at_s_ = static_cast<double>(index) / shape_.rate;
    case Arrivals::Kind::burst: {
      const auto size = static_cast<std::uint64_t>(shape_.arrivals.burst);
      return at_s_ = static_cast<double>(index / size * size) / shape_.rate;
    }
    case Arrivals::Kind::poisson: return at_s_ += exponential() / shape_.rate;
    case Arrivals::Kind::gamma: return at_s_ += gamma_gap() / shape_.rate;
    case Arrivals::Kind::step:
    case Arrivals::Kind::ramp: return at_s_ = next_of_rates();
    case Arrivals::Kind::trace:
      if (index >= trace_.size()) return std::nullopt;
      return at_s_ = trace_[index];
  }
  return std::nullopt;
}

}  // namespace infermeter
