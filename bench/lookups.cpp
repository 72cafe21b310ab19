// What a hit in the imaging back end's cache costs, its counters and its order of use included, beside a bare
// std::unordered_map with the same key and hash. Seconds per lookup as JSON: {"ours": [...], "peer": [...]}.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <string>
#include <unordered_map>
#include <vector>

#include "imaging/cache.hpp"

namespace {

using infermeter::Cache;
using infermeter::CacheKey;
using Clock = std::chrono::steady_clock;

constexpr int entries = 100, rounds = 20'000, repetitions = 7;

struct Hash {
  std::size_t operator()(const CacheKey& key) const { return infermeter::hash_of(key); }
};

std::vector<CacheKey> positions() {
  std::vector<CacheKey> keys(entries);
  for (int i = 0; i < entries; ++i) {
    keys[static_cast<std::size_t>(i)] = {
        .object = 1, .image_size = 512, .detector = 512, .radius = 20, .centre = {i / 10 * 12 - 60, i % 10 * 12 - 60}};
  }
  return keys;
}

// Of `find` over all keys in turn, `rounds` times; the sum keeps the compiler from leaving it out.
template <class Find>
double seconds_per_lookup(const std::vector<CacheKey>& keys, std::uint64_t& sum, Find find) {
  const auto begin = Clock::now();
  for (int round = 0; round < rounds; ++round)
    for (const CacheKey& key : keys) sum += find(key);
  return std::chrono::duration<double>(Clock::now() - begin).count() / (double{rounds} * entries);
}

std::string list_of(const std::vector<double>& seconds) {
  std::string text;
  for (const double one : seconds) text += (text.empty() ? "" : ", ") + std::to_string(one * 1e9) + "e-9";
  return text;
}

}  // namespace

int main() {
  const std::vector<CacheKey> keys = positions();
  Cache cache({.entry_bytes = 64, .most_entries = entries, .budget = 64 * entries});
  std::unordered_map<CacheKey, std::uint64_t, Hash> map;
  for (const CacheKey& key : keys) {
    *cache.add(key) = std::byte{1};
    map.emplace(key, 1);
  }
  std::uint64_t sum = 0;
  std::vector<double> ours, peer;
  for (int i = 0; i < repetitions; ++i) {
    ours.push_back(seconds_per_lookup(keys, sum, [&](const CacheKey& key) {
      const std::byte* const found = cache.find(key);
      return found != nullptr ? static_cast<std::uint64_t>(*found) : 0;
    }));
    peer.push_back(seconds_per_lookup(keys, sum, [&](const CacheKey& key) {
      const auto found = map.find(key);
      return found != map.end() ? found->second : 0;
    }));
  }
  if (sum != std::uint64_t{2} * repetitions * rounds * entries) return 1;
  std::printf("{\"ours\": [%s], \"peer\": [%s]}\n", list_of(ours).c_str(), list_of(peer).c_str());
}
