#include "infermeter/stats/changes/steady_state.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "infermeter/stats/test_noise.hpp"

namespace infermeter::steady_state_test {
namespace {

enum class Noise { normal, t3, spikes };
constexpr Noise all_noise[] = {Noise::normal, Noise::t3, Noise::spikes};

double sd_of(Noise noise) { return noise == Noise::t3 ? 0.01 * std::sqrt(3.0) : 0.01; }

// 1 %, of which 1.5 % of the iterations take three times as long, or with the tails of t3.
double draw(Noise noise, SplitMix& random) {
  if (noise == Noise::t3) return 0.01 * random.t3();
  const double spike = noise == Noise::spikes && random.uniform() < 0.015 ? std::log(3.0) : 0.0;
  return spike + 0.01 * random.normal();
}

using Level = std::function<double(int)>;  // of log times, by iteration

std::vector<double> times(int n, Noise noise, std::uint64_t seed, const Level& level) {
  SplitMix random(seed);
  std::vector<double> result;
  for (int i = 0; i < n; ++i) result.push_back(1e-3 * std::exp(level(i) + draw(noise, random)));
  return result;
}

struct Score {
  double kind = 0, begin = 0;  // shares: class right, begin within 5 iterations
};

Score score(int n, Noise noise, const Level& level, SteadyClass kind, int begin, int runs = 100) {
  Score result;
  for (int run = 0; run < runs; ++run) {
    const auto found = find_steady_state(times(n, noise, static_cast<std::uint64_t>(run * 1009 + n), level));
    result.kind += found.kind == kind ? 1.0 / runs : 0;
    result.begin += std::abs(static_cast<int>(found.begin) - begin) <= 5 ? 1.0 / runs : 0;
  }
  return result;
}

std::string name(Noise noise, int n) {
  return "noise " + std::to_string(static_cast<int>(noise)) + " n " + std::to_string(n);
}

TEST(SteadyStateSimulation, IndependentIterationsAreFlat) {
  for (const Noise noise : all_noise) {
    for (const int n : {20, 30, 50, 100, 200, 500}) {
      EXPECT_GE(score(n, noise, [](int) { return 0.0; }, SteadyClass::flat, 0).kind, 0.95) << name(noise, n);
    }
    EXPECT_GE(score(2000, noise, [](int) { return 0.0; }, SteadyClass::flat, 0, 40).kind, 0.95) << name(noise, 2000);
  }
}

TEST(SteadyState, IndependentSlowModeIsFlat) {
  for (const int n : {50, 200, 500}) {
    int flat = 0;
    for (std::uint64_t run = 0; run < 100; ++run) {
      SplitMix random(run);
      std::vector<double> values;
      for (int i = 0; i < n; ++i)
        values.push_back(1e-3 * (1 + 0.01 * random.normal() + (random.uniform() < 0.15 ? 0.08 : 0)));
      flat += find_steady_state(values).kind == SteadyClass::flat ? 1 : 0;
    }
    EXPECT_GE(flat, 95) << n;
  }
}

TEST(SteadyStateSimulation, AutocorrelationIsNoEvent) {
  for (const int n : {100, 200, 1000}) {
    int flat = 0;
    for (std::uint64_t run = 0; run < 100; ++run) {
      SplitMix random(run);
      double x = 0.01 * random.normal();
      std::vector<double> values;
      for (int i = 0; i < n; ++i) {
        x = 0.7 * x + 0.01 * std::sqrt(1 - 0.49) * random.normal();
        values.push_back(std::exp(x));
      }
      flat += find_steady_state(values).kind == SteadyClass::flat ? 1 : 0;
    }
    EXPECT_GE(flat, 95) << n;
  }
}

TEST(SteadyStateSimulation, ExponentialRampIsWarmup) {
  for (const Noise noise : all_noise) {
    for (const int n : {200, 500}) {
      for (const double tau : {3.0, 10.0, 20.0}) {
        const auto ramp = [&](int i) { return 0.5 * std::exp(-i / tau); };
        EXPECT_GE(score(n, noise, ramp, SteadyClass::warmup, 0).kind, 0.95) << name(noise, n) << " tau " << tau;
      }
    }
  }
}

TEST(SteadyState, RampIsOverBeforeItIsSteady) {
  const auto ramp = [](int i) { return 0.5 * std::exp(-i / 20.0); };
  int early = 0;
  int late = 0;
  for (std::uint64_t run = 0; run < 100; ++run) {
    const auto found = find_steady_state(times(400, Noise::normal, run, ramp));
    early += ramp(static_cast<int>(found.begin)) > 0.03 ? 1 : 0;
    late += found.begin > 200 ? 1 : 0;
  }
  EXPECT_LE(early, 5);
  EXPECT_LE(late, 5);
}

TEST(SteadyStateSimulation, StepDownIsWarmupAndItsPlaceIsFound) {
  for (const Noise noise : all_noise) {
    for (const int n : {200, 500}) {
      for (const double height : {3.0, 5.0, 20.0}) {
        const int at = n / 4;
        const auto step = [&](int i) { return i < at ? height * sd_of(noise) : 0.0; };
        const Score s = score(n, noise, step, SteadyClass::warmup, at);
        EXPECT_GE(s.kind, 0.95) << name(noise, n) << " height " << height;
        EXPECT_GE(s.begin, 0.95) << name(noise, n) << " height " << height;
      }
    }
  }
}

TEST(SteadyStateSimulation, StepUpIsSlowdownAndItsPlaceIsFound) {
  for (const Noise noise : all_noise) {
    for (const int n : {200, 500}) {
      for (const double height : {3.0, 5.0, 20.0}) {
        const int at = n / 2;
        const auto step = [&](int i) { return i < at ? -height * sd_of(noise) : 0.0; };
        const Score s = score(n, noise, step, SteadyClass::slowdown, at);
        EXPECT_GE(s.kind, 0.95) << name(noise, n) << " height " << height;
        EXPECT_GE(s.begin, 0.95) << name(noise, n) << " height " << height;
      }
    }
  }
}

TEST(SteadyState, SeveralStepsDownAreWarmupUntilTheLast) {
  for (const Noise noise : all_noise) {
    const auto steps = [](int i) { return i < 30 ? 0.3 : i < 80 ? 0.14 : i < 150 ? 0.06 : 0.0; };
    const Score s = score(300, noise, steps, SteadyClass::warmup, 150);
    EXPECT_GE(s.kind, 0.95) << name(noise, 300);
    EXPECT_GE(s.begin, 0.95) << name(noise, 300);
  }
}

TEST(SteadyStateSimulation, ChangeInTheLastQuarterIsNone) {
  for (const Noise noise : all_noise) {
    for (const int n : {200, 500}) {
      for (const double height : {-5.0, 4.0}) {
        const auto step = [&](int i) { return i < 0.85 * n ? 0.0 : height * sd_of(noise); };
        const Score s = score(n, noise, step, SteadyClass::no_steady_state, n);
        EXPECT_GE(s.kind, 0.95) << name(noise, n) << " height " << height;
        EXPECT_GE(s.begin, 0.95) << name(noise, n);  // the number of iterations
      }
    }
  }
}

TEST(SteadyStateSimulation, RampThatNeverEndsIsNone) {
  for (const Noise noise : all_noise) {
    for (const int n : {200, 500}) {
      for (const double fall : {0.25, 0.6, -0.4}) {
        const auto line = [&](int i) { return -fall * i / n; };
        EXPECT_GE(score(n, noise, line, SteadyClass::no_steady_state, n).kind, 0.95) << name(noise, n) << " " << fall;
      }
    }
  }
}

TEST(SteadyStateSimulation, CycleIsNone) {
  for (const Noise noise : all_noise) {
    for (const int phase : {15, 25, 40, 75, 110}) {
      const auto cycle = [&](int i) { return (i / phase) % 2 == 0 ? 0.0 : 4 * sd_of(noise); };
      EXPECT_GE(score(400, noise, cycle, SteadyClass::no_steady_state, 400).kind, 0.95) << name(noise, phase);
    }
  }
}

TEST(SteadyState, CycleWithinATolerableRangeIsFlat) {
  const auto small = [](int i) { return (i / 50) % 2 == 0 ? 0.0 : 0.008; };  // below 1 %
  std::vector<double> exact;
  for (int i = 0; i < 400; ++i) exact.push_back(1e-3 * std::exp(small(i)));
  EXPECT_EQ(find_steady_state(exact).kind, SteadyClass::flat);
  EXPECT_GE(score(400, Noise::normal, small, SteadyClass::flat, 0).kind, 0.95);
}

TEST(SteadyState, OneDisturbanceEndsNoSteadyState) {
  const auto disturbed = [](int i) { return i >= 360 && i < 380 ? 0.5 : 0.0; };
  EXPECT_GE(score(400, Noise::normal, disturbed, SteadyClass::flat, 0).kind, 0.95);
}

TEST(SteadyState, LongExcursionDoes) {
  const auto excursion = [](int i) { return i >= 100 && i < 200 ? 0.1 : 0.0; };
  const Score s = score(400, Noise::normal, excursion, SteadyClass::warmup, 200);
  EXPECT_GE(s.kind, 0.95);
  EXPECT_GE(s.begin, 0.95);
}

TEST(SteadyState, AFewSlowFirstIterationsAreWarmup) {
  for (const int slow : {1, 3, 7}) {
    const auto first = [&](int i) { return i < slow ? 1.0 : 0.0; };
    const Score s = score(200, Noise::normal, first, SteadyClass::warmup, 10);
    EXPECT_GE(s.kind, 0.95) << slow;
    EXPECT_GE(s.begin, 0.95) << slow;
    EXPECT_GE(score(24, Noise::normal, first, SteadyClass::warmup, 10).kind, 0.95) << slow;
  }
}

TEST(SteadyState, SegmentsCoverAllIterations) {
  const auto step = [](int i) { return i < 60 ? 0.2 : 0.0; };
  const auto found = find_steady_state(times(200, Noise::spikes, 3, step));
  ASSERT_GE(found.segments.size(), 2U);
  EXPECT_EQ(found.segments.front().begin, 0U);
  for (std::size_t i = 1; i < found.segments.size(); ++i) {
    EXPECT_EQ(found.segments[i].begin, found.segments[i - 1].end);
  }
  EXPECT_EQ(found.segments.back().end, 200U);
  EXPECT_NEAR(found.segments.front().mean, std::log(1e-3) + 0.2, 0.01);
  EXPECT_NEAR(found.segments.back().sd, 0.01, 0.003);  // spikes are not in it
}

TEST(SteadyState, FewerThanTwentyAreTooShort) {
  for (const std::size_t n : {0U, 1U, 5U, 19U}) {
    const auto found = find_steady_state(std::vector<double>(n, 1e-3));
    EXPECT_EQ(found.kind, SteadyClass::too_short) << n;
    EXPECT_EQ(found.begin, n);
    EXPECT_TRUE(found.segments.empty());
  }
  EXPECT_EQ(find_steady_state(std::vector<double>(20, 1e-3)).kind, SteadyClass::flat);
}

TEST(SteadyState, EqualAndImpossibleTimesAreBorne) {
  EXPECT_EQ(find_steady_state(std::vector<double>(300, 1e-3)).kind, SteadyClass::flat);
  EXPECT_EQ(find_steady_state(std::vector<double>(300, 0.0)).kind, SteadyClass::flat);  // below the clock's resolution
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(find_steady_state(std::vector<double>(300, nan)).kind, SteadyClass::too_short);
  std::vector<double> values = times(200, Noise::normal, 1, [](int) { return 0.0; });
  values[50] = nan;
  values[51] = std::numeric_limits<double>::infinity();
  EXPECT_EQ(find_steady_state(values).kind, SteadyClass::flat);
}

TEST(SteadyState, TicksOfTheClockAreNoEvent) {
  for (std::uint64_t run = 0; run < 50; ++run) {  // 20 or 21 ns
    SplitMix random(run);
    std::vector<double> values;
    for (int i = 0; i < 300; ++i) values.push_back(random.uniform() < 0.1 ? 21e-9 : 20e-9);
    EXPECT_EQ(find_steady_state(values).kind, SteadyClass::flat) << run;
  }
}

TEST(SteadyState, AMillionIterationsAreThinned) {
  SplitMix random(4);
  std::vector<double> values;
  for (int i = 0; i < 1'000'000; ++i) {
    values.push_back(1e-5 * std::exp(0.01 * random.sum_of_twelve() + (i < 150 ? 0.5 : i < 250'000 ? 0.1 : 0.0)));
  }
  const auto found = find_steady_state(values);
  EXPECT_EQ(found.kind, SteadyClass::warmup);
  EXPECT_NEAR(static_cast<double>(found.begin), 250'000, 2000);  // every thousandth is looked at
  EXPECT_EQ(found.segments.front().end, 150U);                   // and each of the first thousand
  EXPECT_EQ(found.segments.back().end, values.size());
}

TEST(SteadyState, EveryClassHasAName) {
  EXPECT_EQ(to_string(SteadyClass::flat), "flat");
  EXPECT_EQ(to_string(SteadyClass::warmup), "warmup");
  EXPECT_EQ(to_string(SteadyClass::slowdown), "slowdown");
  EXPECT_EQ(to_string(SteadyClass::no_steady_state), "no_steady_state");
  EXPECT_EQ(to_string(SteadyClass::too_short), "too_short");
}

}  // namespace
}  // namespace infermeter::steady_state_test
