#include "infermeter/profile/explain/explain.hpp"

#include "infermeter/profile/explain/explain_groups.hpp"

namespace infermeter {

Explanation explain(std::span<const ProfileTrial> a, std::span<const ProfileTrial> b,
                    std::span<const Samples* const> timed_a, std::span<const Samples* const> timed_b) {
  const SubjectOperatorTimes of_a = subject_operator_times(a);
  const SubjectOperatorTimes of_b = subject_operator_times(b);
  if (of_a.profile == nullptr || of_b.profile == nullptr) {
    Explanation none;
    none.left_out = of_a.left_out + of_b.left_out + of_a.processes.size() + of_b.processes.size();
    none.reason = of_a.profile == nullptr && of_b.profile == nullptr ? "neither has a profile of its operators"
                  : of_a.profile == nullptr                          ? "the first has no profile of its operators"
                                                                     : "the second has no profile of its operators";
    return none;
  }
  const std::vector<CommonGroup> groups = common_groups(of_a.profile->operators, of_b.profile->operators);
  return explain_groups(of_a, of_b, groups, timed_a, timed_b);
}

}  // namespace infermeter
