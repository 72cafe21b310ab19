#include "infermeter/stats/load/queue_growth.hpp"

#include <vector>

#include <gtest/gtest.h>

#include "infermeter/stats/test_queue.hpp"

namespace infermeter::queue_growth_test {
namespace {

bool grows_by_a_percent(double load, std::uint64_t seed) {
  const LoadRecord record = record_of(poisson_queue(1, load, 1000, seed));
  std::vector<double> in_flight;
  for (const LoadBin& bin : record.timeline) in_flight.push_back(static_cast<double>(bin.in_flight));
  const auto growth = queue_growth(in_flight);
  return growth && growth->grows && growth->growth > 0.01 * 1000;
}

double share_that_grows(double load) {
  constexpr int runs = 400;
  int grown = 0;
  for (int run = 0; run < runs; ++run)
    grown += grows_by_a_percent(load, 7000 + static_cast<std::uint64_t>(run)) ? 1 : 0;
  return static_cast<double>(grown) / runs;
}

TEST(QueueGrowthSimulation, AQueueThatHoldsIsNotCalledGrowing) {
  EXPECT_LE(share_that_grows(0.5), 0.005);
  EXPECT_LE(share_that_grows(0.8), 0.01);
  EXPECT_LE(share_that_grows(0.9), 0.06);
}

TEST(QueueGrowthSimulation, MoreThanItCanTakeIsSeen) {
  EXPECT_GE(share_that_grows(1.15), 0.85);
  EXPECT_GE(share_that_grows(1.5), 0.99);
}

TEST(QueueGrowth, OfALineItIsTheLine) {
  std::vector<double> line(100);
  for (std::size_t i = 0; i < line.size(); ++i) line[i] = 5 + 0.5 * static_cast<double>(i);
  const auto growth = queue_growth(line);
  ASSERT_TRUE(growth);
  EXPECT_TRUE(growth->grows);
  EXPECT_NEAR(growth->growth, 50, 1e-9);
  EXPECT_NEAR(growth->first, 11, 1e-9);
  EXPECT_FALSE(queue_growth(std::vector<double>(100, 3.0))->grows);
  EXPECT_FALSE(queue_growth(std::vector<double>(kFewestQueueBins - 1, 3.0)));
}

}  // namespace
}  // namespace infermeter::queue_growth_test
