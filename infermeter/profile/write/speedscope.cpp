#include <fmt/format.h>

#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "infermeter/profile/write/frame_text.hpp"
#include "infermeter/profile/write/trace_labels.hpp"
#include "infermeter/profile/write/trace_numbers.hpp"
#include "infermeter/profile/write/trace_writers.hpp"

namespace infermeter {
namespace {

using Json = nlohmann::json;

std::string speedscope_json_text(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

// Frames that all profiles of the file share: a name, and as its "file" the operator's kind.
class Frames {
 public:
  std::size_t index(const std::string& name, const std::string& file) {
    const auto [place, is_new] = indices_.emplace(std::pair(name, file), frames_.size());
    if (is_new) frames_.push_back(file.empty() ? Json{{"name", name}} : Json{{"name", name}, {"file", file}});
    return place->second;
  }
  [[nodiscard]] const Json& json() const { return frames_; }

 private:
  std::map<std::pair<std::string, std::string>, std::size_t> indices_;
  Json frames_ = Json::array();
};

std::string evented_profile(const std::string& name, const TraceTrack& track, const std::vector<std::size_t>& frames) {
  std::string events;
  std::int64_t end = 0;
  for (const TraceEdge& edge : edges_of(track)) {
    const TraceSlice& slice = track.slices[edge.slice];
    end = whole_nanoseconds(edge.begins ? slice.begin_s : slice.end_s);
    fmt::format_to(std::back_inserter(events), R"({}{{"type":"{}","frame":{},"at":{}}})", events.empty() ? "" : ",",
                   edge.begins ? 'O' : 'C', frames[slice.label], end);
  }
  return fmt::format(
      R"({{"type":"evented","name":{},"unit":"nanoseconds","startValue":0,"endValue":{},"events":[{}]}})",
      speedscope_json_text(name), end, events);
}

std::string sampled_profile(const std::string& name, const StackProfile& stacks, std::uint32_t thread, Frames& frames) {
  Json samples = Json::array(), weights = Json::array();
  double sum = 0;
  for (const StackSample& sample : stacks.samples) {
    if (sample.thread != thread) continue;
    Json stack = Json::array();
    for (const std::uint32_t frame : sample.frames) {
      stack.push_back(frames.index(frame_text(stacks.frames[frame]), trace_text(stacks.frames[frame].module)));
    }
    samples.push_back(std::move(stack));
    weights.push_back(sample.weight);
    sum += sample.weight;
  }
  return speedscope_json_text({{"type", "sampled"},
                               {"name", name},
                               {"unit", stacks.unit == "s" ? "seconds" : "none"},
                               {"startValue", 0},
                               {"endValue", sum},
                               {"samples", std::move(samples)},
                               {"weights", std::move(weights)}});
}

void add_process(std::vector<std::string>& profiles, Frames& frames, const TraceProcess& process) {
  const std::string name = trace_process_name(process);
  std::vector<std::size_t> of_label;
  for (const TraceLabel& label : process.labels) of_label.push_back(frames.index(label.name, label.category));
  for (const TraceTrack& track : process.tracks) {
    if (track.slices.empty()) continue;
    profiles.push_back(evented_profile(fmt::format("{}, {}", name, track.name), track, of_label));
  }
  if (!process.stacks) return;
  for (std::size_t thread = 0; thread < process.stacks->threads.size(); ++thread) {
    const std::string thread_name = trace_text(process.stacks->threads[thread]);
    profiles.push_back(sampled_profile(fmt::format("{}, stacks of {}", name, thread_name), *process.stacks,
                                       static_cast<std::uint32_t>(thread), frames));
  }
}

}  // namespace

std::string speedscope_profile(const TraceFile& trace) {
  Frames frames;
  std::vector<std::string> profiles;
  for (const TraceProcess& process : trace.processes) add_process(profiles, frames, process);
  std::string text = fmt::format(
      "{{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\"exporter\":\"infermeter\","
      "\"shared\":{{\"frames\":{}}},\"profiles\":[",
      speedscope_json_text(frames.json()));
  for (std::size_t i = 0; i < profiles.size(); ++i) {
    text += i == 0 ? "\n" : ",\n";
    text += profiles[i];
  }
  return text + "\n]}\n";
}

}  // namespace infermeter
