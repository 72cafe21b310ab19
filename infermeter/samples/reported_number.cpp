#include "infermeter/samples/reported_number.hpp"

#include <charconv>
#include <string>

namespace infermeter {

std::optional<std::uint64_t> reported_number(const Samples& trial, std::string_view key) {
  const std::string text = trial.executed_value(key);
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

}  // namespace infermeter
