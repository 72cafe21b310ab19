#include "infermeter/trial/machine/times.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace infermeter {
namespace {

constexpr double least_readings = 20;

// False: it ended early.
bool convert(std::span<const TickPair> pairs, const TickScale& scale, std::uint64_t last_ticks, bool overlapping,
             std::vector<double>& begin_s, std::vector<double>& end_s) {
  begin_s.clear();
  end_s.clear();
  begin_s.reserve(pairs.size());
  end_s.reserve(pairs.size());
  std::uint64_t previous = scale.origin_ticks;
  for (const TickPair& shared : pairs) {
    const TickPair pair = shared;  // read once: the worker may still be writing
    if (pair.begin < previous || pair.end < pair.begin || pair.end > last_ticks) return false;
    begin_s.push_back(scale.seconds(pair.begin));
    end_s.push_back(scale.seconds(pair.end));
    if (!overlapping) previous = pair.end;
  }
  return true;
}

void check_resolution(Samples& samples) {
  std::vector<double> latencies = latencies_s(samples);
  if (latencies.empty() || !(samples.clock.read_cost_s > 0)) return;
  const auto middle = latencies.begin() + static_cast<std::ptrdiff_t>(latencies.size() / 2);
  std::nth_element(latencies.begin(), middle, latencies.end());
  if (*middle >= least_readings * samples.clock.read_cost_s) return;
  samples.diagnostics.push_back({DiagnosticId::timer_resolution,
                                 fmt::format("the median inference takes {:.0f} ns, and reading the clock {:.1f} ns",
                                             *middle * 1e9, samples.clock.read_cost_s * 1e9),
                                 {}});
}

}  // namespace

void record_times(const SampleBlock& block, const ClockPair& last, Samples& samples, bool overlapping) {
  const TickScale scale = scale_between(block.clock(), block.start(), last);
  const bool warmup =
      convert(block.warmup_done(), scale, last.ticks, overlapping, samples.warmup_begin_s, samples.warmup_end_s);
  samples.warmup_iterations = block.warmup_iterations();
  const std::span<const TickPair> timed = block.timed_done();
  if (!convert(timed, scale, last.ticks, overlapping, samples.begin_s, samples.end_s) || !warmup)
    samples.diagnostics.push_back({DiagnosticId::clock_went_back,
                                   fmt::format("the clock's counter went back: {} of {} timed iterations are kept",
                                               samples.begin_s.size(), timed.size()),
                                   {}});
  if (!samples.begin_s.empty()) samples.ready_s = samples.begin_s.front();
  const double cost_ticks = block.header().read_cost_ticks;
  samples.clock.name = clock_name(block.clock());
  samples.clock.tick_s = scale.tick_s;
  samples.clock.read_cost_s = std::isfinite(cost_ticks) && cost_ticks > 0 ? cost_ticks * scale.tick_s : 0;
  if (block.clock() != ClockKind::tsc)
    samples.diagnostics.push_back({DiagnosticId::clock_not_tsc, "times are of the monotonic clock", {}});
  check_resolution(samples);
}

}  // namespace infermeter
