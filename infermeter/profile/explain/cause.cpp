#include "infermeter/diagnostics/check.hpp"
#include "infermeter/profile/explain/explain.hpp"

namespace infermeter {

std::string_view to_string(Cause cause) {
  switch (cause) {
    case Cause::other_precision: return "other_precision";
    case Cause::extra_conversions: return "extra_conversions";
    case Cause::lost_fusion: return "lost_fusion";
    case Cause::other_kernel: return "other_kernel";
    case Cause::other_layout: return "other_layout";
    case Cause::less_parallel: return "less_parallel";
    case Cause::between_operators: return "between_operators";
    case Cause::unknown: return "unknown";
  }
  INFERMETER_CHECK(false);
  return "";
}

}  // namespace infermeter
