#include "infermeter/profile/write/trace_tracks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <span>
#include <string>
#include <tuple>

namespace infermeter {
namespace {

// One track while it is filled.
class Lane {
 public:
  // Slices come by begin, the outer one first. False: it would overlap one that is there.
  bool place(const TraceSlice& slice) { return place(slice, 0) || place(slice, kTraceStep); }
  std::vector<TraceSlice> take() { return std::move(slices_); }

 private:
  bool place(TraceSlice slice, double step) {
    std::size_t depth = open_.size();
    double begin = std::max(slice.begin_s, latest_begin_);
    while (depth > 0 && open_[depth - 1] <= slice.begin_s + step) begin = std::max(begin, open_[--depth]);
    if (begin > slice.begin_s + step) return false;
    double end = std::max(slice.end_s, begin);
    if (depth > 0) {
      if (end > open_[depth - 1] + step) return false;
      end = std::min(end, open_[depth - 1]);
    }
    open_.resize(depth);
    open_.push_back(end);
    latest_begin_ = slice.begin_s = begin;
    slice.end_s = end;
    slices_.push_back(slice);
    return true;
  }

  std::vector<TraceSlice> slices_;
  std::vector<double> open_;  // ends of the slices that the next one may lie in, the outermost first
  double latest_begin_ = -std::numeric_limits<double>::infinity();
};

std::string track_name(std::uint32_t thread, std::size_t lane) {
  std::string name = thread == 0 ? "main thread" : fmt::format("thread {}", thread);
  if (lane > 0) name += ", overlapping";
  if (lane > 1) name += fmt::format(" {}", lane);
  return name;
}

// The lane that a slice tries first: within the iteration, or beside it.
std::size_t first_lane(const TraceSlice& slice, std::uint32_t thread, std::span<const TraceSlice> iterations) {
  if (thread != 0) return 0;
  const TraceSlice& whole = iterations[slice.iteration];
  const bool within = slice.begin_s >= whole.begin_s - kTraceStep && slice.end_s <= whole.end_s + kTraceStep;
  return within ? 0 : 1;
}

TraceSlice clamped(TraceSlice slice, const TraceSlice& whole) {
  slice.begin_s = std::clamp(slice.begin_s, whole.begin_s, whole.end_s);
  slice.end_s = std::clamp(slice.end_s, slice.begin_s, whole.end_s);
  return slice;
}

struct TrackCandidate {
  TraceSlice slice;
  std::size_t lane = 0;
  bool is_iteration = false;
};

std::vector<TrackCandidate> candidates_of(std::uint32_t thread, std::span<const TraceSlice> iterations,
                                          std::span<const ThreadSlice> operators) {
  std::vector<TrackCandidate> result;
  for (const TraceSlice& iteration : thread == 0 ? iterations : std::span<const TraceSlice>()) {
    result.push_back({.slice = iteration, .lane = 0, .is_iteration = true});
  }
  for (const ThreadSlice& op : operators) {
    const std::size_t lane = first_lane(op.slice, thread, iterations);
    const bool within_iteration = thread == 0 && lane == 0;
    result.push_back(
        {.slice = within_iteration ? clamped(op.slice, iterations[op.slice.iteration]) : op.slice, .lane = lane});
  }
  // Runtimes report what they did in order: of equal slices the first reported is the outer one.
  std::ranges::stable_sort(result, [](const TrackCandidate& a, const TrackCandidate& b) {
    return std::make_tuple(a.slice.begin_s, !a.is_iteration, -a.slice.end_s) <
           std::make_tuple(b.slice.begin_s, !b.is_iteration, -b.slice.end_s);
  });
  return result;
}

bool place(std::vector<Lane>& lanes, const TrackCandidate& candidate) {
  for (std::size_t lane = candidate.lane; lane < kMostTracksOfThread; ++lane) {
    if (lane >= lanes.size()) lanes.resize(lane + 1);
    if (lanes[lane].place(candidate.slice)) return true;
  }
  return false;
}

void place_thread(PlacedTracks& placed, std::uint32_t thread, std::span<const TraceSlice> iterations,
                  std::span<const ThreadSlice> operators) {
  std::vector<Lane> lanes(1);
  for (const TrackCandidate& candidate : candidates_of(thread, iterations, operators)) {
    if (!place(lanes, candidate)) ++placed.left_out;
  }
  for (std::size_t lane = 0; lane < lanes.size(); ++lane) {
    placed.tracks.push_back({.name = track_name(thread, lane),
                             .number = static_cast<std::uint32_t>(placed.tracks.size()),
                             .thread = thread,
                             .slices = lanes[lane].take()});
  }
}

}  // namespace

PlacedTracks place_slices(const std::vector<TraceSlice>& iterations, std::vector<ThreadSlice> operators) {
  PlacedTracks placed;
  std::ranges::stable_sort(operators, {}, &ThreadSlice::thread);
  std::size_t threads = 0;
  auto begin = operators.begin();
  const auto take_thread = [&](std::uint32_t thread) {
    const auto end = std::find_if(begin, operators.end(), [&](const ThreadSlice& op) { return op.thread != thread; });
    place_thread(placed, thread, iterations, {begin, end});
    begin = end;
    ++threads;
  };
  take_thread(0);
  while (begin != operators.end() && threads < kMostTraceThreads) take_thread(begin->thread);
  placed.left_out += static_cast<std::size_t>(operators.end() - begin);
  return placed;
}

}  // namespace infermeter
