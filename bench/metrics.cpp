// The fused pass over two float32 arrays of 4096 x 4096 against reading them and doing next to nothing, by turns, in
// one thread. Prints the seconds of the processor that each repetition took, as JSON.
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "infermeter/infermeter.hpp"

namespace {

using namespace infermeter;

constexpr std::int64_t side = 4096;
constexpr int repetitions = 21;

// Every byte of both is read once, in the widest words that there are, and goes into one of four sums.
using Word = std::uint64_t __attribute__((vector_size(64)));

__attribute__((target_clones("avx512f", "avx2", "default"))) std::uint64_t read_both(const std::byte* a,
                                                                                     const std::byte* b,
                                                                                     std::size_t size) {
  Word sum_a{}, next_a{}, sum_b{}, next_b{}, word;
  const auto add = [&word](Word& sum, const std::byte* from) {
    std::memcpy(&word, from, sizeof(Word));
    sum += word;
  };
  for (std::size_t i = 0; i < size; i += 2 * sizeof(Word)) {
    add(sum_a, a + i);
    add(next_a, a + i + sizeof(Word));
    add(sum_b, b + i);
    add(next_b, b + i + sizeof(Word));
  }
  const Word sum = sum_a ^ next_a ^ sum_b ^ next_b;
  return sum[0] ^ sum[1] ^ sum[2] ^ sum[3] ^ sum[4] ^ sum[5] ^ sum[6] ^ sum[7];
}

// Of the processor, so that what else runs on the machine counts less.
double now() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

template <class Work>
double seconds(Work work) {
  const double begin = now();
  work();
  return now() - begin;
}

Tensor wave(float frequency) {
  std::vector<float> values(side * side);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = std::sin(frequency * static_cast<float>(i));
  return make_tensor<float>(DType::float32, {side, side}, std::span<const float>(values));
}

}  // namespace

int main() {
  const Tensor reference = wave(0.01F), candidate = wave(0.0101F);
  std::vector<double> tally_s, read_s;
  std::uint64_t read = 0;
  double reported = 0;
  for (int i = 0; i < repetitions; ++i) {
    read_s.push_back(
        seconds([&] { read ^= read_both(reference.data.data(), candidate.data.data(), reference.data.size()); }));
    tally_s.push_back(seconds([&] {
      DifferenceTally tally;
      tally.add(reference, candidate, 0);
      reported += *tally.mae() + *tally.mse() + tally.max_absolute + *tally.cosine();
    }));
  }
  // What was found is printed, so that no compiler leaves it out.
  fmt::print("{{\"bytes\": {}, \"tally_s\": [{}], \"read_s\": [{}], \"found\": [{}, {}]}}\n", 2 * reference.data.size(),
             fmt::join(tally_s, ", "), fmt::join(read_s, ", "), reported, read);
  return 0;
}
