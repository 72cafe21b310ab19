// A trial that failed, as the error of a verb that has nothing else to show.
#pragma once

#include <string_view>

#include "infermeter/diagnostics/result.hpp"
#include "infermeter/samples/samples.hpp"

namespace infermeter {

[[nodiscard]] Error trial_failure(const Samples& trial, std::string_view label);

}  // namespace infermeter
