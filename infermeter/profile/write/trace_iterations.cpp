#include "infermeter/profile/write/trace_iterations.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "infermeter/profile/write/trace_file.hpp"
#include "infermeter/profile/write/trace_labels.hpp"
#include "infermeter/profile/write/trace_tracks.hpp"

namespace infermeter {
namespace {

// A lane for each client that there may be is one too many for who looks at them.
constexpr std::size_t kMostLanes = kMostTraceThreads;

class MeasuredProcess {
 public:
  MeasuredProcess(const MeasuredSource& source, std::size_t most) : samples_(*source.samples), most_(most) {
    process_ = {.subject = trace_text(source.subject),
                .subject_index = samples_.subject,
                .number = samples_.process,
                .labels = trace_labels({}, samples_.iterations()),
                .tracks = {},
                .counters = {},
                .stacks = {},
                .iterations = samples_.iterations(),
                .is_measured = true};
  }

  TraceProcess take() {
    const std::size_t count = std::min(samples_.begin_s.size(), samples_.end_s.size());
    origin_s_ = count > 0 && is_trace_time(samples_.begin_s[0]) ? samples_.begin_s[0] : 0;
    for (std::size_t i = 0; i < std::min(count, most_); ++i) place(i);
    process_.not_shown = count - std::min(count, most_);
    add_tracks();
    TraceCounter memory = seen_memory(samples_, origin_s_, last_s_);
    if (!memory.values.empty()) process_.counters.push_back(std::move(memory));
    return std::move(process_);
  }

 private:
  // Into the first lane that is free when it begins.
  void place(std::size_t iteration) {
    TraceSlice slice{.label = 0, .iteration = static_cast<std::uint32_t>(iteration)};
    slice.begin_s = samples_.begin_s[iteration] - origin_s_;
    slice.end_s = samples_.end_s[iteration] - origin_s_;
    const auto free =
        std::ranges::find_if(lanes_, [&](const auto& lane) { return lane.back().end_s <= slice.begin_s; });
    const bool has_room = free != lanes_.end() || lanes_.size() < kMostLanes;
    if (!is_trace_time(slice.begin_s) || !is_trace_time(slice.end_s) || slice.begin_s < 0 || !has_room) {
      ++process_.left_out;
      return;
    }
    slice.end_s = std::max(slice.begin_s, slice.end_s);
    last_s_ = std::max(last_s_, slice.end_s);
    (free == lanes_.end() ? lanes_.emplace_back() : *free).push_back(slice);
  }

  void add_tracks() {
    for (auto& slices : lanes_) {
      const auto number = static_cast<std::uint32_t>(process_.tracks.size());
      process_.tracks.push_back({.name = samples_.load ? fmt::format("requests {}", number + 1) : "iterations",
                                 .number = number,
                                 .thread = number,
                                 .slices = std::move(slices)});
    }
  }

  const Samples& samples_;
  std::size_t most_;
  double origin_s_ = 0, last_s_ = 0;
  std::vector<std::vector<TraceSlice>> lanes_;
  TraceProcess process_;
};

}  // namespace

std::vector<TraceProcess> measured_processes(const std::vector<MeasuredSource>& sources) {
  std::vector<TraceProcess> processes;
  const std::size_t most = kMostTracedIterations / std::max<std::size_t>(sources.size(), 1);
  for (const MeasuredSource& source : sources) processes.push_back(MeasuredProcess(source, most).take());
  return processes;
}

}  // namespace infermeter
