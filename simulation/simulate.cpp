#include "simulation/simulate.hpp"

#include <thread>

#include "infermeter/text/hash.hpp"

namespace infermeter::study {

// A hash of the name; SplitMix spreads what differs little.
std::uint64_t seed_of(std::uint64_t seed, std::string_view what, int run) {
  Fnv1a hash;
  hash.add(what);
  const std::uint64_t experiment = SplitMix(seed ^ hash.value()).bits();
  return SplitMix(experiment + static_cast<std::uint64_t>(run)).bits();
}

void for_each_index(int count, int threads, const std::function<void(int)>& body) {
  std::vector<std::jthread> others;
  const auto every = [&](int first) {
    for (int index = first; index < count; index += threads) body(index);
  };
  for (int thread = 1; thread < threads; ++thread) others.emplace_back(every, thread);
  every(0);
}

}  // namespace infermeter::study
