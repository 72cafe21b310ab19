#include "infermeter/text/utf8.hpp"

#include <cstdint>

#include <gtest/gtest.h>

#include "infermeter/text/terminal.hpp"

namespace infermeter::utf8_test {
namespace {

TEST(ValidUtf8, KeepsWhatIsWellFormedAndReplacesTheRest) {
  const std::string good = "a\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80";
  EXPECT_EQ(valid_utf8(good), good);
  EXPECT_EQ(valid_utf8("a\xff"
                       "b"),
            "a\xef\xbf\xbd"
            "b");
  EXPECT_EQ(valid_utf8("\xc3"), "\xef\xbf\xbd") << "cut";
  EXPECT_EQ(valid_utf8("\xc0\xaf"), "\xef\xbf\xbd\xef\xbf\xbd") << "overlong";
  EXPECT_EQ(valid_utf8("\xed\xa0\x80").size(), 9U) << "a surrogate";
  EXPECT_EQ(valid_utf8("\xf4\x90\x80\x80").size(), 12U) << "beyond U+10FFFF";
}

TEST(SteersDisplay, WhatDoesNotStandForItself) {
  for (const char32_t code : {0x00, 0x1b, 0x7f, 0x85, 0xad, 0x61c, 0x200b, 0x200d, 0x202e, 0x2028, 0x2066, 0x3164,
                              0xfeff, 0xfff9, 0xffff, 0xe0041})
    EXPECT_TRUE(steers_display(code)) << std::hex << static_cast<std::uint32_t>(code);
  for (const char32_t code : {0x20, 0x7e, 0xa0, 0xe9, 0x301, 0x5d0, 0x2026, 0x4e2d, 0xfe0f, 0x1f600})
    EXPECT_FALSE(steers_display(code)) << std::hex << static_cast<std::uint32_t>(code);
}

TEST(DisplayWidth, IsThatOfUnicode) {
  EXPECT_EQ(display_width("a\xc3\xa9\xe2\x80\xa6"), 3U);
  EXPECT_EQ(display_width("e\xcc\x81"), 1U) << "with a combining mark";
  EXPECT_EQ(display_width("\xe4\xb8\xad\xe6\x96\x87"), 4U);
  EXPECT_EQ(display_width("\xe2\x9a\xbd"), 2U) << "a ball";
  EXPECT_EQ(display_width("\xff"), 1U);
}

}  // namespace
}  // namespace infermeter::utf8_test
