// How long a run still takes, from the trials that have ended.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "infermeter/plan/plan.hpp"
#include "infermeter/samples/samples.hpp"

namespace infermeter {

// Seconds for the trials of plan.order from `next` on, before `end`: each subject takes what its own ended trials took
// on average, without any what is `expected` of it (by subject; empty: nothing is), else what all took. Nothing where
// nothing is known.
[[nodiscard]] std::optional<double> time_left_s(const Plan& plan, std::span<const Samples> ended, std::size_t next,
                                                std::span<const std::optional<double>> expected = {},
                                                std::size_t end = SIZE_MAX);

}  // namespace infermeter
