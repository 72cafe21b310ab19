// Whether the figures of a subject under load say what they seem to say, and if not, why. docs/load.md has the rules.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "infermeter/diagnostics/diagnostic.hpp"
#include "infermeter/plan/plan.hpp"
#include "infermeter/samples/load/load_counters.hpp"
#include "infermeter/samples/samples.hpp"

namespace infermeter {

enum class LoadRule {
  rate,        // open loop: requests end as fast as they come, within 0.5 %; the last ones may take as long as p99
  late,        // p99 of how late the generator itself was is at most 5 % of the median response time
  errors,      // none failed
  enough,      // as many requests as the percentile of the scenario needs (stats/load/requests_needed.hpp)
  stationary,  // open loop: the queue does not grow (stats/load/queue_growth.hpp)
  gave_up,     // no request was still waiting long after the last arrival
  outputs,     // the last answer of each client is that of an inference that was run alone, within 1 %
};
[[nodiscard]] std::string_view to_string(LoadRule rule);
[[nodiscard]] DiagnosticId diagnostic_of(LoadRule rule);  // its remedy is what to change

// A rule that was not kept: of the process that is furthest from it.
struct LoadFinding {
  LoadRule rule{};
  double value = 0, bound = 0;
  std::string_view unit;  // of both: "share", "requests"
  std::string message;    // one sentence, without what to change
};

// Is a figure of a load what its name says?
enum class LoadFigureState {
  determined,
  at_once,  // a time from the arrival, and all requests came at once: it is about the length of the run
  too_few,  // a percentile, and some process had too few requests for it
};

struct LoadValidity {
  std::vector<LoadFinding> findings;  // in the order of LoadRule; empty: valid
  std::uint64_t requests = 0;         // that succeeded, of the process with the fewest
  bool is_offline = false;            // all requests came at once

  [[nodiscard]] bool valid() const { return findings.empty(); }
  [[nodiscard]] LoadFigureState state_of(std::string_view figure) const;
  // The state in words; empty: determined, or no figure of a load.
  [[nodiscard]] std::string why_no_figure(std::string_view figure) const;
  // More came than it took: response times are as long as the run was.
  [[nodiscard]] bool is_overloaded() const;
  [[nodiscard]] const LoadFinding* finding(LoadRule rule) const;
};

// Is it a time that begins when the request came?
[[nodiscard]] bool counts_from_arrival(std::string_view figure);

// Of the timed trials of a subject, all of them. nullopt: none has a load.
[[nodiscard]] std::optional<LoadValidity> judge_load(const Pairs& load, std::span<const Samples> trials);

[[nodiscard]] std::vector<Diagnostic> load_diagnostics(const std::optional<LoadValidity>& validity,
                                                       const std::string& label);

}  // namespace infermeter
