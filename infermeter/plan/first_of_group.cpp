#include "infermeter/plan/plan.hpp"

namespace infermeter {

int pilot_processes(const Plan& plan) {
  if (!plan.automatic.warmup && !plan.automatic.iterations) return 0;
  return plan.question && plan.automatic.iterations ? 5 : 1;
}

std::size_t first_of_group(const Plan& plan, std::size_t subject) {
  for (std::size_t i = 0; i < subject; ++i) {
    if (plan.subjects[i].group == plan.subjects[subject].group) return i;
  }
  return subject;
}

}  // namespace infermeter
