#include "infermeter/fidelity/log_shares.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <vector>

#include "infermeter/data/arrays/npy.hpp"

namespace infermeter::log_shares_test {
namespace {

using testing::HasSubstr;
using testing::Optional;

// scipy.special.log_softmax([1, 2, 3])
TEST(LogShares, OfLogitsAndOfShares) {
  std::array<double, 3> row = {1, 2, 3};
  to_log_shares(row);
  EXPECT_NEAR(row[0], -2.40760596, 1e-8);
  EXPECT_NEAR(row[2], -0.40760596, 1e-8);
  std::array<double, 3> large = {1001, 1002, 1003};  // whose exponentials are infinite
  to_log_shares(large);
  EXPECT_NEAR(large[2], -0.40760596, 1e-8);
  std::array<double, 2> shares = {0.25, 0.75};
  to_log_shares(shares);
  EXPECT_NEAR(shares[0], std::log(0.25), 1e-15);
  std::array<double, 2> logits = {-0.5, 1.5};  // they sum to 1 as well
  to_log_shares(logits);
  EXPECT_NEAR(logits[0], -2.12692801, 1e-8);
}

// Of a low precision shares do not sum to 1, or have lost the small ones: they are shares all the same.
TEST(LogShares, OfTwoTheyAreDistributionsTogether) {
  std::array<double, 2> exact = {0.9, 0.1}, rounded = {0.8984375, 0.10009766};
  to_log_shares(exact, rounded);
  EXPECT_NEAR(exact[0], std::log(0.9), 1e-12);
  EXPECT_NEAR(rounded[0], std::log(0.8984375 / 0.99853516), 1e-7);
  std::array<double, 3> reference = {0.6, 0.3, 0.1}, lost = {0.6, 0.3, 0};
  to_log_shares(reference, lost);
  EXPECT_EQ(lost[2], -HUGE_VAL);
  std::array<double, 2> shares = {0.25, 0.75}, logits = {-1, 3};
  to_log_shares(shares, logits);
  EXPECT_NEAR(shares[0], std::log(0.25), 1e-12);
  EXPECT_NEAR(logits[1], -0.01814993, 1e-8) << "scipy.special.log_softmax([-1, 3])";
  std::array<double, 2> one = {0.2, 0.3}, other = {0.1, 0.4};  // neither sums to 1
  to_log_shares(one, other);
  EXPECT_NEAR(one[0], -0.74439666, 1e-8) << "scipy.special.log_softmax([0.2, 0.3])";
}

// sklearn.metrics.log_loss([2, 0], softmax([[1, 2, 3], [0, 0, 1.5]]), labels=[0, 1, 2]) is 1.1382935.
TEST(LogShares, LossIsTheMeanOverLabelledRows) {
  const Tensor scores = make_tensor<float>(DType::float32, {3, 3}, std::vector<float>{1, 2, 3, 9, 9, 9, 0, 0, 1.5F});
  EXPECT_THAT(mean_log_loss(scores, std::array{2, -1, 0}).value(), Optional(testing::DoubleNear(1.138293550, 1e-7)));
  EXPECT_EQ(mean_log_loss(scores, std::array{-1, -1, -1}).value(), std::nullopt);
  EXPECT_THAT(mean_log_loss(scores, std::array{2, 3, 0}).error().message, HasSubstr("label 3 is not a class"));
  const Tensor sure = make_tensor<float>(DType::float32, {1, 2}, std::vector<float>{0, 1});
  EXPECT_EQ(mean_log_loss(sure, std::array{0}).value(), std::nullopt);  // a share of 0: it is infinite
}

}  // namespace
}  // namespace infermeter::log_shares_test
