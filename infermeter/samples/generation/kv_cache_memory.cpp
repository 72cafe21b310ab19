#include "infermeter/samples/generation/kv_cache_memory.hpp"

#include "infermeter/samples/reported_number.hpp"

namespace infermeter {

std::optional<KvCacheMemory> kv_cache_memory(std::span<const Samples> trials, int subject) {
  for (const Samples& trial : trials) {
    if (trial.subject != subject) continue;
    const auto bytes = reported_number(trial, "kv_bytes_per_token"), context = reported_number(trial, "context");
    if (bytes.value_or(0) > 0 && context.value_or(0) > 0)
      return KvCacheMemory{.bytes_per_token = *bytes, .context = *context};
  }
  return std::nullopt;
}

}  // namespace infermeter
