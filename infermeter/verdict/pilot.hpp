// Pilots: what warm-up and iterations the trials of a subject get, from processes that ran before them. A pure function
// of the record, so that a resumed run chooses the same.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "infermeter/stats/iterations.hpp"
#include "infermeter/stats/steady_state.hpp"
#include "infermeter/verdict/run_record.hpp"

namespace infermeter {

// A pilot's own length: so many iterations, or so long. One that shows no steady state is followed by a longer one.
inline constexpr Stopping first_pilot{.warmup = 0, .iterations = 200, .duration_s = 10};
inline constexpr Stopping longer_pilot{.warmup = 0, .iterations = 2000, .duration_s = 10};
inline constexpr std::int64_t later_pilot_iterations = 20;  // after the warm-up that the first one showed

// What the pilots of one subject show.
struct PilotFinding {
  SteadyState steady;                     // of the longest pilot
  std::int64_t warmup = 0;                // iterations before the steady state; where there is none: half the pilot
  std::optional<double> iteration_s;      // median of the steady iterations; nullopt: no pilot got so far
  std::optional<double> process_s;        // what a process costs beside its iterations
  std::vector<std::vector<double>> logs;  // log times of the steady iterations, per pilot process
  int pilots = 0, failed = 0;
};
[[nodiscard]] PilotFinding find_in_pilots(const RunRecord& record, std::size_t subject);

// Does the subject need another pilot, and how long is it to be? nullopt: there are enough.
[[nodiscard]] std::optional<Stopping> next_pilot(const RunRecord& record, std::size_t subject);

struct Settled {
  Stopping stopping;
  std::optional<IterationChoice> choice;  // only with a question: where `iterations` comes from
};
// The same for all subjects of a group: the longest warm-up of any (at least 3), and the most iterations. With a
// question by Kalibera & Jones; without one as many as the p99 of the planned processes needs, 10 at least, and no
// more than ten seconds of them: with a given number of processes there is no cost to weigh.
[[nodiscard]] Settled settle(const RunRecord& record, std::size_t subject);

}  // namespace infermeter
