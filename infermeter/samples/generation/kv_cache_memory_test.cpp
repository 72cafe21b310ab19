#include "infermeter/samples/generation/kv_cache_memory.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace infermeter::kv_cache_memory_test {

TEST(KvCacheMemory, IsThatOfTheFirstTrialThatSaysIt) {
  std::vector<Samples> trials(3);
  trials[0].subject = 0;
  trials[0].executed = {{"kv_bytes_per_token", "10"}, {"context", "7"}};
  trials[1].subject = trials[2].subject = 1;
  trials[2].executed = {{"kv_bytes_per_token", "6144"}, {"context", "2048"}};
  const auto memory = kv_cache_memory(trials, 1);
  ASSERT_TRUE(memory);
  EXPECT_EQ(memory->bytes_per_token, 6144U);
  EXPECT_EQ(memory->context, 2048U);
  EXPECT_EQ(memory->bytes(), 6144.0 * 2048);
  trials[2].executed[0].second = "many";
  EXPECT_FALSE(kv_cache_memory(trials, 1));
  trials[2].executed[0].second = "0";
  EXPECT_FALSE(kv_cache_memory(trials, 1));
  EXPECT_FALSE(kv_cache_memory({}, 0));
}

}  // namespace infermeter::kv_cache_memory_test
