// Why one subject is slower than another, as values: groups of operators that both have in common, and clauses.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "infermeter/profile/operators/attribution.hpp"

namespace infermeter {

// Kind of the group that stands for the time between operators: it has none.
inline constexpr std::string_view kRestKind = "(rest)";

struct GroupDifference {
  CommonGroup group;             // operators: indices into SubjectOperatorTimes::profile's
  double a_s = 0, b_s = 0;       // mean per inference
  double mean_s = 0;             // of B - A over pairs of processes
  double low_s = 0, high_s = 0;  // 95 % t interval
  double p = 1;                  // two-sided, of 0
  // p is below Holm's bound at 5 % over all groups and all classes of groups that a clause could name: of two equal
  // subjects anything at all is named in 5 % of comparisons at most.
  bool separable = false;
};

// Why a clause's operators differ, as far as a recorded fact says so. What is extra, lost or less is so on the slower
// side.
enum class Cause {
  other_precision,
  extra_conversions,
  lost_fusion,
  other_kernel,
  other_layout,
  less_parallel,
  between_operators,
  unknown,
};
[[nodiscard]] std::string_view to_string(Cause cause);

struct Clause {
  std::string sentence;             // "53 Conv: NCHWc -> plain layout", without figures; may hold a runtime's words
  std::vector<std::size_t> groups;  // indices into Explanation::groups
  double mean_s = 0, low_s = 0, high_s = 0;
  double share = 0;  // of the difference of the whole
  Cause cause = Cause::unknown;
};

struct Explanation {
  std::vector<GroupDifference> groups;  // by |mean|, largest first; they add up to difference_s
  std::size_t pairs = 0;                // of processes
  std::size_t left_out = 0;             // profile trials without times, of other operators or without a partner
  double a_s = 0, b_s = 0;              // mean profiled wall times
  double difference_s = 0, low_s = 0, high_s = 0;  // of profiled wall times, B - A
  // Of the timed trials, where both have them: the difference of their p50.
  std::optional<double> clean_difference_s, clean_low_s, clean_high_s;
  // The groups' sum and the clean difference are the same within their intervals, or the sum is 80 % to 125 % of it.
  bool consistent = true;
  std::vector<Clause> clauses;  // the fewest that cover 80 % of what is separable; by |mean|, largest first
  double not_separable_s = 0, not_separable_half_width_s = 0;  // all groups together that are in no clause
  std::string reason;                                          // why there is no explanation; empty: there is one
};

inline constexpr std::size_t kLeastPairs = 3;  // of processes, for an explanation
inline constexpr double kCovered = 0.8;        // of what is separable, by clauses

}  // namespace infermeter
