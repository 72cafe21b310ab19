// A load that runs, in one line.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "infermeter/samples/load/load_now.hpp"

namespace infermeter {

// `head` and "40.1/s, 3 in flight, p50 11.2 ms, p99 45.0 ms, 0 errors, 12 s left", in `width` columns: if these do not
// suffice, the absence of errors is left out first, then p50, in flight, p99, and the time left. The rate, and errors
// where there are any, remain.
[[nodiscard]] std::string load_now_text(const std::string& head, const LoadNow& now,
                                        const std::optional<double>& seconds_left, std::size_t width);

}  // namespace infermeter
