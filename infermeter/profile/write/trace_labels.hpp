// Labels of a trace: what is reported about each operator, made safe to be written into any file.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "infermeter/profile/write/trace.hpp"
#include "infermeter/samples/operator_profile.hpp"

namespace infermeter {

// The first is of iterations, the operators' come in the profile's order.
[[nodiscard]] std::vector<TraceLabel> trace_labels(const OperatorProfile& profile, std::size_t iterations);

// Valid UTF-8 of at most kLongestTraceText bytes (what is cut ends in "…"), every control character a space.
[[nodiscard]] std::string trace_text(std::string_view bytes);

}  // namespace infermeter
