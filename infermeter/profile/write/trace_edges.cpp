#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "infermeter/profile/write/trace_file.hpp"

namespace infermeter {

std::vector<TraceEdge> edges_of(const TraceTrack& track) {
  constexpr std::size_t none = std::numeric_limits<std::size_t>::max();
  std::vector<TraceEdge> edges;
  edges.reserve(2 * track.slices.size());
  std::vector<std::size_t> open;
  const auto parent = [&] { return open.empty() ? none : open.back(); };
  const auto close = [&] {
    const std::size_t slice = open.back();
    open.pop_back();
    edges.push_back({.begins = false, .slice = slice, .parent = parent()});
  };
  for (std::size_t i = 0; i < track.slices.size(); ++i) {
    while (!open.empty() && track.slices[open.back()].end_s <= track.slices[i].begin_s) close();
    edges.push_back({.begins = true, .slice = i, .parent = parent()});
    open.push_back(i);
  }
  while (!open.empty()) close();
  return edges;
}

std::int64_t whole_nanoseconds(double seconds) { return std::max<std::int64_t>(0, std::llround(seconds * 1e9)); }

std::vector<double> self_times_s(const TraceTrack& track) {
  std::vector<double> self(track.slices.size());
  for (const TraceEdge& edge : edges_of(track)) {
    if (!edge.begins) continue;
    const double duration_s = track.slices[edge.slice].end_s - track.slices[edge.slice].begin_s;
    self[edge.slice] += duration_s;
    if (edge.parent < self.size()) self[edge.parent] -= duration_s;
  }
  return self;
}

}  // namespace infermeter
