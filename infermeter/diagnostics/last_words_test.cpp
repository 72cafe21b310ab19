#include "infermeter/diagnostics/last_words.hpp"

#include <gtest/gtest.h>

namespace infermeter::last_words_test {
namespace {

TEST(LastWords, AreTheLastLineThatSaysSomething) {
  EXPECT_EQ(last_words("one\ntwo\r\n\n"), "two");
  EXPECT_EQ(last_words("/x/m.py:3: UserWarning: deprecated\n  warnings.warn(\n"), "/x/m.py:3: UserWarning: deprecated");
  EXPECT_EQ(last_words("Traceback:\n  File \"m.py\"\n    f()\n    ^^^\nValueError: no\n"), "ValueError: no");
  EXPECT_EQ(last_words("stopped\n-----\n"), "stopped");
  EXPECT_EQ(last_words("  all that was said\n"), "all that was said");
  EXPECT_EQ(last_words(" \n\n"), "");
  EXPECT_EQ(last_words("one\n\x1b[1;31mtwo: \x1b[4mred\x1b[0m lines\x1b[m\x1b[0m\n\x1b[m\n"),
            "two: \x1b[4mred\x1b[0m lines");
  EXPECT_EQ(last_words("one\n\x1b[1;31"), "\x1b[1;31");
  EXPECT_EQ(last_words("\x1b[m\n"), "");
  EXPECT_EQ(last_words(""), "");
}

}  // namespace
}  // namespace infermeter::last_words_test
