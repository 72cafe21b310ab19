// Whole numbers for people: 25,557,032.
#pragma once

#include <cstdint>
#include <string>

namespace infermeter {

[[nodiscard]] inline std::string with_commas(std::uint64_t number) {
  std::string text = std::to_string(number);
  for (std::size_t i = text.size(); i > 3; i -= 3) text.insert(i - 3, ",");
  return text;
}

}  // namespace infermeter
