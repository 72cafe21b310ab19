// Which stored runs are meant, and their comparison.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/flags/plan_flags.hpp"
#include "cli/output/report_output.hpp"
#include "cli/surroundings.hpp"
#include "infermeter/diagnostics/problems.hpp"
#include "infermeter/store/store.hpp"
#include "infermeter/verdict/run_record.hpp"

namespace infermeter {

// Do these name two stored runs, and no subjects? An id or its beginning, "latest", "previous", the name of a baseline,
// or a JSON report. An error where one does and the other does not.
[[nodiscard]] Result<bool> name_two_runs(const Surroundings& world, const std::vector<std::string>& names,
                                         const Plan& place);

// Damaged runs and baselines are no reason to do nothing: each is left out, and said.
class LeftOut {
 public:
  // The run; nullopt: it is damaged. An error where no other can be read either.
  [[nodiscard]] Result<std::optional<RunRecord>> load(const Surroundings& world, Store& store, const RunListing& run);
  // Takes those that are damaged from a list.
  template <class Listing>
  void take_from(std::vector<Listing>& listed) {
    std::erase_if(listed, [&](const Listing& each) {
      if (!each.damage.empty()) damaged_.add(io_error(each.damage));
      return !each.damage.empty();
    });
  }
  void say(const Surroundings& world) const;

 private:
  Problems damaged_;
};

// The second against the first, by the question; the exit code of a comparison.
[[nodiscard]] Result<int> compare_stored_runs(Surroundings& world, const std::vector<std::string>& names,
                                              const Question& question, const Plan& place, const ReportOutput& output,
                                              Format format);

// The machines of these runs, by the question; the exit code of a comparison. No names: the latest run.
[[nodiscard]] Result<int> compare_machines(Surroundings& world, const std::vector<std::string>& names,
                                           const Question& question, const Plan& place, const ReportOutput& output,
                                           Format format);

}  // namespace infermeter
