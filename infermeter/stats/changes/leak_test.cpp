#include "infermeter/stats/changes/leak.hpp"

#include <cmath>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "infermeter/stats/test_noise.hpp"

namespace infermeter::leak_test {
namespace {

constexpr double base = 3e8;
constexpr double page = 4096;
constexpr double heap_step = 132 * 1024;  // glibc's arena grows by it
constexpr double huge_page = 2 * 1024 * 1024;

using Bytes = std::vector<double>;
using Make = std::function<void(SplitMix&, Bytes&)>;

LeakEstimate judged(const Bytes& bytes) {
  std::vector<double> iterations;
  for (std::size_t i = 1; i <= bytes.size(); ++i) iterations.push_back(static_cast<double>(i));
  return judge_leak(iterations, bytes);
}

struct Shares {
  double leak = 0, no_leak = 0, cannot_tell = 0;
};

Shares shares(std::size_t points, int runs, const Make& make) {
  Shares result;
  for (int run = 0; run < runs; ++run) {
    SplitMix random(static_cast<std::uint64_t>(run));
    Bytes bytes(points);
    make(random, bytes);
    const LeakVerdict verdict = judged(bytes).verdict;
    (verdict == LeakVerdict::leak      ? result.leak
     : verdict == LeakVerdict::no_leak ? result.no_leak
                                       : result.cannot_tell) += 1;
  }
  for (double* count : {&result.leak, &result.no_leak, &result.cannot_tell}) *count /= runs;
  return result;
}

double in_steps(double bytes, double step) { return step * std::floor(bytes / step); }

// So much for each iteration, half more or less, which the system hands out in whole steps.
Make leak(double per_iteration, double step) {
  return [=](SplitMix& random, Bytes& bytes) {
    double total = step * random.uniform();
    for (double& value : bytes) {
      total += per_iteration * (0.5 + random.uniform());
      value = base + in_steps(total, step);
    }
  };
}

Make autoregression(double correlation, double sd, double per_iteration = 0) {
  return [=](SplitMix& random, Bytes& bytes) {
    double noise = sd * random.normal();
    double total = 0;
    for (double& value : bytes) {
      noise = correlation * noise + sd * std::sqrt(1 - correlation * correlation) * random.normal();
      total += per_iteration;
      value = base + in_steps(total + noise, page);
    }
  };
}

// A collector's: up to 50 MB in so many iterations, and back; both ends vary by a share of that.
Make saw(double period, double variation, double per_iteration = 0) {
  return [=](SplitMix& random, Bytes& bytes) {
    double at = period * random.uniform();
    double top = period;
    double total = 0;
    for (double& value : bytes) {
      at += 1;
      if (at >= top) {
        at = period * variation * random.uniform();
        top = period * (1 + variation * random.normal());
      }
      total += per_iteration;
      value = base + 5e7 * at / period + total;
    }
  };
}

TEST(Leak, IsFoundThroughPages) {
  for (const double per_iteration : {1e3, 1e4, 1e5}) {
    for (const double step : {page, heap_step, huge_page}) {
      if (per_iteration * 2000 < 5 * step) continue;  // one step in two thousand iterations shows nothing
      EXPECT_GE(shares(2000, 200, leak(per_iteration, step)).leak, 0.98) << per_iteration << " in " << step;
    }
  }
}

TEST(Leak, IsFoundInFewAndInManyPoints) {
  EXPECT_GE(shares(20, 200, leak(1e5, page)).leak, 0.98);
  EXPECT_GE(shares(100, 200, leak(1e4, page)).leak, 0.98);
  EXPECT_GE(shares(20'000, 20, leak(1e3, heap_step)).leak, 0.98);
}

TEST(Leak, IsFoundInNoiseBelowIt) {
  EXPECT_GE(shares(2000, 200, autoregression(0.9, 2e4, 1e3)).leak, 0.98);
  EXPECT_GE(shares(2000, 200, autoregression(0.9, 1e5, 1e4)).leak, 0.98);
}

TEST(Leak, SlopeAndIntervalAreThose) {
  SplitMix random(1);
  Bytes bytes(2000);
  autoregression(0.9, 1e5, 1e4)(random, bytes);
  const LeakEstimate estimate = judged(bytes);
  EXPECT_NEAR(estimate.bytes_per_iteration, 1e4, 200);
  ASSERT_TRUE(estimate.interval);
  EXPECT_LT(estimate.interval->low, 1e4);
  EXPECT_GT(estimate.interval->high, 1e4);
  EXPECT_EQ(estimate.from, 1000U);
  EXPECT_NEAR(estimate.growth_bytes, 1e7, 5e5);
  EXPECT_EQ(estimate.reason, "memory grows all through the last 1000 iterations: each quarter of them has a new peak");
}

TEST(LeakSimulation, IsSeldomSeenInNoise) {
  for (const double correlation : {0.0, 0.5, 0.9, 0.98}) {
    EXPECT_LE(shares(2000, 1000, autoregression(correlation, 1e7)).leak, 0.02) << correlation;
    EXPECT_LE(shares(200, 1000, autoregression(correlation, 1e7)).leak, 0.02) << correlation;
    EXPECT_LE(shares(20, 1000, autoregression(correlation, 1e7)).leak, 0.03) << correlation;
  }
}

TEST(Leak, IsSeldomSeenInARandomWalk) {
  const auto walk = [](SplitMix& random, Bytes& bytes) {
    double total = 0;
    for (double& value : bytes) value = base + (total += 1e6 * random.normal());
  };
  EXPECT_LE(shares(2000, 1000, walk).leak, 0.05);  // its slope's interval excludes 0 in half of them
}

TEST(Leak, IsDeniedInSmallNoise) { EXPECT_GE(shares(2000, 200, autoregression(0.9, 2e4)).no_leak, 0.95); }

TEST(Leak, IsNotAnArenaThatFills) {
  for (const double stops : {0.1, 0.3, 0.45, 0.6, 0.7}) {
    const auto arena = [=](SplitMix& random, Bytes& bytes) {
      double total = 0;
      for (std::size_t i = 0; i < bytes.size(); ++i) {
        if (static_cast<double>(i) < stops * static_cast<double>(bytes.size())) total += 5e4 * random.uniform();
        bytes[i] = base + in_steps(total, page);
      }
    };
    EXPECT_EQ(shares(2000, 100, arena).no_leak, 1) << stops;
    const auto restless = [&](SplitMix& random, Bytes& bytes) {
      arena(random, bytes);
      for (double& value : bytes) value += in_steps(2e4 * random.normal(), page);
    };
    EXPECT_EQ(shares(2000, 100, restless).leak, 0) << stops;
    EXPECT_GE(shares(2000, 100, restless).no_leak, 0.7) << stops;
  }
}

TEST(Leak, SaysWhatWasJudgedOfAnArena) {
  Bytes bytes(2000, base + 1199 * page);
  for (std::size_t i = 0; i < 1200; ++i) bytes[i] = base + static_cast<double>(i) * page;
  const LeakEstimate estimate = judged(bytes);
  EXPECT_EQ(estimate.verdict, LeakVerdict::no_leak);
  EXPECT_EQ(estimate.from, 1500U);
  EXPECT_EQ(estimate.bytes_per_iteration, 0);
  EXPECT_EQ(estimate.growth_bytes, 0);
  EXPECT_EQ(estimate.reason, "memory has stopped growing: it does not over the last 500 iterations");
}

// What is called no leak may be one that stays within a huge page: the answer says how large it can be.
TEST(Leak, DenialSaysWhatWouldHaveBeenSeen) {
  for (const double per_iteration : {500.0, 1000.0, 2000.0}) {
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
      SplitMix random(seed);
      Bytes bytes(2000);
      leak(per_iteration, huge_page)(random, bytes);
      const LeakEstimate estimate = judged(bytes);
      EXPECT_NE(estimate.verdict, LeakVerdict::leak);
      EXPECT_EQ(estimate.detectable_bytes_per_iteration.has_value(), estimate.verdict == LeakVerdict::no_leak);
      EXPECT_GE(estimate.detectable_bytes_per_iteration.value_or(HUGE_VAL), per_iteration);
    }
  }
  const LeakEstimate constant = judged(Bytes(2000, base));
  EXPECT_NEAR(*constant.detectable_bytes_per_iteration, 2098, 3);                // 2 MiB in a thousand iterations
  EXPECT_EQ(*judged(Bytes(100'000, base)).detectable_bytes_per_iteration, 100);  // what is worth an alarm at all
}

TEST(Leak, IsNotAnArenaThatSettlesSlowly) {
  for (const double time_constant : {0.05, 0.1, 0.2, 0.25, 0.3, 0.4, 0.5, 0.6}) {
    Bytes bytes(2000);
    for (std::size_t i = 0; i < bytes.size(); ++i) {
      bytes[i] = base + in_steps(2e8 * (1 - std::exp(-static_cast<double>(i) / (2000 * time_constant))), page);
    }
    EXPECT_NE(judged(bytes).verdict, LeakVerdict::leak) << time_constant;
  }
}

TEST(Leak, IsNotASingleLateAllocation) {
  for (const std::size_t at : {1100U, 1300U, 1500U, 1700U, 1950U}) {
    Bytes bytes(2000, base);
    for (std::size_t i = at; i < bytes.size(); ++i) bytes[i] += 5e7;
    EXPECT_EQ(judged(bytes).verdict, LeakVerdict::cannot_tell) << at;
    SplitMix random(at);
    for (double& value : bytes) value += in_steps(1e4 * random.normal(), page);
    EXPECT_EQ(judged(bytes).verdict, LeakVerdict::cannot_tell) << at;
  }
}

TEST(Leak, IsNotTwoOrThreeAllocations) {
  for (const int count : {2, 3}) {
    const auto allocations = [=](SplitMix& random, Bytes& bytes) {
      for (double& value : bytes) value = base;
      for (int k = 0; k < count; ++k) {
        const double size = 5e7 * random.uniform();
        for (auto i = static_cast<std::size_t>(2000 * random.uniform()); i < bytes.size(); ++i) bytes[i] += size;
      }
    };
    EXPECT_EQ(shares(2000, 500, allocations).leak, 0) << count;
  }
}

TEST(Leak, IsNotACollectorsSaw) {
  for (const double period : {20.0, 100.0, 150.0, 400.0}) {
    EXPECT_EQ(shares(2000, 100, saw(period, 0)).no_leak, 1) << period;
    EXPECT_LE(shares(2000, 200, saw(period, 0.05)).leak, 0.01) << period;
    EXPECT_LE(shares(2000, 200, saw(period, 0.3)).leak, 0.01) << period;
  }
  for (const double period : {900.0, 1300.0}) EXPECT_LE(shares(2000, 200, saw(period, 0.05)).leak, 0.01) << period;
}

TEST(Leak, IsNotDeniedWhereASawMayHideIt) {
  for (const double period : {30.0, 150.0, 400.0, 900.0, 1300.0}) {
    for (const double variation : {0.0, 0.05, 0.3}) {
      EXPECT_LE(shares(2000, 100, saw(period, variation, 1e3)).no_leak, 0.02) << period << " " << variation;
    }
  }
}

TEST(Leak, IsFoundAfterATransient) {
  const auto transient = [](SplitMix& random, Bytes& bytes) {
    leak(1e4, page)(random, bytes);
    for (std::size_t i = 0; i < bytes.size() / 10; ++i) bytes[i] += 5e8;
  };
  EXPECT_GE(shares(2000, 100, transient).leak, 0.98);
}

TEST(Leak, IsNotConstantOrDecliningMemory) {
  EXPECT_EQ(judged(Bytes(2000, base)).verdict, LeakVerdict::no_leak);
  EXPECT_EQ(judged(Bytes(2000, base)).reason, "memory does not grow over the last 1000 iterations");
  Bytes declining(2000);
  for (std::size_t i = 0; i < declining.size(); ++i) declining[i] = base - 1e4 * static_cast<double>(i);
  EXPECT_EQ(judged(declining).verdict, LeakVerdict::no_leak);
}

TEST(Leak, SmallerThanTheSmallestIsNone) {
  Bytes bytes(2000);
  std::vector<double> iterations(2000);
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    iterations[i] = static_cast<double>(i);
    bytes[i] = base + 50 * static_cast<double>(i);
  }
  EXPECT_NE(judge_leak(iterations, bytes).verdict, LeakVerdict::leak);
  EXPECT_EQ(judge_leak(iterations, bytes, 10).verdict, LeakVerdict::leak);
}

TEST(Leak, CountsIterationsAndNotPoints) {
  SplitMix random(2);
  Bytes bytes(200);
  leak(1e5, page)(random, bytes);
  std::vector<double> iterations;
  for (std::size_t i = 1; i <= bytes.size(); ++i) iterations.push_back(100 * static_cast<double>(i));
  const LeakEstimate estimate = judge_leak(iterations, bytes);
  EXPECT_EQ(estimate.verdict, LeakVerdict::leak);
  EXPECT_NEAR(estimate.bytes_per_iteration, 1e3, 50);
}

TEST(Leak, TakesTwentyPointsThatAreNumbers) {
  const LeakEstimate few = judged(Bytes(19, base));
  EXPECT_EQ(few.verdict, LeakVerdict::cannot_tell);
  EXPECT_FALSE(few.interval);
  EXPECT_EQ(few.reason, "19 points; at least 20 are needed");
  EXPECT_EQ(judged({}).verdict, LeakVerdict::cannot_tell);
  EXPECT_EQ(judged(Bytes(20, base)).verdict, LeakVerdict::no_leak);
  Bytes bad(50, base);
  bad[30] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(judged(bad).verdict, LeakVerdict::cannot_tell);
  EXPECT_EQ(judge_leak(Bytes(50, 1.0), Bytes(50, base)).verdict, LeakVerdict::cannot_tell);
}

TEST(Leak, TwentyThousandPointsThatOnlyWanderAreNone) {
  SplitMix random(3);
  Bytes bytes(20'000);
  autoregression(0.9, 1e6)(random, bytes);
  EXPECT_NE(judged(bytes).verdict, LeakVerdict::leak);
}

TEST(Leak, EveryVerdictHasAName) {
  EXPECT_EQ(to_string(LeakVerdict::leak), "leak");
  EXPECT_EQ(to_string(LeakVerdict::no_leak), "no_leak");
  EXPECT_EQ(to_string(LeakVerdict::cannot_tell), "cannot_tell");
}

}  // namespace
}  // namespace infermeter::leak_test
