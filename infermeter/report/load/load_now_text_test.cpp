#include "infermeter/report/load/load_now_text.hpp"

#include <gtest/gtest.h>

#include "infermeter/text/terminal.hpp"

namespace infermeter::load_now_text_test {
namespace {

const LoadNow kNow{.rate = 40.1, .in_flight = 3, .failed = 0, .response_p50_s = 0.0112, .response_p99_s = 0.045};

TEST(LoadNowText, WhatMattersLeastIsLeftOutFirst) {
  EXPECT_EQ(load_now_text("", kNow, 12, 80), "40.1/s, 3 in flight, p50 11.2 ms, p99 45.0 ms, 0 errors, 12 s left");
  EXPECT_EQ(load_now_text("", kNow, 12, 65), "40.1/s, 3 in flight, p50 11.2 ms, p99 45.0 ms, 12 s left");
  EXPECT_EQ(load_now_text("", kNow, 12, 50), "40.1/s, 3 in flight, p99 45.0 ms, 12 s left");
  EXPECT_EQ(load_now_text("", kNow, 12, 40), "40.1/s, p99 45.0 ms, 12 s left");
  EXPECT_EQ(load_now_text("", kNow, 12, 20), "40.1/s, 12 s left");
  EXPECT_EQ(load_now_text("", kNow, 12, 10), "40.1/s");
  EXPECT_EQ(load_now_text("", kNow, 12, 4), "40.…");
  EXPECT_EQ(load_now_text("", kNow, 12, 0), "");
}

TEST(LoadNowText, ErrorsRemain) {
  LoadNow now = kNow;
  now.failed = 1;
  EXPECT_EQ(load_now_text("", now, 12, 80), "40.1/s, 3 in flight, p50 11.2 ms, p99 45.0 ms, 1 error, 12 s left");
  now.failed = 7;
  EXPECT_EQ(load_now_text("", now, 12, 20), "40.1/s, 7 errors");
}

TEST(LoadNowText, WhatIsNotKnownIsLeftOut) {
  EXPECT_EQ(load_now_text("", {.in_flight = 2}, {}, 80), "2 in flight, 0 errors");
  EXPECT_EQ(load_now_text("", {.rate = 0, .in_flight = 2, .response_p50_s = 3e-6}, 0.5, 80),
            "0/s, 2 in flight, p50 3.00 µs, 0 errors, 0.5 s left");
}

TEST(LoadNowText, TheHeadTakesItsColumns) {
  EXPECT_EQ(load_now_text("[1/2] a@b  ", kNow, 12, 51), "[1/2] a@b  40.1/s, p99 45.0 ms, 12 s left");
  EXPECT_EQ(load_now_text("[1/2] a@b  ", kNow, 12, 14), "[1/2] a@b  40…");
}

TEST(LoadNowText, FitsEveryWidth) {
  LoadNow now = kNow;
  now.rate = 1.234e6;
  now.failed = 123456;
  for (std::size_t width = 0; width < 100; ++width)
    EXPECT_LE(display_width(load_now_text("", now, 3600, width)), width) << width;
}

}  // namespace
}  // namespace infermeter::load_now_text_test
