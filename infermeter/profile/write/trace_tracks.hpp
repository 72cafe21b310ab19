// Tracks: slices of each thread, put so that those of a track nest whatever times a runtime reported.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "infermeter/profile/write/trace.hpp"

namespace infermeter {

struct PlacedTracks {
  std::vector<TraceTrack> tracks;
  std::size_t left_out = 0;  // beyond the threads and tracks that a trace has
};

inline constexpr std::size_t kMostTraceThreads = 256;
inline constexpr std::size_t kMostTracksOfThread = 16;

struct ThreadSlice {
  std::uint32_t thread = 0;
  TraceSlice slice;
};

// `iterations` do not overlap and are in order; they are the main thread's outermost slices. Operators of the main
// thread that leave their iteration, and slices that overlap without nesting, come to tracks of their own.
[[nodiscard]] PlacedTracks place_slices(const std::vector<TraceSlice>& iterations, std::vector<ThreadSlice> operators);

}  // namespace infermeter
