#include "infermeter/samples/profile_json.hpp"

#include <gtest/gtest.h>

namespace infermeter::profile_json_test {
namespace {

TEST(PeaksJson, GivesBackWhatItWasGiven) {
  MachinePeaks peaks;
  peaks.threads = 2;
  peaks.compute = {{.dtype = "int8", .ops_per_s = 3e12, .low = 2.9e12, .high = 3e12, .instructions = "AVX-512 VNNI"}};
  peaks.bandwidth = {{.level = "L2", .bytes_per_s = 2e11, .low = 1e11, .high = 2e11, .holds_bytes = 4'194'304}};
  peaks.seconds = 2.5;
  peaks.missing = {"L3: the size of this cache is not known"};
  const auto back = peaks_from_json(peaks_to_json(peaks));
  ASSERT_TRUE(back.ok());
  const MachinePeaks& read = back.value();
  EXPECT_EQ(read.threads, 2);
  ASSERT_EQ(read.compute.size(), 1U);
  EXPECT_EQ(read.compute[0].dtype, "int8");
  EXPECT_EQ(read.compute[0].ops_per_s, 3e12);
  EXPECT_EQ(read.compute[0].low, 2.9e12);
  EXPECT_EQ(read.compute[0].high, 3e12);
  EXPECT_EQ(read.compute[0].instructions, "AVX-512 VNNI");
  ASSERT_EQ(read.bandwidth.size(), 1U);
  EXPECT_EQ(read.bandwidth[0].level, "L2");
  EXPECT_EQ(read.bandwidth[0].bytes_per_s, 2e11);
  EXPECT_EQ(read.bandwidth[0].low, 1e11);
  EXPECT_EQ(read.bandwidth[0].high, 2e11);
  EXPECT_EQ(read.bandwidth[0].holds_bytes, 4'194'304U);
  EXPECT_EQ(read.seconds, 2.5);
  EXPECT_EQ(read.missing, peaks.missing);
  EXPECT_FALSE(peaks_from_json("{\"compute\": 3}").ok());
}

TEST(StacksJson, GivesBackWhatItWasGiven) {
  TrialStacks stacks;
  stacks.position = 3;
  stacks.method = "perf_event";
  stacks.detail = "at 499 Hz";
  stacks.is_python = true;
  stacks.stacks.frames = {{.symbol = "work", .module = "lib.so", .offset = 16},
                          {.symbol = "", .module = "lib.so", .offset = 32}};
  stacks.stacks.threads = {"main"};
  stacks.stacks.samples = {{.t_s = 0.5, .thread = 0, .frames = {0, 1}, .weight = 2, .iteration = 4, .op = 7},
                           {.t_s = 1, .thread = 0, .frames = {}}};
  stacks.stacks.unit = "s";
  stacks.stacks.cut = true;
  const auto back = stacks_from_json(stacks_to_json(stacks));
  ASSERT_TRUE(back.ok());
  EXPECT_EQ(stacks_to_json(*back), stacks_to_json(stacks));
  EXPECT_EQ(back->stacks.frames, stacks.stacks.frames);
  EXPECT_EQ(back->stacks.samples[0].op, 7U);
  EXPECT_EQ(back->stacks.samples[1].op, std::nullopt);
}

TEST(StacksJson, RefusesWhatDoesNotFit) {
  TrialStacks stacks;
  stacks.method = "perf_event";
  stacks.stacks.threads = {"main"};
  stacks.stacks.frames = {{.symbol = "work", .module = "", .offset = 0}};
  stacks.stacks.samples = {{.t_s = 0, .thread = 0, .frames = {1}}};
  EXPECT_FALSE(stacks_from_json(stacks_to_json(stacks)).ok());
  stacks.stacks.samples = {{.t_s = 0, .thread = 1, .frames = {0}}};
  EXPECT_FALSE(stacks_from_json(stacks_to_json(stacks)).ok());
}

}  // namespace
}  // namespace infermeter::profile_json_test
