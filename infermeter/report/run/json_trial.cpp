#include <fmt/format.h>

#include <string>
#include <type_traits>

#include "infermeter/report/run/json_parts.hpp"
#include "infermeter/samples/samples_json.hpp"
#include "infermeter/samples/trial_fields.hpp"
#include "infermeter/text/utc_time.hpp"

namespace infermeter {
namespace {

void write_memory(JsonWriter& json, const MemoryRecord& memory) {
  json.key("memory");
  json.begin_object();
  memory_fields([&](const char* name, auto member, const char*) {
    constexpr bool is_flag = std::is_same_v<decltype(member), bool MemoryRecord::*>;
    json.member(std::string(name) + (is_flag ? "" : "_bytes"), memory.*member);
  });
  json.end_object();
}

void write_memory_timeline(JsonWriter& json, std::size_t recorded, const std::vector<MemoryPoint>& points) {
  std::vector<double> at_s, rss_bytes;
  std::vector<std::string> phases;
  for (const MemoryPoint& point : points) {
    at_s.push_back(point.at_s);
    rss_bytes.push_back(static_cast<double>(point.rss_bytes));
    phases.emplace_back(to_string(point.phase));
  }
  json.key("memory_timeline");
  json.begin_object();
  json.member("recorded", std::uint64_t{recorded});
  json.numbers("at_s", at_s);
  json.strings("phase", phases);
  json.numbers("rss_bytes", rss_bytes);
  json.end_object();
}

void write_noise(JsonWriter& json, const NoiseRecord& noise) {
  json.key("noise");
  json.begin_object();
  noise_fields([&](const char* name, auto member, const char*) { json.member(name, noise.*member); });
  json.end_object();
}

void write_clock(JsonWriter& json, const ClockRecord& clock) {
  json.key("clock");
  json.begin_object();
  clock_fields([&](const char* name, auto member, const char*) { json.member(name, clock.*member); });
  json.end_object();
}

void write_trial_counters(JsonWriter& json, const std::vector<Counter>& counters) {
  json.key("counters");
  json.begin_array();
  for (const auto& counter : counters) {
    json.begin_object();
    json.member("name", counter.name);
    json.member("unit", counter.unit);
    json.member("value", counter.value);
    json.end_object();
  }
  json.end_array();
}

void write_output_facts(JsonWriter& json, const std::vector<OutputFacts>& outputs) {
  json.key("outputs");
  json.begin_array();
  for (const auto& output : outputs) {
    json.begin_object();
    json.member("name", output.name);
    json.member("dtype", output.dtype);
    json.key("shape");
    json.begin_array();
    for (const auto dimension : output.shape) json.value(dimension);
    json.end_array();
    json.member("element_count", output.element_count);
    json.member("nan_count", output.nan_count);
    json.member("inf_count", output.inf_count);
    json.member("batch_axis", output.batch_axis);
    json.end_object();
  }
  json.end_array();
}

void write_times(JsonWriter& json, std::string_view name, const IterationTimes& times) {
  json.key(name);
  json.begin_object();
  json.numbers("begin_s", times.begin_s);
  json.numbers("latency_s", times.latency_s);
  json.end_object();
}

void write_end(JsonWriter& json, const Samples& trial) {
  json.member("end", to_string(trial.end));
  json.member("phase", to_string(trial.phase));
  json.member("signal", trial.signal == 0 ? std::nullopt : std::optional(trial.signal));
  json.member("message", trial.message);
  json.member("usage", trial.usage);
  json.member("stderr_tail", trial.stderr_tail);
}

void write_start_up(JsonWriter& json, const Samples& trial) {
  json.member("open_s", trial.open_s);
  json.member("load_s", trial.load_s);
  json.member("compile_s", trial.compile_s);
  json.member("first_inference_s", trial.first_inference_s);
  json.member("ready_s", trial.ready_s);
}

// As text: numbers of 64 bits do not survive most JSON readers.
std::string digest_text(std::uint64_t digest) { return fmt::format("{:016x}", digest); }

}  // namespace

void write_trial(JsonWriter& json, const Samples& trial, const TrialIterations* iterations) {
  json.begin_object();
  json.member("subject", trial.subject);
  json.member("process", trial.process);
  json.member("position", trial.position);
  json.member("purpose", to_string(trial.purpose));
  json.member("started_at", utc_time(trial.started_at));
  json.member("wall_s", trial.wall_s);
  write_end(json, trial);
  write_start_up(json, trial);
  json.member("iterations", std::uint64_t{trial.iterations()});
  json.member("warmup_iterations", trial.warmups());
  json.member("items_per_iteration", trial.items_per_iteration);
  write_clock(json, trial.clock);
  write_memory(json, trial.memory);
  write_memory_timeline(json, trial.memory_timeline.size(),
                        iterations != nullptr ? iterations->memory_timeline : drawn_memory(trial.memory_timeline));
  write_noise(json, trial.noise);
  json.member("energy_j", trial.energy.energy_j);
  json.object("executed", trial.executed);
  write_trial_counters(json, trial.counters);
  write_output_facts(json, trial.outputs);
  json.member("input_digest", digest_text(trial.input_digest));
  json.member("output_digest", digest_text(trial.output_digest));
  write_diagnostics(json, trial.diagnostics, !trial.host_process.empty());
  if (iterations != nullptr) {
    write_times(json, "warmup_samples", iterations->warmup);
    write_times(json, "samples", iterations->timed);
    json.numbers("memory_after_iteration_bytes", iterations->memory_bytes);
    if (trial.load && iterations->of_load) {
      json.key("load");
      json.embed(load_to_json(*trial.load));
    }
    if (trial.generation) {
      json.key("generation");
      json.embed(generation_to_json(*trial.generation));
    }
  }
  json.end_object();
}

}  // namespace infermeter
