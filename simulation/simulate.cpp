#include "simulation/simulate.hpp"

#include <thread>

namespace infermeter::study {

// FNV-1a (Fowler, Noll & Vo) of the name; SplitMix spreads what differs little.
std::uint64_t seed_of(std::uint64_t seed, std::string_view what, int run) {
  std::uint64_t hash = 0xCBF29CE484222325u;
  for (const char c : what) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3u;
  const std::uint64_t experiment = SplitMix(seed ^ hash).bits();
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
