#include "infermeter/text/utf8.hpp"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace infermeter::utf8_test
