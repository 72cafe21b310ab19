// Numbers of things, in words.
#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>

namespace infermeter {

// "1 trial", "3 trials"; `many` where an s does not make the plural.
[[nodiscard]] inline std::string counted(std::integral auto count, std::string_view one, std::string_view many = {}) {
  std::string text = std::to_string(count) + " ";
  if (count == 1) return text.append(one);
  return many.empty() ? text.append(one) + "s" : text.append(many);
}

// "25,557,032": every digit.
[[nodiscard]] std::string with_commas(std::uint64_t number);

}  // namespace infermeter
