#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "infermeter/profile/write/trace_numbers.hpp"
#include "infermeter/profile/write/trace_writers.hpp"

namespace infermeter {
namespace {

using Json = nlohmann::json;

std::string trace_json_text(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

// Microseconds with their three decimals: a double would not say the nanosecond.
std::string microseconds(std::int64_t nanoseconds) {
  return fmt::format("{}.{:03}", nanoseconds / 1000, nanoseconds % 1000);
}

// A slice's length. Readers add it to its beginning, in doubles: the sum must not lie beyond where the slice ends, nor
// beyond that sum of the slice that it lies in, or TensorBoard's profiler drops what comes next.
class Lengths {
 public:
  // Slices come by begin, the outer one first. Nanoseconds.
  std::int64_t of(std::int64_t begin, std::int64_t end) {
    while (!open_.empty() && open_.back().end <= begin) open_.pop_back();
    const double limit = open_.empty() ? micros(end) : std::min(micros(end), open_.back().sum);
    std::int64_t length = end - begin;
    while (length > 0 && micros(begin) + micros(length) > limit) --length;
    open_.push_back({end, micros(begin) + micros(length)});
    return length;
  }

 private:
  struct Open {
    std::int64_t end = 0;
    double sum = 0;
  };
  static double micros(std::int64_t nanoseconds) { return static_cast<double>(nanoseconds) / 1000; }

  std::vector<Open> open_;  // the outermost first
};

// An event's members but its place and time, made once for all events of that label. Its arguments are left open for
// the iteration's number. Categories and the name of an iteration are those of torch.profiler's traces, which readers
// know; they look for operators in each step, and what was only measured has none.
std::string label_text(const TraceLabel& label, bool is_measured) {
  if (!label.op)
    return fmt::format(R"("cat":"{}","args":{{"iteration":)", is_measured ? "measured" : "user_annotation");
  Json arguments = Json::object();
  arguments["kind"] = label.category;
  for (const auto& [key, text] : label.texts) arguments[key] = text;
  for (const auto& [key, number] : label.numbers) arguments[key] = number;
  std::string open = trace_json_text(arguments);
  open.back() = ',';
  return fmt::format(R"("name":{},"cat":"cpu_op","args":{}"iteration":)", trace_json_text(label.name), open);
}

class TraceEvents {
 public:
  void metadata(std::string_view name, std::int64_t pid, std::int64_t tid, std::string_view key, const Json& value) {
    add(trace_json_text({{"ph", "M"}, {"name", name}, {"pid", pid}, {"tid", tid}, {"args", {{key, value}}}}));
  }
  // `iteration`: what comes before its number in its name; empty: the label has a name.
  void slice(std::int64_t pid, std::int64_t tid, const TraceSlice& slice, std::string_view label,
             std::string_view iteration, Lengths& lengths) {
    const std::string name = iteration.empty() ? "" : fmt::format(R"("name":"{}{}",)", iteration, slice.iteration);
    const std::int64_t begin = whole_nanoseconds(slice.begin_s);
    const std::int64_t length = lengths.of(begin, whole_nanoseconds(slice.end_s));
    begin_event();
    fmt::format_to(std::back_inserter(text_), R"({{"ph":"X","pid":{},"tid":{},"ts":{},"dur":{},{}{}{}}}}})", pid, tid,
                   microseconds(begin), microseconds(length), name, label, slice.iteration);
  }
  void count(std::int64_t pid, double at_s, const std::string& name, double bytes) {
    begin_event();
    fmt::format_to(std::back_inserter(text_), R"({{"ph":"C","pid":{},"ts":{},"name":{},"args":{{"bytes":{}}}}})", pid,
                   microseconds(whole_nanoseconds(at_s)), trace_json_text(name), trace_json_text(bytes));
  }
  std::string take() { return "{\"displayTimeUnit\":\"ms\",\"traceEvents\":[" + text_ + "\n]}\n"; }

 private:
  void begin_event() {
    text_ += first_ ? "\n" : ",\n";
    first_ = false;
  }
  void add(const std::string& event) {
    begin_event();
    text_ += event;
  }

  std::string text_;
  bool first_ = true;
};

void write_tracks(TraceEvents& events, const TraceProcess& process, std::int64_t pid) {
  std::vector<std::string> labels;
  for (const TraceLabel& label : process.labels) labels.push_back(label_text(label, process.is_measured));
  const std::string_view iteration = process.is_measured ? "iteration " : "ProfilerStep#";
  for (const TraceTrack& track : process.tracks) {
    const std::int64_t tid = trace_thread_number(pid, track);
    events.metadata("thread_name", pid, tid, "name", track.name);
    events.metadata("thread_sort_index", pid, tid, "sort_index", track.number);
    Lengths lengths;
    for (const TraceSlice& slice : track.slices) {
      const std::string_view name = process.labels[slice.label].op ? "" : iteration;
      events.slice(pid, tid, slice, labels[slice.label], name, lengths);
    }
  }
}

}  // namespace

std::string chrome_trace(const TraceFile& trace) {
  TraceEvents events;
  for (std::size_t i = 0; i < trace.processes.size(); ++i) {
    const TraceProcess& process = trace.processes[i];
    const std::int64_t pid = trace_process_number(i);
    events.metadata("process_name", pid, pid, "name", trace_process_name(process));
    events.metadata("process_sort_index", pid, pid, "sort_index", i);
    write_tracks(events, process, pid);
    for (const TraceCounter& counter : process.counters) {
      for (std::size_t k = 0; k < counter.values.size(); ++k) {
        events.count(pid, counter.at_s[k], counter.name, counter.values[k]);
      }
    }
  }
  return events.take();
}

}  // namespace infermeter
