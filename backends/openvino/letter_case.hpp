// OpenVINO writes names in capitals, we in small letters.
#pragma once

#include <cctype>
#include <string>

namespace infermeter {

[[nodiscard]] inline std::string lower(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

[[nodiscard]] inline std::string upper(std::string text) {
  for (char& c : text) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return text;
}

}  // namespace infermeter
