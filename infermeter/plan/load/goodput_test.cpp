#include "infermeter/plan/load/goodput.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "infermeter/plan/load/load_shape.hpp"

namespace infermeter::goodput_test {
namespace {

using testing::HasSubstr;

TEST(Goodput, BoundsAreTimes) {
  const auto all = goodput_from_string("ttft <= 200ms  tpot<=50ms response<= 2s ");
  ASSERT_TRUE(all.ok()) << all.error().message;
  EXPECT_EQ(all->ttft_s, 0.2);
  EXPECT_EQ(all->tpot_s, 0.05);
  EXPECT_EQ(all->response_s, 2);
  const auto one = goodput_from_string("response<=2s");
  ASSERT_TRUE(one.ok());
  EXPECT_FALSE(one->needs_parts());
  EXPECT_TRUE(goodput_from_string("tpot<=1s")->needs_parts());
}

TEST(Goodput, WhatIsNoneIsRefused) {
  for (const char* text : {"", " ", "ttft", "ttft<200ms", "itl<=1s", "ttft<=", "ttft<=x", "<=1s", "ttft<=1s,tpot<=1s"})
    EXPECT_FALSE(goodput_from_string(text).ok()) << text;
  EXPECT_THAT(goodput_from_string("ttft<=1s ttft<=2s").error().message, HasSubstr("ttft is bounded twice"));
  EXPECT_THAT(goodput_from_string("ttft<=0s").error().message, HasSubstr("at most 0"));
}

TEST(Goodput, IsPartOfALoad) {
  const auto shape = load_shape_from_pairs({{"rate", "4"}, {"goodput", "ttft<=1s"}});
  ASSERT_TRUE(shape.ok());
  EXPECT_EQ(shape->goodput->ttft_s, 1);
  EXPECT_THAT(load_shape_from_pairs({{"samples", "4"}, {"goodput", "ttft<=1s"}}).error().message,
              HasSubstr("multi-stream"));
}

}  // namespace
}  // namespace infermeter::goodput_test
