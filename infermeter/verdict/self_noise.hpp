// The machine's own noise: what a program that was compared with itself shows (`infermeter doctor --aa`).
#pragma once

#include <optional>

#include "infermeter/verdict/run_record.hpp"

namespace infermeter {

// Of a run whose two subjects are the same and whose question has no margin and looks at all pairs; nullopt: it is
// another run, or has less than two pairs.
[[nodiscard]] std::optional<MachineNoise> self_noise(const RunRecord& record);

}  // namespace infermeter
