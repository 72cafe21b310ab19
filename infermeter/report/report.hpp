// Reports: a record and its verdict as text. The only place that scales units and formats numbers. Pure: the same
// record gives the same bytes.
#pragma once

#include <string>

#include "infermeter/report/numbers/format.hpp"
#include "infermeter/report/options.hpp"
#include "infermeter/verdict/judge.hpp"

namespace infermeter {

[[nodiscard]] std::string render(const RunRecord& record, const Verdict& verdict, Format format,
                                 const RenderOptions& options);

}  // namespace infermeter
