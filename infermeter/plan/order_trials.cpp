#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "infermeter/plan/plan.hpp"
#include "infermeter/plan/split_mix64.hpp"

namespace infermeter {
namespace {

// The block's own stream: two steps apart from the seed's, so that (1, 2) and (2, 1) have nothing in common.
SplitMix64 stream_of(std::uint64_t seed, std::uint64_t block) {
  const std::uint64_t mixed = SplitMix64(seed).next();
  return SplitMix64(SplitMix64(mixed ^ (block + 1)).next());
}

// Fisher–Yates as in Durstenfeld 1964: every permutation is as likely as every other.
std::vector<std::size_t> permutation(std::size_t size, SplitMix64 random) {
  std::vector<std::size_t> order(size);
  std::iota(order.begin(), order.end(), std::size_t{0});
  for (std::size_t i = size; i > 1; --i) std::swap(order[i - 1], order[random.below(i)]);
  return order;
}

using Blocks = std::vector<std::vector<std::size_t>>;

// Rows 0 1 k-1 2 k-2 … shifted by 0 … k-1 (Williams, "Experimental designs balanced for the estimation of residual
// effects of treatments", Aust. J. Sci. Res. A 2 (1949) 149–168); subjects and rows are dealt at random.
Blocks latin_square(std::size_t size, SplitMix64 random) {
  const std::vector<std::size_t> names = permutation(size, SplitMix64(random.next()));
  Blocks rows;
  for (const std::size_t shift : permutation(size, SplitMix64(random.next()))) {
    std::vector<std::size_t>& row = rows.emplace_back();
    for (std::size_t place = 0; place < size; ++place) {
      const std::size_t step = (place + 1) / 2;
      row.push_back(names[(shift + (place % 2 == 1 ? step : size - step)) % size]);
    }
  }
  return rows;
}

// Those with the index `chunk`.
Blocks next_blocks(const Plan& plan, std::uint64_t chunk) {
  const SplitMix64 random = stream_of(plan.seed.value_or(0), chunk);
  if (plan.question || plan.tuning) return {permutation(plan.subjects.size(), random)};
  return latin_square(plan.subjects.size(), random);
}

}  // namespace

void order_trials(Plan& plan) {
  plan.order.clear();
  const int blocks = std::max(plan.processes, 0) + plan.repeat_disturbed;
  plan.order.reserve(plan.subjects.size() * static_cast<std::size_t>(blocks));
  if (plan.subjects.empty()) return;
  std::uint64_t chunk = 0;
  for (int block = 0; block < blocks;) {
    for (const auto& subjects : next_blocks(plan, chunk++)) {
      if (block == blocks) break;
      for (const std::size_t subject : subjects) plan.order.push_back({.subject = subject, .process = block});
      ++block;
    }
  }
}

}  // namespace infermeter
