// Options as a table: what runtime_info lists and what `load` understands are the same rows.
#pragma once

#include <array>
#include <charconv>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "infermeter_backend.h"
#include "sdk/abi_edge.hpp"

namespace infermeter {

// `apply` throws std::invalid_argument (with why, or empty) when it cannot read the value.
template <class Settings>
struct OptionRow {
  imb_option listed;
  void (*apply)(Settings& settings, std::string_view value);
};

inline bool parse_bool(std::string_view text) {
  if (text == "true" || text == "1") return true;
  if (text == "false" || text == "0") return false;
  throw std::invalid_argument("");
}

template <class Integer>
Integer parse_integer(std::string_view text, Integer smallest, Integer largest) {
  Integer value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) throw std::invalid_argument("");
  if (value < smallest || value > largest) {
    throw std::invalid_argument("it must be " + std::to_string(smallest) + " to " + std::to_string(largest));
  }
  return value;
}

// One of several words, each of which stands for a value.
template <class Value, std::size_t count>
Value parse_choice(std::string_view text, const std::array<std::pair<std::string_view, Value>, count>& choices) {
  for (const auto& [name, value] : choices) {
    if (name == text) return value;
  }
  throw std::invalid_argument("");
}

inline std::string parse_choice(std::string_view text, std::span<const std::string_view> choices) {
  for (const std::string_view choice : choices) {
    if (text == choice) return std::string(text);
  }
  throw std::invalid_argument("");
}

template <class Settings>
std::vector<imb_option> listed_options(std::span<const OptionRow<Settings>> rows) {
  std::vector<imb_option> options;
  for (const auto& row : rows) options.push_back(row.listed);
  return options;
}

template <class Settings>
void apply_option(std::span<const OptionRow<Settings>> rows, const imb_pair& option, std::string_view backend,
                  Settings& settings) {
  const std::string key = option.key != nullptr ? option.key : "";
  const std::string value = option.value != nullptr ? option.value : "";
  for (const auto& row : rows) {
    if (key != row.listed.key) continue;
    try {
      return row.apply(settings, value);
    } catch (const std::invalid_argument& error) {
      const std::string why = *error.what() != '\0' ? std::string(": ") + error.what() : "";
      fail(IMB_INVALID_ARGUMENT, std::string(backend) + " cannot use " + key + "=" + value + why + "; give " + key +
                                     "=" + row.listed.values + " (" + row.listed.help + ")");
    }
  }
  std::string known;
  for (const auto& row : rows) known += (known.empty() ? "" : ", ") + std::string(row.listed.key);
  fail(IMB_INVALID_ARGUMENT, std::string(backend) + " has no option " + key + "; it has " + known);
}

template <class Settings>
Settings read_options(std::span<const OptionRow<Settings>> rows, const imb_load& load, std::string_view backend) {
  Settings settings;
  for (std::size_t i = 0; i < load.option_count; ++i) apply_option(rows, load.options[i], backend, settings);
  return settings;
}

}  // namespace infermeter
