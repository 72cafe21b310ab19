#include "infermeter/worker/library_choice.hpp"

#include <cctype>
#include <cstdlib>

namespace infermeter {

std::string chosen_library(const std::string& backend, const std::string& asked) {
  if (!asked.empty()) return asked;
  std::string variable = "INFERMETER_";
  for (const char c : backend)
    variable += std::isalnum(static_cast<unsigned char>(c)) != 0
                    ? static_cast<char>(std::toupper(static_cast<unsigned char>(c)))
                    : '_';
  const char* const value = std::getenv((variable + "_LIBRARY").c_str());
  return value == nullptr ? "" : value;
}

}  // namespace infermeter
