// TraceFile: profiles laid out in time, as every format of traces wants them: processes, their threads, slices that
// nest. Pure; docs/files.md says what each file holds and what reads it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "infermeter/profile/operators/operator_times.hpp"
#include "infermeter/profile/write/trace.hpp"
#include "infermeter/samples/stack_profile.hpp"

namespace infermeter {

struct TraceSource {
  std::string subject;  // as reports call it; hostile
  ProfileTrial trial;
  const StackProfile* stacks = nullptr;
};

// Every process begins at 0, however late it ran, so that they stand one below the other.
[[nodiscard]] TraceFile trace_of(std::span<const TraceSource> sources);

// Whether it can be one: what is beyond 30 years is none, nor is NaN.
[[nodiscard]] bool is_trace_time(double seconds);

// What the launcher saw until `end_s`, seconds after `origin_s` of the samples' clock.
[[nodiscard]] TraceCounter seen_memory(const Samples& samples, double origin_s, double end_s);

// A track as begins and ends in time order; at the same time ends come first, inner ones before outer ones.
struct TraceEdge {
  bool begins = false;
  std::size_t slice = 0;
  std::size_t parent = std::numeric_limits<std::size_t>::max();  // max: it lies in no other slice
};
[[nodiscard]] std::vector<TraceEdge> edges_of(const TraceTrack& track);

// The whole nanosecond that files hold; what nests in seconds nests in nanoseconds, as rounding keeps the order.
[[nodiscard]] std::int64_t whole_nanoseconds(double seconds);

// Time of each slice of a track without the slices directly within it; they all add up to what the outermost ones take.
[[nodiscard]] std::vector<double> self_times_s(const TraceTrack& track);

}  // namespace infermeter
