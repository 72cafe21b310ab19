// Synthetic prompts: common English words at random, about a token each.
#pragma once

#include <cstdint>
#include <string>

namespace infermeter {

// The same arguments give the same prompt everywhere. The first `shared` of its `words` are the same in all prompts;
// of the others the very first ones differ already, so that caches of prefixes have nothing of them.
[[nodiscard]] std::string synthetic_prompt(std::uint64_t seed, std::uint64_t number, int words, int shared);

}  // namespace infermeter
