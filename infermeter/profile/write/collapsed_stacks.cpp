#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "infermeter/profile/write/frame_text.hpp"
#include "infermeter/profile/write/trace_labels.hpp"
#include "infermeter/profile/write/trace_writers.hpp"

namespace infermeter {
namespace {

using Weights = std::map<std::string, double>;

std::string lines_of(const Weights& weights) {
  std::string text;
  for (const auto& [stack, weight] : weights) {
    if (!std::isfinite(weight) || weight > 9e15) continue;
    const long long whole = std::llround(weight);
    if (whole > 0) fmt::format_to(std::back_inserter(text), "{} {}\n", stack, whole);
  }
  return text;
}

class TrackStacks {
 public:
  TrackStacks(const TraceProcess& process, const TraceTrack& track) : process_(process), track_(track) {
    root_ = collapsed_frame(process.subject);
    if (track.number != 0) root_ += ';' + collapsed_frame(track.name);
  }

  void add_to(Weights& weights) const {
    const std::vector<double> self_s = self_times_s(track_);
    std::vector<std::string> stacks(track_.slices.size());
    for (const TraceEdge& edge : edges_of(track_)) {
      if (!edge.begins) continue;
      stacks[edge.slice] = stack(edge, stacks);
      weights[stacks[edge.slice]] += self_s[edge.slice] * 1e6 * scale();
    }
  }

 private:
  // A mean stands for every iteration that it is of, so that it weighs what events would.
  [[nodiscard]] double scale() const {
    return process_.from_means ? static_cast<double>(std::max<std::size_t>(1, process_.iterations)) : 1;
  }
  [[nodiscard]] const TraceLabel& label(std::size_t slice) const { return process_.labels[track_.slices[slice].label]; }
  [[nodiscard]] std::string stack(const TraceEdge& edge, const std::vector<std::string>& stacks) const {
    const bool has_parent = edge.parent < stacks.size();
    const TraceLabel& own = label(edge.slice);
    std::string result = (has_parent ? stacks[edge.parent] : root_) + ';';
    const bool within_operator = has_parent && label(edge.parent).op;
    if (own.op && !within_operator) result += collapsed_frame(own.category) + ';';
    return result + collapsed_frame(own.name);
  }

  const TraceProcess& process_;
  const TraceTrack& track_;
  std::string root_;
};

std::string stack_of(const StackProfile& stacks, const StackSample& sample) {
  std::string result;
  if (sample.thread < stacks.threads.size()) result = collapsed_frame(trace_text(stacks.threads[sample.thread]));
  for (const std::uint32_t frame : sample.frames) {
    if (!result.empty()) result += ';';
    result += collapsed_frame(frame_text(stacks.frames[frame]));
  }
  return result;
}

std::string frames_of(const StackProfile& stacks, const StackSample& sample) {
  std::string result;
  for (const std::uint32_t frame : sample.frames) {
    if (frame < stacks.frames.size()) result += ';' + collapsed_frame(frame_text(stacks.frames[frame]));
  }
  return result;
}

std::string thread_of_sample(const StackProfile& stacks, const StackSample& sample) {
  if (sample.thread == main_thread_of(stacks)) return "main thread";
  const std::string name = sample.thread < stacks.threads.size() ? trace_text(stacks.threads[sample.thread]) : "";
  return name.empty() ? fmt::format("thread {}", sample.thread) : collapsed_frame(name);
}

void add_samples(const StackSource& source, Weights& weights) {
  const StackTrial& trial = source.trial;
  const StackProfile& stacks = trial.stacks->stacks;
  const double microseconds =
      1e6 * seconds_per_weight(*trial.samples, stacks) * static_cast<double>(trial.samples->iterations());
  const auto labels = trial.profile == nullptr ? std::vector<TraceLabel>{} : trace_labels(*trial.profile, 0);
  const std::string subject = collapsed_frame(trace_text(source.subject));
  for (const StackSample& sample : stacks.samples) {
    if (!(sample.weight >= 0)) continue;  // nor one that is no number
    std::string stack = subject + ';' + thread_of_sample(stacks, sample);
    // The first label is the iterations'.
    if (sample.op && *sample.op + std::size_t{1} < labels.size()) {
      const TraceLabel& op = labels[*sample.op + std::size_t{1}];
      stack += ';' + collapsed_frame(op.category) + ';' + collapsed_frame(op.name);
    }
    weights[stack + frames_of(stacks, sample)] += sample.weight * microseconds;
  }
}

}  // namespace

std::string frame_text(const StackFrame& frame) {
  if (!frame.symbol.empty()) return trace_text(frame.symbol);
  if (frame.module.empty()) return "[unknown]";
  const std::string file = trace_text(frame.module.substr(frame.module.rfind('/') + 1));
  return frame.offset == 0 ? fmt::format("[{}]", file) : fmt::format("[{}+{:#x}]", file, frame.offset);
}

std::string collapsed_frame(std::string_view text) {
  std::string result(text);
  std::ranges::replace(result, ';', ':');
  return result;
}

std::string collapsed_stacks(const TraceFile& trace) {
  Weights weights;
  for (const TraceProcess& process : trace.processes) {
    for (const TraceTrack& track : process.tracks) TrackStacks(process, track).add_to(weights);
  }
  return lines_of(weights);
}

std::string collapsed_stacks(std::span<const StackSource> sources) {
  Weights weights;
  for (const StackSource& source : sources) add_samples(source, weights);
  return lines_of(weights);
}

std::string collapsed_stacks(const StackProfile& stacks) {
  Weights weights;
  const double scale = stacks.unit == "s" ? 1e6 : 1;
  for (const StackSample& sample : stacks.samples) weights[stack_of(stacks, sample)] += sample.weight * scale;
  return lines_of(weights);
}

}  // namespace infermeter
