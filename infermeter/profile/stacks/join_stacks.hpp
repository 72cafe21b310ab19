// Stacks and operators of one trial, joined by time. Pure.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "infermeter/samples/operator_profile.hpp"
#include "infermeter/samples/samples.hpp"
#include "infermeter/samples/stack_profile.hpp"

namespace infermeter {

// Runtimes stamp their operators by CLOCK_REALTIME, stacks are stamped by CLOCK_MONOTONIC. Where one slipped against
// the other by more while they were sampled, samples at the edges of operators would get the wrong one.
inline constexpr std::int64_t kMostClockSlipNs = 50'000;

struct JoinedStacks {
  std::size_t samples = 0;  // within a timed iteration: those that are kept
  std::size_t with_operator = 0;
  std::string refused;  // why operators were not reported, one sentence; empty: they were, as far as there are events
};

// Keeps the samples that lie within a timed iteration and shows which; and the operator that the main thread ran then,
// of those around one another the innermost, also for samples of other threads: they work for it. `profile` may be
// nullptr.
[[nodiscard]] JoinedStacks join_stacks(StackProfile& stacks, const Samples& trial, const OperatorProfile* profile);

}  // namespace infermeter
