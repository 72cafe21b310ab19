#include "infermeter/text/hash.hpp"

#include <gtest/gtest.h>

namespace infermeter::hash_test {
namespace {

std::uint64_t fnv_of(std::string_view text) {
  Fnv1a hash;
  hash.add(text);
  return hash.value();
}

// Of RFC 9923 (draft-eastlake-fnv), appendix: the vectors for FNV-1a with 64 bits.
TEST(Fnv1a, HasThePublishedValues) {
  EXPECT_EQ(fnv_of(""), 0xCBF29CE484222325U);
  EXPECT_EQ(fnv_of("a"), 0xAF63DC4C8601EC8CU);
  EXPECT_EQ(fnv_of("foobar"), 0x85944171F73967E8U);
}

// The first outputs of java.util.SplittableRandom's generator, seed 1234567 (also Vigna's splitmix64.c).
TEST(SplitMix, HasThePublishedValues) {
  std::uint64_t state = 1234567;
  for (const std::uint64_t wanted : {6457827717110365317U, 3203168211198807973U, 9817491932198370423U}) {
    state += kSplitMixStep;
    EXPECT_EQ(split_mix(state), wanted);
  }
}

}  // namespace
}  // namespace infermeter::hash_test
