#include "infermeter/profile/operators/operator_kinds.hpp"

#include <gtest/gtest.h>

namespace infermeter::operator_kinds_test {
namespace {

TEST(OperatorKind, IsTheSameInTheWordsOfAllRuntimes) {
  for (const auto* const word : {"Conv", "FusedConv", "Convolution", "com.microsoft.nchwc.Conv", "CONV_2D"}) {
    EXPECT_EQ(plain_kind(word), "Conv") << word;
  }
  for (const auto* const word : {"FullyConnected", "Fully Connected", "FULLY_CONNECTED", "Batch Matrix Multiply"}) {
    EXPECT_EQ(plain_kind(word), "MatMul") << word;
  }
  EXPECT_EQ(plain_kind("CUMSUM"), "CUMSUM");
}

TEST(OperatorKind, TellsProductsFromMovement) {
  EXPECT_TRUE(is_heavy_kind("DEPTHWISE_CONV_2D"));
  EXPECT_FALSE(is_heavy_kind("TRANSPOSE"));
  EXPECT_TRUE(is_movement_kind("TRANSPOSE"));
  EXPECT_TRUE(is_movement_kind("Copy"));
  EXPECT_FALSE(is_movement_kind("Constant Pad"));
}

}  // namespace
}  // namespace infermeter::operator_kinds_test
