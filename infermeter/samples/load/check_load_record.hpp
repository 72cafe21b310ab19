// Whether a record of load from outside holds together.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "infermeter/samples/load/load_record.hpp"

namespace infermeter {

// More requests than these are no count, and their sums would not be exact.
inline constexpr std::uint64_t kMostRequests = std::uint64_t{1} << 53;
inline constexpr std::size_t kMostErrorBytes = 1000;  // of one text

// What is wrong with it: "'load.lag.counts' is not in ascending order". nullopt: nothing.
[[nodiscard]] std::optional<std::string> wrong_in_histogram(std::string_view name, const HistogramRecord& histogram);
[[nodiscard]] std::optional<std::string> wrong_in_load_record(const LoadRecord& record);

}  // namespace infermeter
