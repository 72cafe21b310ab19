#include "infermeter/plan/imported.hpp"

#include <algorithm>

namespace infermeter {

bool is_imported(const Plan& plan) {
  return plan.order.empty() && !plan.subjects.empty() &&
         std::ranges::all_of(plan.subjects, [](const Subject& one) { return one.backend == kImportedBackend; });
}

}  // namespace infermeter
