// A run whose store's connection was lost: what was measured is kept in OUTPUT_DIR, to be delivered later.
#pragma once

#include "infermeter/diagnostics/result.hpp"
#include "infermeter/run/run_context.hpp"
#include "infermeter/verdict/run_record.hpp"

namespace infermeter {

// `why`, with where the record is now and what delivers it, or why it could not be kept there either.
[[nodiscard]] Error kept_elsewhere(const RunRecord& record, const Error& why, const RunContext& context);

}  // namespace infermeter
