// When a run of automatic length may end (Automatic::processes).
#pragma once

#include "infermeter/verdict/run_record.hpp"

namespace infermeter {

// May it end after its last complete round? Its answers are decided or narrow enough, or there is no time for another.
// Always false for runs of a fixed length.
[[nodiscard]] bool has_enough_rounds(const RunRecord& record);

}  // namespace infermeter
