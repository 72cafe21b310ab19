#include "infermeter/samples/profile_json.hpp"

#include <gtest/gtest.h>

namespace infermeter {
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

}  // namespace
}  // namespace infermeter
