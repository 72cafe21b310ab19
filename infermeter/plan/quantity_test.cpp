#include "infermeter/plan/quantity.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

namespace infermeter::quantity_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(Seconds, HaveUnits) {
  EXPECT_EQ(*seconds_from_string("30"), 30);
  EXPECT_EQ(*seconds_from_string("30s"), 30);
  EXPECT_EQ(*seconds_from_string("5m"), 300);
  EXPECT_EQ(*seconds_from_string("2h"), 7200);
  EXPECT_DOUBLE_EQ(*seconds_from_string("250ms"), 0.25);
  EXPECT_DOUBLE_EQ(*seconds_from_string("1.5 min"), 90);
  EXPECT_DOUBLE_EQ(*seconds_from_string("40us"), 4e-5);
  EXPECT_EQ(*seconds_from_string("0"), 0);
}

TEST(Seconds, RefuseWhatIsNone) {
  for (const char* text : {"", "s", "-1s", "1x", "nan", "inf", "1e400", "5 m s", "1e10h", " 5"}) {
    const auto seconds = seconds_from_string(text);
    ASSERT_FALSE(seconds.ok()) << text;
    EXPECT_THAT(seconds.error().message, HasSubstr("expected a time such as 30s"));
  }
}

TEST(Bytes, TellDecimalFromBinary) {
  EXPECT_EQ(*bytes_from_string("2GB"), 2'000'000'000U);
  EXPECT_EQ(*bytes_from_string("512MiB"), 536'870'912U);
  EXPECT_EQ(*bytes_from_string("1.5 kB"), 1500U);
  EXPECT_EQ(*bytes_from_string("4096"), 4096U);
  for (const char* text : {"", "GB", "-1", "2gigs", "1e30", "99999999TB"}) {
    ASSERT_FALSE(bytes_from_string(text).ok()) << text;
  }
  EXPECT_THAT(bytes_from_string("2gigs").error().message,
              HasSubstr("expected a size such as 2GB or 512MiB, got '2gigs'"));
}

TEST(Quantity, SizesAreWrittenInTheUnitThatTheyWereGivenIn) {
  for (const char* const text : {"200 MB", "200 MiB", "2 GB", "4 GiB", "500 kB", "3 KiB", "1500 MB"})
    EXPECT_EQ(size_to_string(*bytes_from_string(text)), text);
  EXPECT_EQ(size_to_string(13'123'456'789), "13123 MB");
  EXPECT_EQ(size_to_string(0), "0 MB");
}

TEST(Integer, NamesItsBounds) {
  EXPECT_EQ(*integer_from_string("7", 1, 9), 7);
  EXPECT_EQ(integer_from_string("0", 1, 9).error().message, "expected a whole number from 1 to 9, got '0'");
  EXPECT_FALSE(integer_from_string("7.0", 1, 9).ok());
  EXPECT_FALSE(integer_from_string("99999999999999999999", 1, INT64_MAX).ok());
  EXPECT_EQ(integer_from_string("x", 1, INT64_MAX).error().message, "expected a whole number of at least 1, got 'x'");
}

TEST(Processors, AreRangesAndNumbers) {
  EXPECT_THAT(*processors_from_string("0-2,5,1"), ElementsAre(0, 1, 2, 5));
  for (const char* text : {"", "a", "3-1", "0-", "-1", "0,,1", "0-99999", "1;2"}) {
    EXPECT_FALSE(processors_from_string(text).ok()) << text;
  }
}

TEST(PairText, SplitsAtTheFirstEquals) {
  EXPECT_THAT(*pair_from_string("a=b=c", "it"), testing::Pair("a", "b=c"));
  EXPECT_THAT(pair_from_string("ab", "an option").error().message, "expected an option as name=value, got 'ab'");
}

TEST(Utf8, IsToldFromOtherBytes) {
  EXPECT_TRUE(is_utf8(""));
  EXPECT_TRUE(is_utf8("naïve 模型 \U0001F600"));
  for (const char* text :
       {"\xff", "\xc0\xaf", "\xe0\x80\xaf", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xe6\xa8", "\x80"}) {
    EXPECT_FALSE(is_utf8(text));
  }
}

TEST(Quantities, NeverCrash) {
  EXPECT_TRUE(rc::check([](const std::string& text) {
    (void)seconds_from_string(text);
    (void)bytes_from_string(text);
    (void)processors_from_string(text);
    (void)is_utf8(text);
  }));
}

}  // namespace
}  // namespace infermeter::quantity_test
