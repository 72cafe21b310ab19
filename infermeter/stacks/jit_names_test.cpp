#include "infermeter/stacks/jit_names.hpp"

#include <gtest/gtest.h>

namespace infermeter::jit_names_test {
namespace {

TEST(JitNames, FindsTheRangeAndLeavesTheCounterOut) {
  const JitNames names("1000 20 jit_brgemm_kernel_t.46\n0x2000 0x10 a name with blanks\n3000 10 v1.2.x\n4000 10 .5\n");
  EXPECT_EQ(names.name_at(0x1000), "jit_brgemm_kernel_t");
  EXPECT_EQ(names.name_at(0x101f), "jit_brgemm_kernel_t");
  EXPECT_EQ(names.name_at(0x1020), "") << "the end is not in it";
  EXPECT_EQ(names.name_at(0xfff), "");
  EXPECT_EQ(names.name_at(0x2001), "a name with blanks");
  EXPECT_EQ(names.name_at(0x3001), "v1.2.x");
  EXPECT_EQ(names.name_at(0x4001), ".5");
}

TEST(JitNames, TakesTheLaterOfTwo) { EXPECT_EQ(JitNames("1000 20 old\n1000 20 new\n").name_at(0x1001), "new"); }

TEST(JitNames, OfMemoryThatIsUsedAgainTheLaterLineHolds) {
  const JitNames names("2000 500 old\n1000 2000 new\n4000 300 a\n4100 100 b\n5000 100 c\n4f80 100 d\n");
  EXPECT_EQ(names.name_at(0x2100), "new");
  EXPECT_EQ(names.name_at(0x2600), "new");
  EXPECT_EQ(names.name_at(0x4010), "a");
  EXPECT_EQ(names.name_at(0x4110), "b");
  EXPECT_EQ(names.name_at(0x4210), "a") << "behind it is what was there before";
  EXPECT_EQ(names.name_at(0x5010), "d");
  EXPECT_EQ(names.name_at(0x5090), "c");
  EXPECT_EQ(names.name_at(0x5100), "");
}

TEST(JitNames, LeavesOutWhatIsNoLine) {
  const JitNames names("\nx\n1000\n1000 20\n1000 20 \nffffffffffffffff 2 wraps\nzz 1 a\n2000 8 good\n3000 8 cut");
  EXPECT_EQ(names.name_at(0x1001), "");
  EXPECT_EQ(names.name_at(0xffffffffffffffff), "");
  EXPECT_EQ(names.name_at(0x2001), "good");
  EXPECT_EQ(names.name_at(0x3001), "") << "its line has no end";
}

TEST(JitNames, AreText) {
  EXPECT_EQ(JitNames("1000 8 a\x1b[31m\xff\n").name_at(0x1000), "a [31m\xef\xbf\xbd");
  EXPECT_LE(JitNames("1000 8 " + std::string(100'000, 'a') + "\n").name_at(0x1000).size(), 4096U);
}

}  // namespace
}  // namespace infermeter::jit_names_test
