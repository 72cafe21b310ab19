#include "infermeter/stats/load/requests_needed.hpp"

#include <cmath>

#include <gtest/gtest.h>

namespace infermeter::requests_needed_test {
namespace {

TEST(RequestsNeeded, AreThoseOfLoadGen) {
  EXPECT_EQ(requests_needed(0.90), 64);
  EXPECT_EQ(requests_needed(0.95), 130);
  EXPECT_EQ(requests_needed(0.97), 219);
  EXPECT_EQ(requests_needed(0.99), 662);
  EXPECT_EQ(requests_needed(0.999), 6636);
}

TEST(RequestsNeeded, WithNoneAboveFollowFromOnePower) {
  for (const double percentile : {0.5, 0.9, 0.99}) {
    EXPECT_EQ(requests_needed(percentile, 0), std::ceil(std::log(0.01) / std::log(percentile))) << percentile;
  }
}

TEST(RequestsNeeded, AreMoreTheMoreLieAbove) {
  for (int over = 1; over < 50; ++over) EXPECT_GT(requests_needed(0.99, over), requests_needed(0.99, over - 1));
}

}  // namespace
}  // namespace infermeter::requests_needed_test
