// Many runs of one experiment, each with random numbers of its own: results depend on the seed and on nothing else, not
// on how many threads there are.
#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <string_view>
#include <type_traits>
#include <vector>

#include "infermeter/stats/test_noise.hpp"

namespace infermeter::study {

struct Effort {
  int runs = 2000;  // of each figure; where a rate lies near its limit a block takes a multiple
  std::uint64_t seed = 1;
  int threads = 2;

  [[nodiscard]] Effort times(int factor) const { return {runs * factor, seed, threads}; }
};

// Of one run of the experiment that is called `what`. Other experiments do not change with it.
[[nodiscard]] std::uint64_t seed_of(std::uint64_t seed, std::string_view what, int run);

// body(0) … body(count - 1), each once, in any order.
void for_each_index(int count, int threads, const std::function<void(int)>& body);

// one_run(random) of each run, in the order of runs.
template <typename OneRun>
[[nodiscard]] auto simulate(const Effort& effort, std::string_view what, const OneRun& one_run) {
  using Outcome = std::invoke_result_t<const OneRun&, SplitMix&>;
  static_assert(!std::same_as<Outcome, bool>, "threads cannot write bits of one word: use count()");
  std::vector<Outcome> outcomes(static_cast<std::size_t>(effort.runs));
  for_each_index(effort.runs, effort.threads, [&](int run) {
    SplitMix random(seed_of(effort.seed, what, run));
    outcomes[static_cast<std::size_t>(run)] = one_run(random);
  });
  return outcomes;
}

// In how many runs it is true.
template <typename OneRun>
[[nodiscard]] int count(const Effort& effort, std::string_view what, const OneRun& one_run) {
  int hits = 0;
  for (const int hit : simulate(effort, what, [&](SplitMix& random) { return one_run(random) ? 1 : 0; })) hits += hit;
  return hits;
}

}  // namespace infermeter::study
