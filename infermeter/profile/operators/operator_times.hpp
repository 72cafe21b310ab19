// Times of operators from profile trials. Pure.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "infermeter/samples/operator_profile.hpp"
#include "infermeter/samples/samples.hpp"

namespace infermeter {

// One profile trial: its record and its profile.
struct ProfileTrial {
  const Samples* samples = nullptr;
  const OperatorProfile* profile = nullptr;
};

// Of one process: means over the half of its iterations with the smallest wall time, the same iterations for all, so
// that the operators and the rest add up to the wall time exactly. An instant in which several operators of the main
// thread run belongs to the one that began last: inside an outer operator's interval the inner ones count, and the
// outer one has what is left. Only iterations of which events are there count. Of a source that has means only, all do.
struct ProcessOperatorTimes {
  int process = 0;                     // of its trial
  double wall_s = 0;                   // mean of those iterations
  double rest_s = 0;                   // wall - union of the main thread's operators; negative: they reach beyond it
  std::vector<double> operator_s;      // per operator of the profile: seconds of the main thread per iteration
  std::vector<double> operator_calls;  // on the main thread, per iteration
  std::vector<double> helper_s;        // per operator: seconds of all other threads per iteration, in no sum
  std::size_t iterations = 0;          // that the means are of; 0: nothing can be determined
};
[[nodiscard]] ProcessOperatorTimes process_operator_times(const ProfileTrial& trial);

// The processes of one subject. Operators are those of the first trial that shows their times; trials whose operators
// differ (by name, in order, or by the model's nodes that they execute), or that tell nothing, are left out and
// counted.
struct SubjectOperatorTimes {
  const OperatorProfile* profile = nullptr;     // that has the operators; nullptr: no trial reports anything
  std::vector<ProcessOperatorTimes> processes;  // in the order of the trials
  std::vector<const Samples*> trials;           // of these processes
  std::size_t left_out = 0;
};
[[nodiscard]] SubjectOperatorTimes subject_operator_times(std::span<const ProfileTrial> trials);

// The operators of `b` that are those of `a`, in a's order: by name, or by the model's nodes that they execute;
// nullopt: they are others.
[[nodiscard]] std::optional<std::vector<std::size_t>> same_operators(const OperatorProfile& a,
                                                                     const OperatorProfile& b);

// Of one subject over its processes.
struct OperatorTime {
  std::size_t op = 0;  // index into SubjectOperatorTimes::profile's operators; of the rest: their number
  double mean_s = 0;   // over processes
  std::optional<double> low_s, high_s;  // 95 % t interval over processes, from 0 on; nullopt: fewer than 2
  double calls = 0;                     // per inference
  double helper_s = 0;                  // mean of all other threads' time
  double share = 0;                     // of the wall time
};
struct OperatorTable {
  const OperatorProfile* profile = nullptr;  // that has the operators; nullptr: nothing could be determined
  std::vector<OperatorTime> operators;       // slowest first
  OperatorTime rest;                         // what no operator explains
  double wall_s = 0;                         // operators and rest add up to it
  std::size_t processes = 0, left_out = 0;
  // Of the timed trials and of those in this table: geometric mean over processes of their medians.
  std::optional<double> clean_p50_s, profiled_p50_s;
  // profiled / clean p50 > 1.05: times are then not to be read as the timed run's, shares are.
  bool distorted = false;
};
inline constexpr double kDistortion = 1.05;
[[nodiscard]] OperatorTable operator_table(std::span<const ProfileTrial> trials, std::span<const Samples* const> timed);

}  // namespace infermeter
