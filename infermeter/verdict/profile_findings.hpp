// What a run's profile trials say: operators by their time, how near they are to what the machine can do, and why one
// subject is slower than another. Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "infermeter/profile/explain/explain.hpp"
#include "infermeter/profile/operators/operator_times.hpp"
#include "infermeter/profile/operators/roofline.hpp"
#include "infermeter/profile/stacks/stack_tree.hpp"
#include "infermeter/verdict/run_record.hpp"

namespace infermeter {

struct SubjectProfile {
  int subject = 0;
  std::vector<ProfileTrial> trials;  // into the record: those that reported about their operators
  OperatorTable table;
  Roofline roofline;
  int asked = 0;                    // profile trials that were made
  std::vector<StackTree> stacks{};  // one per method that saw anything, those of native frames first
};

struct ProfileExplanation {
  int baseline = 0, subject = 0;
  Explanation explanation;
  std::vector<StackTree> stacks{};  // differences, by the methods that saw both
};

struct ProfileFindings {
  std::vector<SubjectProfile> subjects;          // in the plan's order; all of them
  std::vector<ProfileExplanation> explanations;  // of each subject against the first of its group
};

// nullopt: nothing was profiled. It points into `record`, which must outlive it and stay where it is.
[[nodiscard]] std::optional<ProfileFindings> find_in_profiles(const RunRecord& record);
std::optional<ProfileFindings> find_in_profiles(const RunRecord&& record) = delete;  // it would be gone

[[nodiscard]] std::vector<Diagnostic> profile_diagnostics(const RunRecord& record, const ProfileFindings& findings);

}  // namespace infermeter
