#include "infermeter/profile/write/trace_file.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "infermeter/diagnostics/check.hpp"
#include "infermeter/profile/write/trace_labels.hpp"
#include "infermeter/profile/write/trace_tracks.hpp"

namespace infermeter {
namespace {

double time_or_zero(double seconds) { return is_trace_time(seconds) ? seconds : 0; }

std::vector<TraceSlice> iterations_of(const Samples& samples) {
  std::vector<TraceSlice> iterations;
  const std::size_t count = std::min(samples.begin_s.size(), samples.end_s.size());
  const double origin_s = count == 0 ? 0 : time_or_zero(samples.begin_s[0]);
  double latest_s = 0;
  for (std::size_t i = 0; i < count; ++i) {
    TraceSlice slice{.iteration = static_cast<std::uint32_t>(i)};
    slice.begin_s = std::max(latest_s, time_or_zero(samples.begin_s[i]) - origin_s);
    slice.end_s = latest_s = std::max(slice.begin_s, time_or_zero(samples.end_s[i]) - origin_s);
    iterations.push_back(slice);
  }
  return iterations;
}

std::vector<ThreadSlice> events_of(const OperatorProfile& profile, const std::vector<TraceSlice>& iterations,
                                   std::size_t& left_out) {
  std::vector<ThreadSlice> events;
  const std::size_t count = std::min({profile.iteration.size(), profile.op.size(), profile.thread.size(),
                                      profile.begin_s.size(), profile.duration_s.size()});
  for (std::size_t i = 0; i < count; ++i) {
    const bool known = profile.iteration[i] < iterations.size() && profile.op[i] < profile.operators.size();
    if (!known || !is_trace_time(profile.begin_s[i]) || !is_trace_time(profile.duration_s[i])) {
      ++left_out;
      continue;
    }
    const double begin_s = iterations[profile.iteration[i]].begin_s + profile.begin_s[i];
    events.push_back({.thread = profile.thread[i],
                      .slice = {.label = profile.op[i] + std::size_t{1},
                                .iteration = profile.iteration[i],
                                .begin_s = begin_s,
                                .end_s = begin_s + std::max(0.0, profile.duration_s[i])}});
  }
  return events;
}

// One operator after the other, in an iteration that takes the mean wall time, or their sum where that is more.
void lay_out_means(const OperatorProfile& profile, std::vector<TraceSlice>& iterations,
                   std::vector<ThreadSlice>& events, std::size_t& left_out) {
  const double wall_s = std::accumulate(iterations.begin(), iterations.end(), 0.0, [&](double sum, const auto& slice) {
    return sum + (slice.end_s - slice.begin_s) / static_cast<double>(iterations.size());
  });
  double end_s = 0;
  for (std::size_t op = 0; op < std::min(profile.mean_s.size(), profile.operators.size()); ++op) {
    if (!is_trace_time(profile.mean_s[op]) || !is_trace_time(end_s)) {
      ++left_out;
      continue;
    }
    const double begin_s = std::exchange(end_s, end_s + std::max(0.0, profile.mean_s[op]));
    events.push_back({.thread = 0, .slice = {.label = op + 1, .iteration = 0, .begin_s = begin_s, .end_s = end_s}});
  }
  iterations = {{.label = 0, .iteration = 0, .begin_s = 0, .end_s = std::max(wall_s, end_s)}};
}

TraceCounter resident_memory(const Samples& samples, const std::vector<TraceSlice>& iterations) {
  TraceCounter counter{.name = "resident memory", .at_s = {}, .values = {}};
  for (std::size_t i = 0; i < std::min(samples.memory_bytes.size(), iterations.size()); ++i) {
    if (!std::isfinite(samples.memory_bytes[i])) continue;
    counter.at_s.push_back(iterations[i].end_s);
    counter.values.push_back(samples.memory_bytes[i]);
  }
  if (counter.values.empty() && !iterations.empty())
    return seen_memory(samples, time_or_zero(samples.begin_s[0]), iterations.back().end_s);
  return counter;
}

// Of the runtime's arena, operator by operator; told per operator, not per event.
TraceCounter arena(const char* name, std::optional<std::uint64_t> ProfiledOperator::* reported,
                   const OperatorProfile& profile, const TraceTrack& track) {
  TraceCounter counter{.name = name, .at_s = {}, .values = {}};
  for (const TraceSlice& slice : track.slices) {
    if (slice.label == 0) continue;
    const auto& bytes = profile.operators[slice.label - 1].*reported;
    if (!bytes || (!counter.values.empty() && counter.values.back() == static_cast<double>(*bytes))) continue;
    counter.at_s.push_back(slice.begin_s);
    counter.values.push_back(static_cast<double>(*bytes));
  }
  return counter;
}

void shift(TraceProcess& process, double by_s) {
  for (TraceTrack& track : process.tracks) {
    for (TraceSlice& slice : track.slices) {
      slice.begin_s += by_s;
      slice.end_s += by_s;
    }
  }
  for (TraceCounter& counter : process.counters) {
    for (double& at_s : counter.at_s) at_s += by_s;
  }
}

// An operator can begin before its iteration, where two clocks disagree; files know no time before 0.
void begin_at_zero(TraceProcess& process) {
  double first_s = 0;
  for (const TraceTrack& track : process.tracks) {
    if (!track.slices.empty()) first_s = std::min(first_s, track.slices.front().begin_s);
  }
  if (first_s < 0) shift(process, -first_s);
}

TraceProcess process_of(const TraceSource& source) {
  INFERMETER_CHECK(source.trial.samples != nullptr && source.trial.profile != nullptr);
  const Samples& samples = *source.trial.samples;
  const OperatorProfile& profile = *source.trial.profile;
  TraceProcess process{.subject = trace_text(source.subject),
                       .subject_index = samples.subject,
                       .number = samples.process,
                       .labels = trace_labels(profile, samples.iterations()),
                       .tracks = {},
                       .counters = {},
                       .stacks = source.stacks ? std::optional(*source.stacks) : std::nullopt,
                       .iterations = samples.iterations(),
                       .from_means = !profile.has_events() && !profile.mean_s.empty()};
  std::vector<TraceSlice> iterations = iterations_of(samples);
  std::vector<TraceCounter> counters = {resident_memory(samples, iterations)};
  std::vector<ThreadSlice> events = events_of(profile, iterations, process.left_out);
  if (process.from_means) {
    lay_out_means(profile, iterations, events, process.left_out);
    counters.clear();
  }
  PlacedTracks placed = place_slices(iterations, std::move(events));
  process.tracks = std::move(placed.tracks);
  process.left_out += placed.left_out;
  counters.push_back(arena("arena, in use", &ProfiledOperator::arena_in_use_bytes, profile, process.tracks.front()));
  counters.push_back(arena("arena, peak", &ProfiledOperator::arena_peak_bytes, profile, process.tracks.front()));
  for (TraceCounter& counter : counters) {
    if (!counter.values.empty()) process.counters.push_back(std::move(counter));
  }
  begin_at_zero(process);
  return process;
}

}  // namespace

bool is_trace_time(double seconds) {
  constexpr double latest_s = 1e9;  // 30 years; nanoseconds since 0 stay exact enough in every format
  return std::abs(seconds) <= latest_s;
}

TraceCounter seen_memory(const Samples& samples, double origin_s, double end_s) {
  TraceCounter counter{.name = "resident memory", .at_s = {}, .values = {}};
  for (const MemoryPoint& point : samples.memory_timeline) {
    const double at_s = point.at_s - origin_s;
    if (!is_trace_time(at_s) || at_s < 0 || at_s > end_s) continue;
    counter.at_s.push_back(at_s);
    counter.values.push_back(static_cast<double>(point.rss_bytes));
  }
  return counter;
}

TraceFile trace_of(std::span<const TraceSource> sources) {
  TraceFile trace;
  trace.processes.reserve(sources.size());
  for (const TraceSource& source : sources) trace.processes.push_back(process_of(source));
  return trace;
}

}  // namespace infermeter
