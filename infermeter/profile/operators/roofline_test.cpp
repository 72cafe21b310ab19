#include "infermeter/profile/operators/roofline.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace infermeter::roofline_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// 100 GFLOP/s in float32, twice that in bfloat16; L2 of 1 MB at 50 GB/s, memory at 10 GB/s.
MachinePeaks machine() {
  MachinePeaks peaks{.threads = 1, .compute = {}, .bandwidth = {}, .seconds = 1, .missing = {}};
  peaks.compute = {{.dtype = "float32", .ops_per_s = 100e9, .low = 99e9, .high = 100e9, .instructions = "FMA"},
                   {.dtype = "bfloat16", .ops_per_s = 200e9, .low = 199e9, .high = 200e9, .instructions = "BF16"},
                   {.dtype = "int8", .ops_per_s = 400e9, .low = 399e9, .high = 400e9, .instructions = "VNNI"}};
  peaks.bandwidth = {{"L1", 99e9, 99e9, 99e9, 0},  // nobody knows what it holds
                     {"L2", 50e9, 49e9, 50e9, 1'000'000},
                     {"DRAM", 10e9, 9e9, 10e9, 0},
                     {"DRAM triad", 90e9, 9e9, 90e9, 0}};
  return peaks;
}

ProfiledOperator operation(std::string precision, std::optional<double> flops, std::optional<double> bytes) {
  ProfiledOperator op;
  op.name = "op";
  op.precision = std::move(precision);
  op.nodes = {"node"};
  op.flops = flops;
  op.moved_bytes = bytes;
  return op;
}

OperatorTable table_of(std::vector<double> times_s, double rest_s) {
  OperatorTable table;
  for (std::size_t op = 0; op < times_s.size(); ++op) {
    OperatorTime time;
    time.op = op;
    time.mean_s = times_s[op];
    table.operators.push_back(time);
    table.wall_s += time.mean_s;
  }
  table.wall_s += rest_s;
  return table;
}

TEST(Roofline, HoldsAnOperatorAgainstTheSlowerOfTheTwo) {
  // 1 GFLOP takes 10 ms at best; 20 MB from memory 2 ms.
  const Roofline compute = roofline(table_of({0.0125}, 0), {operation("float32", 1e9, 20e6)}, machine());
  ASSERT_EQ(compute.points.size(), 1U);
  EXPECT_EQ(compute.points[0].bound, Bound::compute);
  EXPECT_DOUBLE_EQ(compute.points[0].fraction, 0.8);
  EXPECT_DOUBLE_EQ(compute.points[0].flops_per_s, 80e9);
  EXPECT_DOUBLE_EQ(compute.points[0].intensity, 50);
  // 0.1 GFLOP takes 1 ms, and its 200 MB take 20 ms.
  const Roofline memory = roofline(table_of({0.025}, 0), {operation("float32", 1e8, 200e6)}, machine());
  ASSERT_EQ(memory.points.size(), 1U);
  EXPECT_EQ(memory.points[0].bound, Bound::memory);
  EXPECT_DOUBLE_EQ(memory.points[0].fraction, 0.8);
  EXPECT_THAT(memory.notes, IsEmpty());
  EXPECT_EQ(memory.reason, "");
}

TEST(Roofline, UsesThePeakOfTheExecutedPrecision) {
  const Roofline found = roofline(
      table_of({0.01, 0.01, 0.01}, 0),
      {operation("float32", 1e9, 1e6), operation("bfloat16", 1e9, 1e6), operation("uint8", 1e9, 1e6)}, machine());
  ASSERT_EQ(found.points.size(), 3U);
  EXPECT_DOUBLE_EQ(found.points[0].fraction, 1);
  EXPECT_DOUBLE_EQ(found.points[1].fraction, 0.5);
  EXPECT_DOUBLE_EQ(found.points[2].fraction, 0.25);
  EXPECT_EQ(found.points[2].dtype, "int8");
}

TEST(Roofline, TakesFloat32WhereNoPrecisionIsToldAndSaysSo) {
  const std::vector operators = {operation("", 1e9, 1e6)};
  const Roofline found = roofline(table_of({0.02}, 0), operators, machine());
  ASSERT_EQ(found.points.size(), 1U);
  EXPECT_EQ(found.points[0].dtype, "float32");
  EXPECT_TRUE(found.points[0].dtype_assumed);
  EXPECT_THAT(found.notes, ElementsAre("1 operator: the executed precision is not known, float32 is assumed"));
  EXPECT_DOUBLE_EQ(roofline(table_of({0.02}, 0), operators, machine(), "bfloat16").points.at(0).fraction, 0.25);
}

TEST(Roofline, SmallOperatorsMayFindTheirBytesInACache) {
  // 1 MB: 20 us in L2, 100 us from memory; 0.1 ms of work would hide either.
  const Roofline near = roofline(table_of({40e-6}, 0), {operation("float32", 1e3, 1e6)}, machine());
  EXPECT_DOUBLE_EQ(near.points.at(0).fraction, 0.5);
  const Roofline far = roofline(table_of({200e-6}, 0), {operation("float32", 1e3, 1.1e6)}, machine());
  EXPECT_DOUBLE_EQ(far.points.at(0).fraction, 110e-6 / 200e-6);
}

