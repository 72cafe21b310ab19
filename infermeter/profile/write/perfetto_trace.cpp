// Message and field numbers: Perfetto's protos/perfetto/trace/*.proto, which keep them for ever.
#include <cmath>
#include <cstdint>
#include <map>
#include <protozero/pbf_writer.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "infermeter/profile/write/trace_numbers.hpp"
#include "infermeter/profile/write/trace_writers.hpp"

namespace infermeter {
namespace {

using protozero::pbf_writer;

namespace trace_field {
constexpr protozero::pbf_tag_type packet = 1;
}
namespace packet_field {
constexpr protozero::pbf_tag_type timestamp = 8, sequence_id = 10, track_event = 11, interned_data = 12,
                                  sequence_flags = 13, track_descriptor = 60;
constexpr std::uint32_t incremental_state_cleared = 1, needs_incremental_state = 2;
}  // namespace packet_field
namespace descriptor_field {
constexpr protozero::pbf_tag_type uuid = 1, name = 2, process = 3, thread = 4, parent_uuid = 5, counter = 8;
constexpr protozero::pbf_tag_type process_pid = 1, process_name = 6;
constexpr protozero::pbf_tag_type thread_pid = 1, thread_tid = 2, thread_name = 5;
constexpr protozero::pbf_tag_type counter_unit = 3;
constexpr std::int32_t unit_bytes = 3;
}  // namespace descriptor_field
namespace event_field {
constexpr protozero::pbf_tag_type category_iids = 3, debug_annotations = 4, type = 9, name_iid = 10, track_uuid = 11,
                                  double_counter_value = 44;
constexpr std::int32_t slice_begin = 1, slice_end = 2, counter = 4;
}  // namespace event_field
namespace annotation_field {
constexpr protozero::pbf_tag_type name_iid = 1, int_value = 4, double_value = 5, string_value_iid = 17;
}
namespace interned_field {
constexpr protozero::pbf_tag_type event_categories = 1, event_names = 2, annotation_names = 3, annotation_strings = 29;
constexpr protozero::pbf_tag_type iid = 1, text = 2;  // of each of them
}  // namespace interned_field

// Texts that events refer to by number, from 1.
class Interned {
 public:
  explicit Interned(protozero::pbf_tag_type field) : field_(field) {}
  std::uint64_t number(const std::string& text) { return numbers_.emplace(text, numbers_.size() + 1).first->second; }
  void write(pbf_writer& data) const {
    for (const auto& [text, number] : numbers_) {
      pbf_writer entry(data, field_);
      entry.add_uint64(interned_field::iid, number);
      entry.add_string(interned_field::text, text);
    }
  }

 private:
  protozero::pbf_tag_type field_;
  std::map<std::string, std::uint64_t> numbers_;
};

// The packets of one process: a sequence of its own, with its own interned texts.
class ProcessPackets {
 public:
  ProcessPackets(std::string& out, const TraceProcess& process, std::size_t index)
      : trace_(out),
        process_(process),
        sequence_(static_cast<std::uint32_t>(index + 1)),
        pid_(trace_process_number(index)),
        uuid_((std::uint64_t{index} + 1) << 32U) {}

  void write() {
    intern();
    describe_process();
    for (const TraceTrack& track : process_.tracks) write_track(track);
    for (std::size_t i = 0; i < process_.counters.size(); ++i) write_counter(process_.counters[i], i);
  }

 private:
  void packet(protozero::pbf_tag_type field, const std::string& message, std::uint32_t flags, std::int64_t at_ns = -1) {
    pbf_writer packet(trace_, trace_field::packet);
    if (at_ns >= 0) packet.add_uint64(packet_field::timestamp, static_cast<std::uint64_t>(at_ns));
    packet.add_uint32(packet_field::sequence_id, sequence_);
    packet.add_message(field, message);
    packet.add_uint32(packet_field::sequence_flags, flags);
  }
  void event(const std::string& message, std::int64_t at_ns) {
    packet(packet_field::track_event, message, packet_field::needs_incremental_state, at_ns);
  }
  void descriptor(const std::string& message) {
    packet(packet_field::track_descriptor, message, packet_field::needs_incremental_state);
  }

