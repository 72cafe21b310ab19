// What the keys and values take that a language model keeps of each token.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "infermeter/samples/samples.hpp"

namespace infermeter {

struct KvCacheMemory {
  std::uint64_t bytes_per_token = 0;  // in the type in which they are kept
  std::uint64_t context = 0;          // most tokens that the model knows, prompt and answer together

  [[nodiscard]] double bytes() const { return static_cast<double>(bytes_per_token) * static_cast<double>(context); }
};

// As the subject's trials report it ("kv_bytes_per_token", "context"); nullopt: none does.
[[nodiscard]] std::optional<KvCacheMemory> kv_cache_memory(std::span<const Samples> trials, int subject);

}  // namespace infermeter
