// Numbers among what a back end reports.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "infermeter/samples/samples.hpp"

namespace infermeter {

// Of samples.executed; nullopt: it is not there, or no whole number.
[[nodiscard]] std::optional<std::uint64_t> reported_number(const Samples& trial, std::string_view key);

}  // namespace infermeter