  // What all begins of a label's slices say, in bytes: fields of a message may stand in any order.
  std::string label_bytes(const TraceLabel& label) {
    std::string bytes;
    pbf_writer event(bytes);
    event.add_uint64(event_field::category_iids, categories_.number(label.category));
    event.add_uint64(event_field::name_iid, names_.number(label.name));
    for (const auto& [key, text] : label.texts) {
      pbf_writer annotation(event, event_field::debug_annotations);
      annotation.add_uint64(annotation_field::name_iid, keys_.number(key));
      annotation.add_uint64(annotation_field::string_value_iid, texts_.number(text));
    }
    for (const auto& [key, number] : label.numbers) add_number(event, keys_.number(key), number);
    return bytes;
  }
  static void add_number(pbf_writer& event, std::uint64_t key, double number) {
    pbf_writer annotation(event, event_field::debug_annotations);
    annotation.add_uint64(annotation_field::name_iid, key);
    const bool is_whole = std::abs(number) < 9e15 && number == std::floor(number);
    if (is_whole) annotation.add_int64(annotation_field::int_value, static_cast<std::int64_t>(number));
    if (!is_whole) annotation.add_double(annotation_field::double_value, number);
  }

  void intern() {
    iteration_key_ = keys_.number("iteration");
    for (const TraceLabel& label : process_.labels) labels_.push_back(label_bytes(label));
    std::string data;
    pbf_writer writer(data);
    for (const Interned* interned : {&categories_, &names_, &keys_, &texts_}) interned->write(writer);
    packet(packet_field::interned_data, data,
           packet_field::incremental_state_cleared | packet_field::needs_incremental_state);
  }

  void describe_process() {
    std::string message;
    {
      pbf_writer writer(message);
      writer.add_uint64(descriptor_field::uuid, uuid_);
      pbf_writer process(writer, descriptor_field::process);
      process.add_int32(descriptor_field::process_pid, static_cast<std::int32_t>(pid_));
      process.add_string(descriptor_field::process_name, trace_process_name(process_));
    }
    descriptor(message);
  }

  std::uint64_t describe_thread(const TraceTrack& track) {
    const std::uint64_t uuid = uuid_ + 1 + track.number;
    std::string message;
    {
      pbf_writer writer(message);
      writer.add_uint64(descriptor_field::uuid, uuid);
      writer.add_uint64(descriptor_field::parent_uuid, uuid_);
      pbf_writer thread(writer, descriptor_field::thread);
      thread.add_int32(descriptor_field::thread_pid, static_cast<std::int32_t>(pid_));
      thread.add_int64(descriptor_field::thread_tid, trace_thread_number(pid_, track));
      thread.add_string(descriptor_field::thread_name, track.name);
    }
    descriptor(message);
    return uuid;
  }

  void write_track(const TraceTrack& track) {
    const std::uint64_t uuid = describe_thread(track);
    for (const TraceEdge& edge : edges_of(track)) {
      const TraceSlice& slice = track.slices[edge.slice];
      std::string message = edge.begins ? labels_[slice.label] : std::string();
      pbf_writer writer(message);
      writer.add_enum(event_field::type, edge.begins ? event_field::slice_begin : event_field::slice_end);
      writer.add_uint64(event_field::track_uuid, uuid);
      if (edge.begins) add_number(writer, iteration_key_, slice.iteration);
      event(message, whole_nanoseconds(edge.begins ? slice.begin_s : slice.end_s));
    }
  }

  void write_counter(const TraceCounter& counter, std::size_t index) {
    const std::uint64_t uuid = uuid_ + (1U << 20U) + index;
    std::string message;
    {
      pbf_writer writer(message);
      writer.add_uint64(descriptor_field::uuid, uuid);
      writer.add_uint64(descriptor_field::parent_uuid, uuid_);
      writer.add_string(descriptor_field::name, counter.name);
      pbf_writer unit(writer, descriptor_field::counter);
      unit.add_enum(descriptor_field::counter_unit, descriptor_field::unit_bytes);
    }
    descriptor(message);
    for (std::size_t i = 0; i < counter.values.size(); ++i) {
      std::string value;
      pbf_writer writer(value);
      writer.add_enum(event_field::type, event_field::counter);
      writer.add_uint64(event_field::track_uuid, uuid);
      writer.add_double(event_field::double_counter_value, counter.values[i]);
      event(value, whole_nanoseconds(counter.at_s[i]));
    }
  }

  pbf_writer trace_;
  const TraceProcess& process_;
  std::uint32_t sequence_;
  std::int64_t pid_;
  std::uint64_t uuid_;  // of the process's track; its threads' and counters' follow
  Interned categories_{interned_field::event_categories}, names_{interned_field::event_names},
      keys_{interned_field::annotation_names}, texts_{interned_field::annotation_strings};
  std::uint64_t iteration_key_ = 0;
  std::vector<std::string> labels_;
};

}  // namespace

std::string perfetto_trace(const TraceFile& trace) {
  std::string bytes;
  for (std::size_t i = 0; i < trace.processes.size(); ++i) ProcessPackets(bytes, trace.processes[i], i).write();
  return bytes;
}

}  // namespace infermeter