TEST(Roofline, WeightsComeFromWhereTheWholeModelLies) {
  ProfiledOperator last = operation("float32", 1e3, 800'000);
  last.parameter_bytes = 600'000;
  // Alone, the model's 0.8 MB stay in L2. Behind 10 MB of another operator, its weights have left it.
  EXPECT_DOUBLE_EQ(roofline(table_of({1e-3}, 0), {last}, machine()).points.at(0).least_s, 16e-6);
  const Roofline whole = roofline(table_of({1e-3, 1e-3}, 0), {last, operation("float32", 1e3, 10e6)}, machine());
  EXPECT_DOUBLE_EQ(whole.points.at(0).least_s, 200'000 / 50e9 + 600'000 / 10e9);
}

// Activations lie where those before them lay: many operators take no more room than one.
TEST(Roofline, TheRoomOfActivationsIsUsedAgain) {
  ProfiledOperator last = operation("float32", 1e3, 800'000);
  last.parameter_bytes = 600'000;
  std::vector<ProfiledOperator> all = {last};
  for (int i = 0; i < 50; ++i) all.push_back(operation("float32", 1e3, 200'000));
  const OperatorTable times = table_of(std::vector<double>(all.size(), 1e-3), 0);
  EXPECT_DOUBLE_EQ(roofline(times, all, machine()).points.at(0).least_s, 16e-6);
  all[7].arena_peak_bytes = 10'000'000;  // as the runtime says itself
  EXPECT_DOUBLE_EQ(roofline(times, all, machine()).points.at(0).least_s, 200'000 / 50e9 + 600'000 / 10e9);
}

TEST(Roofline, OfTheWholeModelCountsTimeThatNoPointHas) {
  // 10 ms and 5 ms at best, of 12 + 8 ms, 3 ms of an operator without work, and 2 ms of rest.
  const Roofline found = roofline(
      table_of({0.012, 0.008, 0.003}, 0.002),
      {operation("float32", 1e9, 1e6), operation("float32", 0.5e9, 1e6), operation("float32", 0, 1e6)}, machine());
  EXPECT_EQ(found.points.size(), 2U);
  EXPECT_DOUBLE_EQ(found.whole_fraction.value(), 0.6);
  EXPECT_DOUBLE_EQ(found.whole_flops, 1.5e9);
}

TEST(Roofline, SaysWhatItLeavesOut) {
  const Roofline found = roofline(table_of({0.02, 0.01, 0.01, 0}, 0),
                                  {operation("float32", 1e9, std::nullopt), operation("float32", std::nullopt, 1e6),
                                   operation("float16", 1e9, 1e6), operation("float32", 1e9, 1e6)},
                                  machine());
  ASSERT_EQ(found.points.size(), 1U);
  EXPECT_DOUBLE_EQ(found.points[0].intensity, 0);
  EXPECT_THAT(
      found.notes,
      ElementsAre("1 operator: left out, as no peak of float16 was measured",
                  "1 operator: left out, as its work cannot be counted", "1 operator: left out: no time was reported",
                  "1 operator: its bytes are not known, only operations are compared with their peak"));
}

TEST(Roofline, FlagsWhatIsAboveItAndNeverClips) {
  const Roofline found = roofline(table_of({0.0099, 0.0097}, 0),
                                  {operation("float32", 1e9, 1e6), operation("float32", 1e9, 1e6)}, machine());
  EXPECT_NEAR(found.points.at(0).fraction, 1.0101, 1e-4);
  EXPECT_FALSE(found.points.at(0).above_roof);
  EXPECT_NEAR(found.points.at(1).fraction, 1.0309, 1e-4);
  EXPECT_TRUE(found.points.at(1).above_roof);
  EXPECT_THAT(found.notes, ElementsAre(HasSubstr("faster than was measured as possible")));
}

TEST(Roofline, WithoutPeaksOrWorkSaysWhy) {
  const std::vector operators = {operation("float32", 1e9, 1e6)};
  MachinePeaks none;
  EXPECT_EQ(roofline(table_of({0.01}, 0), operators, none).reason, "no peaks were measured");
  none.missing = {"all peaks: processor 3 may not be used"};
  EXPECT_EQ(roofline(table_of({0.01}, 0), operators, none).reason, none.missing.front());
  EXPECT_EQ(roofline(table_of({0.01}, 0), {operation("float32", 0, 1e6)}, machine()).reason,
            "no operator's work is known");
  EXPECT_THAT(roofline(table_of({0.01}, 0), {}, machine()).points, IsEmpty());
  MachinePeaks no_bandwidth = machine();
  no_bandwidth.bandwidth.clear();
  const Roofline found = roofline(table_of({0.01}, 0), operators, no_bandwidth);
  EXPECT_DOUBLE_EQ(found.points.at(0).fraction, 1);
  EXPECT_THAT(found.notes, ElementsAre(HasSubstr("DRAM was not measured")));
}

}  // namespace
}  // namespace infermeter::roofline_test
