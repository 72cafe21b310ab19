// The options of this back end.
#pragma once

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "sdk/options.hpp"

namespace infermeter {

using Property = std::pair<std::string, std::string>;

struct Settings {
  std::string performance_hint = "LATENCY";
  std::string streams;           // empty: not given
  std::vector<Property> others;  // only what was asked for
};

[[nodiscard]] std::span<const OptionRow<Settings>> option_rows();

}  // namespace infermeter
