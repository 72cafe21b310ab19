// Where warm-up ends: change points in the times of one process, and whether what follows is steady.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace infermeter {

struct Segment {
  std::size_t begin = 0, end = 0;  // half open
  double mean = 0;                 // of log times, window outliers set aside
  double sd = 0;
};

// Change points in mean and variance by PELT (Killick, Fearnhead & Eckley, "Optimal detection of changepoints with a
// linear computational cost", JASA 107 (2012) 1590–1598), normal cost, penalty `penalty_factor` ln n, each segment at
// least `minimum` long. Ends of segments, the last one n. `values` as they are (the caller takes logarithms).
// `least_variance`: no segment counts as steadier than this, so that equal values, which every clock gives, are no
// event; the default stands for logarithms and is a millionth.
[[nodiscard]] std::vector<std::size_t> pelt_mean_variance(std::span<const double> values, double penalty_factor = 15,
                                                          std::size_t minimum = 10, double least_variance = 1e-12);

enum class SteadyClass {
  flat,             // one level from the first iteration on
  warmup,           // slower first, then steady
  slowdown,         // faster first, then steady
  no_steady_state,  // it changes in its last quarter, or cycles between levels
  too_short,        // fewer than two minimum segments
};
[[nodiscard]] std::string_view to_string(SteadyClass kind);

struct SteadyState {
  SteadyClass kind = SteadyClass::too_short;
  std::size_t begin = 0;          // first steady iteration, 0 based; the number of iterations where there is none
  std::vector<Segment> segments;  // one after the other from 0 to the number of iterations; none if too short
};

// After Barrett, Bolz-Tereick, Killick, Mount & Tratt, "Virtual machine warmup blows hot and cold", OOPSLA 2017:
// outliers within a sliding window are set aside, PELT on logarithms, the trailing segments whose means lie within
// max(1 %, the last segment's sd) of the last one's are the steady state. `times_s`: durations of all iterations from
// the first on, positive; any number of them (of more than 2,000 not every one is looked at).
//
// What differs from the paper, and why: levels are compared relatively (a millisecond and a variance read as seconds
// mean nothing to a subject of 50 µs); iterations away from the last level that make up at most a tenth of the steady
// state do not end it (machines with other work on them); a drift that is left within it does, and moves its begin or,
// in the last quarter, denies it; cycles are looked for in their own right (the paper's penalty hides those of short
// phases). Phases shorter than the minimum segment of ten are noise.
//
// What it cannot see: fewer than about 60 iterations show only changes of more than 3 sd, as the penalty is what it is.
[[nodiscard]] SteadyState find_steady_state(std::span<const double> times_s);

}  // namespace infermeter
