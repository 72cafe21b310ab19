#include "infermeter/trial/machine/peaks.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>

namespace infermeter::peaks_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr std::uint64_t kib = 1024, mib = 1024 * kib, gib = 1024 * mib;

Environment machine_with(std::vector<Cache> caches) {
  Environment machine;
  machine.caches = std::move(caches);
  machine.processors_online = 16;
  machine.memory_available_bytes = 16 * gib;
  return machine;
}

// Two clusters of eight processors with an L3 each; two threads of a core share L1 and L2.
Environment two_clusters() {
  return machine_with({{"L1d", 32 * kib, 2}, {"L1i", 32 * kib, 2}, {"L2", mib, 2}, {"L3", 32 * mib, 8}});
}

TEST(WorkingSets, LieInTheirLevelAndInNoneNearer) {
  const WorkingSets sets = working_sets(two_clusters(), 1, 4 * gib);
  EXPECT_EQ(sets.l1_bytes, 16 * kib);
  EXPECT_EQ(sets.l2_bytes, 512 * kib);
  EXPECT_EQ(sets.l3_bytes, 4 * mib);
  EXPECT_EQ(sets.dram_bytes, 128 * mib);
}

TEST(WorkingSets, AreForThreadsThatShareAllTheyCan) {
  const WorkingSets sets = working_sets(two_clusters(), 8, 4 * gib);
  EXPECT_EQ(sets.l1_bytes, 8 * kib);
  EXPECT_EQ(sets.l2_bytes, 256 * kib);
  EXPECT_EQ(sets.l3_bytes, 2 * mib);                 // an eighth of 32 MiB, half of it
  EXPECT_EQ(sets.dram_bytes, 4 * 2 * 32 * mib / 8);  // four times both L3, over all threads
}

TEST(WorkingSets, AreNoneWhereALevelCannotBeTold) {
  // L3 no larger than the L2 that four threads have: there is nothing between L2 and memory.
  const Environment small = machine_with({{"L1d", 48 * kib, 1}, {"L2", 2 * mib, 1}, {"L3", 12 * mib, 4}});
  EXPECT_EQ(working_sets(small, 1, 4 * gib).l3_bytes, 6 * mib);
  EXPECT_EQ(working_sets(small, 4, 4 * gib).l3_bytes, 0U);
  EXPECT_EQ(working_sets(machine_with({}), 1, 4 * gib).l1_bytes, 0U);
  EXPECT_EQ(working_sets(machine_with({}), 1, 4 * gib).dram_bytes, 64 * mib);
}

TEST(WorkingSets, TakeNoMoreMemoryThanTheyMay) {
  EXPECT_EQ(working_sets(two_clusters(), 1, 70 * mib).dram_bytes, 70 * mib) << "twice the L3 will do";
  EXPECT_EQ(working_sets(two_clusters(), 1, 63 * mib).dram_bytes, 0U);
  const Environment huge = machine_with({{"L3", 500 * mib, 16}});
  EXPECT_EQ(working_sets(huge, 1, 64 * gib).dram_bytes, gib) << "twice the L3 will do";
  const Environment too_huge = machine_with({{"L3", 600 * mib, 16}});
  EXPECT_EQ(working_sets(too_huge, 1, 64 * gib).dram_bytes, 0U);
}

TEST(ProcessorsByCore, AreEachThereOnce) {
  const std::vector<int> processors = processors_by_core();
  EXPECT_FALSE(processors.empty());
  EXPECT_EQ(std::set<int>(processors.begin(), processors.end()).size(), processors.size());
}

TEST(RefusedProcessors, AreThoseThatAreNotThere) {
  const std::vector<int> here = processors_by_core();
  EXPECT_THAT(refused_processors(here), testing::IsEmpty());
  EXPECT_THAT(refused_processors(std::vector{here.front(), 1000, -1, 1 << 20}),
              testing::ElementsAre(1000, -1, 1 << 20));
  EXPECT_EQ(processors_by_core(), here);  // this thread is where it was
}

TEST(Peaks, OfThisMachineAreFiguresInTheirRangesOrSentences) {
  Environment machine = machine_with({{"L1d", 32 * kib, 1}, {"L2", 512 * kib, 1}});
  machine.memory_available_bytes = mib;  // too little for DRAM: keeps this test short
  const MachinePeaks peaks = measure_peaks(processors_by_core(), 1, machine);
  std::set<std::string> reported;
  for (const ComputePeak& peak : peaks.compute) {
    EXPECT_TRUE(reported.insert(peak.dtype).second) << peak.dtype;
    EXPECT_GT(peak.low, 0) << peak.dtype;
    EXPECT_GE(peak.high, peak.low) << peak.dtype;
    EXPECT_EQ(peak.ops_per_s, peak.high) << "programs next door only make a repeat slower";
    EXPECT_FALSE(peak.instructions.empty()) << peak.dtype;
  }
  for (const BandwidthPeak& peak : peaks.bandwidth) {
    EXPECT_TRUE(reported.insert(peak.level).second) << peak.level;
    EXPECT_GT(peak.low, 0) << peak.level;
    EXPECT_GE(peak.high, peak.low) << peak.level;
    EXPECT_EQ(peak.bytes_per_s, peak.high) << peak.level;
    EXPECT_EQ(peak.holds_bytes, peak.level == "L1" ? 32 * kib : 512 * kib) << peak.level;
  }
  for (const std::string& sentence : peaks.missing)
    EXPECT_TRUE(reported.insert(sentence.substr(0, sentence.find(':'))).second) << sentence;
  EXPECT_EQ(reported, (std::set<std::string>{"float32", "bfloat16", "int8", "L1", "L2", "L3", "DRAM", "DRAM triad"}));
  EXPECT_GT(peaks.seconds, 0);
  EXPECT_EQ(peaks.threads, 1);
}

TEST(Peaks, ThatCannotBeMeasuredAreOneSentence) {
  const MachinePeaks crowded = measure_peaks(std::vector{0}, 2, two_clusters());
  EXPECT_THAT(crowded.compute, IsEmpty());
  EXPECT_THAT(crowded.missing, ElementsAre("all peaks: 2 threads need a processor each and there are 1"));
  EXPECT_THAT(measure_peaks(std::vector{-7}, 1, two_clusters()).missing,
              ElementsAre("all peaks: processor -7 may not be used"));
  EXPECT_THAT(measure_peaks({}, 0, two_clusters()).missing, ElementsAre(HasSubstr("0 threads")));
  const std::atomic<int> interrupt = 1;
  const MachinePeaks interrupted = measure_peaks(processors_by_core(), 1, two_clusters(), &interrupt);
  EXPECT_TRUE(interrupted.compute.empty());
  EXPECT_THAT(interrupted.missing.back(), HasSubstr("interrupted"));
}

}  // namespace
}  // namespace infermeter::peaks_test
