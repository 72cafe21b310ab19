#include "infermeter/trial/machine/peak_kernels.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <random>
#include <set>
#include <string>

namespace infermeter::peak_kernels_test {
namespace {

// Operands are 1, accumulators begin at 0: their sum is the number of multiply-accumulates.
double products_made(const ComputeKernel& kernel, std::uint64_t loops) {
  alignas(64) std::array<std::byte, kMostAccumulatorBytes> accumulators{};
  kernel.run(loops, accumulators.data());
  double sum = 0;
  for (std::size_t at = 0; at < kernel.accumulator_bytes; at += 4) {
    float real = 0;
    std::int32_t integer = 0;
    std::memcpy(&real, accumulators.data() + at, 4);
    std::memcpy(&integer, accumulators.data() + at, 4);
    sum += kernel.integer_sums ? static_cast<double>(integer) : static_cast<double>(real);
  }
  return sum;
}

TEST(ComputeKernels, MakeAsManyOperationsAsTheyClaim) {
  for (const ComputeKernel& kernel : compute_kernels()) {
    SCOPED_TRACE(kernel.instructions);
    ASSERT_LE(kernel.accumulator_bytes, kMostAccumulatorBytes);
    EXPECT_DOUBLE_EQ(2 * products_made(kernel, 1), kernel.ops_per_loop);
    EXPECT_DOUBLE_EQ(2 * products_made(kernel, 1000), 1000 * kernel.ops_per_loop);
  }
}

TEST(ComputeKernels, EveryDtypeHasOneOrIsMissing) {
  std::set<std::string> reported;
  for (const ComputeKernel& kernel : compute_kernels()) reported.insert(kernel.dtype);
  for (const std::string& sentence : missing_kernels()) {
    EXPECT_TRUE(reported.insert(sentence.substr(0, sentence.find(':'))).second) << sentence;
  }
  EXPECT_EQ(reported, (std::set<std::string>{"float32", "bfloat16", "int8"}));
}

// Of one block more or less, another step than the right one ends elsewhere.
TEST(MemoryKernels, ReadUpToTheEndAndNoFurther) {
  alignas(64) std::array<std::uint64_t, 6 * kMemoryBlock / 8> words{};
  std::mt19937_64 random(7);
  for (std::uint64_t& word : words) word = random();
  for (const MemoryKernels& kernels : memory_kernels()) {
    for (std::size_t bytes = kMemoryBlock; bytes <= sizeof words; bytes += kMemoryBlock) {
      for (const std::size_t passes : {1U, 2U, 3U}) {
        SCOPED_TRACE(testing::Message() << kernels.instructions << ", " << bytes << " bytes, " << passes << " passes");
        std::uint64_t expected = 0;
        for (std::size_t at = bytes - 16 * kernels.vector_bytes; at < bytes; at += 8) expected ^= words[at / 8];
        EXPECT_EQ(kernels.read(reinterpret_cast<const std::byte*>(words.data()), bytes, passes), expected);
      }
    }
  }
}

TEST(MemoryKernels, TriadWritesAllOfItsArrayAndNoMore) {
  constexpr std::size_t count = 2 * kMemoryBlock / 4;
  alignas(64) std::array<float, count + 16> a{};
  alignas(64) std::array<float, count> b{}, c{};
  for (std::size_t i = 0; i < count; ++i) {
    b[i] = static_cast<float>(i);
    c[i] = static_cast<float>(1000 - static_cast<int>(i));
  }
  for (const MemoryKernels& kernels : memory_kernels()) {
    SCOPED_TRACE(kernels.instructions);
    a.fill(-1);
    kernels.triad(a.data(), b.data(), c.data(), count * 4);
    for (std::size_t i = 0; i < count; ++i) ASSERT_EQ(a[i], b[i] + 3 * c[i]) << i;
    for (std::size_t i = count; i < a.size(); ++i) ASSERT_EQ(a[i], -1) << i;
  }
}

}  // namespace
}  // namespace infermeter::peak_kernels_test
