// Profiles as plain text in files, as classic profilers print them: by time, by memory, and everything that is known.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "infermeter/profile/operators/operator_times.hpp"
#include "infermeter/verdict/judge.hpp"
#include "infermeter/verdict/run_record.hpp"

namespace infermeter {

// One subject's profile trials that reported something. Points into the record.
struct ProfiledSubject {
  int subject = 0;
  std::string label;
  std::vector<ProfileTrial> trials;
  std::vector<const Samples*> timed;
};
[[nodiscard]] std::vector<ProfiledSubject> profiled_subjects(const RunRecord& record);

// Slowest first; operators and the rest add up to the wall time.
[[nodiscard]] std::string summary_by_time(std::span<const ProfiledSubject> subjects);
// What operators hold, largest first, and the workers' own memory.
[[nodiscard]] std::string summary_by_memory(std::span<const ProfiledSubject> subjects);
// By kind, kernel, precision, layout and provider; then every operator in execution order, with all that is reported
// about it.
[[nodiscard]] std::string profile_breakdown(std::span<const ProfiledSubject> subjects);

}  // namespace infermeter
