// The runs of a gate or study: measured one after the other, and taken up again where they were interrupted.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cli/flags/plan_flags.hpp"
#include "cli/flags/verbosity.hpp"
#include "cli/stored_runs.hpp"
#include "cli/surroundings.hpp"
#include "infermeter/diagnostics/problems.hpp"
#include "infermeter/run/run.hpp"

namespace infermeter {

// The draft's plan; the metric of its question, if it has one, is one that there is.
[[nodiscard]] Result<Plan> asked_plan(PlanDraft draft);

class RunSeries {
 public:
  RunSeries() = default;  // new ones
  // What the latest gate or study of these plans has left in the store; an error if there is none.
  [[nodiscard]] static Result<RunSeries> resumed(const Surroundings& world, std::span<const Plan> plans);

  // `wanted` runs of the plan, newest first: those that are there, finished if need be, and new ones; less if one is
  // interrupted. An error if one of those that are there was measured with another model, machine or version.
  [[nodiscard]] Result<std::vector<RunRecord>> runs(Surroundings& world, const Plan& plan, const Launcher& launcher,
                                                    int wanted, Verbosity verbosity);
  // What could not be written of the runs.
  [[nodiscard]] const Problems& unwritten() const { return unwritten_; }

  // All of these are there and finished: nothing was interrupted. `plans`: each as often as it is wanted.
  [[nodiscard]] bool has_finished(std::span<const Plan> plans) const;
  // The first of those that are there and were not taken yet.
  [[nodiscard]] std::optional<RunRecord> take(const Plan& plan);
  [[nodiscard]] const std::vector<RunRecord>& earlier() const { return earlier_; }  // that were not taken
  // Of those that could have been there.
  [[nodiscard]] const LeftOut& left_out() const { return left_out_; }
  // The id of the first run of all; empty: none has begun.
  [[nodiscard]] const std::string& first() const { return first_; }

 private:
  std::string first_;               // the id of the first run
  std::vector<RunRecord> earlier_;  // oldest first
  Problems unwritten_;
  LeftOut left_out_;
};

}  // namespace infermeter
