// Events of a source's own clock -> events of a trial's timed iterations.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "infermeter/diagnostics/result.hpp"
#include "infermeter/profile/read/imported_profile.hpp"
#include "infermeter/samples/operator_profile.hpp"
#include "infermeter/samples/samples.hpp"

namespace infermeter {

// What a source says of itself: nanoseconds of the source's clock.
struct TimeSpan {
  std::int64_t begin_ns = 0, duration_ns = 0;
  [[nodiscard]] std::int64_t end_ns() const { return begin_ns + duration_ns; }
};

// Sums and differences of a few such stay in 64 bits; what is farther comes from no clock.
[[nodiscard]] bool is_near(std::int64_t ns);

// A trial's timed iterations on the source's clock.
class ClockedIterations {
 public:
  // `ahead_ns`: the source's clock minus CLOCK_MONOTONIC; nullopt: not known.
  ClockedIterations(const Samples& trial, std::optional<std::int64_t> ahead_ns);

  [[nodiscard]] std::size_t count() const { return wall_ns_.size(); }
  // The clocks are joined: it is known where on the source's clock an iteration lies.
  [[nodiscard]] bool joined() const { return !begin_ns_.empty(); }
  [[nodiscard]] TimeSpan at(std::size_t iteration) const { return {begin_ns_[iteration], wall_ns_[iteration]}; }
  // Where on the source's clock the iteration begins in which `run` happened: by the clocks, or, where they are not
  // joined or say that it did not happen there, so that the run lies in the middle of the iteration's wall time.
  [[nodiscard]] std::int64_t begin_of(std::size_t iteration, const TimeSpan& run) const;
  [[nodiscard]] bool contains(std::size_t iteration, const TimeSpan& run) const;

 private:
  std::vector<std::int64_t> begin_ns_, wall_ns_;
};

// How far CLOCK_REALTIME was ahead of CLOCK_MONOTONIC in the trial; nullopt: not known, or not the same before and
// after.
[[nodiscard]] std::optional<std::int64_t> steady_realtime_ahead_ns(const Samples& trial);

// Two clocks that moved against each other by more than this during the loop are not joined.
inline constexpr std::int64_t kMostSlip_ns = 50'000;

struct PlacedEvent {
  std::uint32_t iteration = 0, op = 0, thread = 0;
  std::int64_t begin_ns = 0, duration_ns = 0;  // begin: since the iteration's begin
};

// Puts them in order into `profile`, whose operators are there. Of more than kMostProfileEvents the later iterations
// are left out whole, with `cut`. Errors: not even the first iteration can be kept.
[[nodiscard]] Result<Done> put_events(std::vector<PlacedEvent> events, OperatorProfile& profile);

// The iterations of a source that has no trial of ours, by its own clock, which ClockedIterations(…, 0) then joins;
// they are in order. Errors: there are more than kMostImportedIterations, or farther apart than any clock shows.
[[nodiscard]] Result<Samples> samples_of_runs(std::span<const TimeSpan> runs);
[[nodiscard]] SelfTimedProfile self_timed(const Samples& iterations, OperatorProfile profile);
// Of a profile of means: one inference that stands for them, as long as their sum.
[[nodiscard]] SelfTimedProfile from_means(OperatorProfile profile);

// Operators in the order of their first events; those without an event go.
void order_by_first_event(OperatorProfile& profile);

}  // namespace infermeter
