// Pilots: what warm-up and iterations the trials of a subject get, from processes that ran before them. Pure functions
// of the record, so that a resumed run chooses the same.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "infermeter/stats/changes/steady_state.hpp"
#include "infermeter/stats/summary/iterations.hpp"
#include "infermeter/verdict/run_record.hpp"

namespace infermeter {

// A pilot's own length: so many iterations, or so long. One that shows no steady state is followed by a longer one, of
// three seconds at least: what disturbs a few milliseconds is not the subject's doing. One that shows a warm-up longer
// than 20 iterations, and than all else that its process does, is followed by others of its length until two agree.
inline constexpr Stopping first_pilot{.warmup = 0, .iterations = 200, .duration_s = 10};
inline constexpr double longer_pilot_s = 3;
inline constexpr std::size_t most_long_pilots = 3;          // none of them steady: there is no steady state
inline constexpr std::int64_t later_pilot_iterations = 20;  // after the warm-up that the first one showed
inline constexpr std::int64_t least_warmup = 3;

// What the pilots of one subject show.
struct PilotFinding {
  SteadyState steady;                     // of the long pilot that settles first; where none does, of the last
  std::int64_t warmup = least_warmup;     // iterations before the steady state; where there is none: half the pilot
  std::optional<double> iteration_s;      // median of the steady iterations; nullopt: no pilot got so far
  double process_s = 0;                   // what a process costs beside its iterations: start, load, end
  std::vector<std::vector<double>> logs;  // log times of the first steady iterations of each pilot process
  int pilots = 0, failed = 0;

  [[nodiscard]] bool is_steady() const { return steady.kind != SteadyClass::no_steady_state; }
};
[[nodiscard]] PilotFinding find_in_pilots(const RunRecord& record, std::size_t subject);
[[nodiscard]] std::vector<PilotFinding> find_in_pilots(const RunRecord& record);  // of each subject

// Does the subject need another pilot, and how long is it to be? nullopt: there are enough.
[[nodiscard]] std::optional<Stopping> next_pilot(const RunRecord& record, std::size_t subject);

// How the trials of a subject stop; `findings` of every subject of the plan. The same for all subjects of a group: the
// longest warm-up of any, and the most iterations. With a question by Kalibera & Jones, and no fewer than its metric
// needs in one process; without one as many as the p99 of the planned processes needs for an interval, 10 at least, and
// no more than ten seconds of them: with a given number of processes there is no cost to weigh.
[[nodiscard]] Stopping settle(const Plan& plan, std::span<const PilotFinding> findings, std::size_t subject);

// What the pilots promise for the plan's question.
struct Outlook {
  double pair_s = 0;              // what a pair is expected to take
  int pairs = 0;                  // that the budget and the plan allow
  double standard_deviation = 0;  // of a pair's difference of logarithms, as the pilots vary
  double smallest_effect = 0;     // minimum detectable with so many pairs, log scale
};
// nullopt: no question, or too few pilots.
[[nodiscard]] std::optional<Outlook> outlook(const Plan& plan, std::span<const PilotFinding> findings);

}  // namespace infermeter
