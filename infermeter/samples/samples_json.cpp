#include "infermeter/samples/samples_json.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <tuple>

#include "infermeter/diagnostics/diagnostic_fields.hpp"
#include "infermeter/diagnostics/json_fields.hpp"
#include "infermeter/samples/generation/generation_counters.hpp"
#include "infermeter/samples/load/check_load_record.hpp"
#include "infermeter/samples/trial_fields.hpp"

namespace infermeter {

bool name_to_value(std::string_view name, TrialEnd& value) { return take_value(trial_end_from_string(name), value); }

bool name_to_value(std::string_view name, Purpose& value) { return take_value(purpose_from_string(name), value); }

bool name_to_value(std::string_view name, Phase& value) { return take_value(phase_from_string(name), value); }

template <class V, MaybeConst<MemoryRecord> S>
void visit_fields(V& v, S& s) {
  memory_fields([&](const char* name, auto member, const char*) { v.field(name, s.*member); });
}

template <class V, MaybeConst<NoiseRecord> S>
void visit_fields(V& v, S& s) {
  noise_fields([&](const char* name, auto member, const char*) { v.field(name, s.*member); });
}

template <class V, MaybeConst<EnergyRecord> S>
void visit_fields(V& v, S& s) {
  v.field("energy_j", s.energy_j);
  v.field("reason", s.reason);
}

template <class V, MaybeConst<ClockRecord> S>
void visit_fields(V& v, S& s) {
  clock_fields([&](const char* name, auto member, const char*) { v.field(name, s.*member); });
  v.field("origin_monotonic_ns", s.origin_monotonic_ns);
  v.field("realtime_ahead_ns", s.realtime_ahead_ns);
  v.field("realtime_slip_ns", s.realtime_slip_ns);
}

template <class V, MaybeConst<MemoryPoint> S>
void visit_fields(V& v, S& s) {
  v.field("at_s", s.at_s);
  v.field("phase", s.phase);
  v.field("rss_bytes", s.rss_bytes);
}

template <class V, MaybeConst<Counter> S>
void visit_fields(V& v, S& s) {
  v.required("name", s.name);
  v.field("unit", s.unit);
  v.field("value", s.value);
}

template <class V, MaybeConst<OutputFacts> S>
void visit_fields(V& v, S& s) {
  v.field("name", s.name);
  v.field("dtype", s.dtype);
  v.field("shape", s.shape);
  v.field("nan_count", s.nan_count);
  v.field("inf_count", s.inf_count);
  v.field("batch_axis", s.batch_axis);
  v.field("element_count", s.element_count);
}

template <class V, MaybeConst<HistogramRecord> S>
void visit_fields(V& v, S& s) {
  v.field("tick_s", s.tick_s);
  v.field("counts", s.counts);
}

template <class V, MaybeConst<LoadBin> S>
void visit_fields(V& v, S& s) {
  v.field("arrived", s.arrived);
  v.field("completed", s.completed);
  v.field("failed", s.failed);
  v.field("in_flight", s.in_flight);
  v.field("slowest_s", s.slowest_s);
}

template <class V, MaybeConst<LoadStepRecord> S>
void visit_fields(V& v, S& s) {
  v.field("rate", s.rate);
  v.field("requests", s.requests);
  v.field("response_s", s.response_s);
  v.field("met", s.met);
}

template <class V, MaybeConst<LoadRecord> S>
void visit_fields(V& v, S& s) {
  v.field("open_loop", s.open_loop);
  v.field("clients", s.clients);
  v.field("samples", s.samples);
  v.field("due", s.due);
  v.field("issued", s.issued);
  v.field("completed", s.completed);
  v.field("failed", s.failed);
  v.where_there("good", s.good);
  v.field("kept", s.kept);
  v.field("arrivals_s", s.arrivals_s);
  v.field("duration_s", s.duration_s);
  v.field("gave_up", s.gave_up);
  v.field("response", s.response);
  v.field("service", s.service);
  v.field("lag", s.lag);
  v.field("late", s.late);
  v.field("bin_s", s.bin_s);
  v.field("timeline", s.timeline);
  v.field("checked", s.checked);
  v.field("mismatched", s.mismatched);
  v.field("largest_difference", s.largest_difference);
  v.field("max_rate", s.max_rate);
  v.field("steps", s.steps);
  v.field("errors", s.errors);
  v.field("error_kinds", s.error_kinds);
}

template <class V, MaybeConst<TimesOfTokens> S>
void visit_fields(V& v, S& s) {
  v.field("first", s.first);
  v.field("last", s.last);
  v.field("tokens_mean", s.tokens_mean);
  v.field("count", s.count);
  v.field("p50_s", s.p50_s);
  v.field("p90_s", s.p90_s);
}

template <class V, MaybeConst<GenerationRecord> S>
void visit_fields(V& v, S& s) {
  v.field("answers", s.answers);
  v.field("parts", s.parts);
  v.field("counted", s.counted);
  v.field("output_tokens", s.output_tokens);
  v.field("counted_by_server", s.counted_by_server);
  v.field("prompts_counted", s.prompts_counted);
  v.field("prompt_tokens", s.prompt_tokens);
  v.field("duration_s", s.duration_s);
  v.field("ttft", s.ttft);
  v.field("itl", s.itl);
  v.field("tpot", s.tpot);
  v.field("itl_by_position", s.itl_by_position);
  v.field("ttft_by_prompt", s.ttft_by_prompt);
}

template <class V, MaybeConst<Samples> S>
void visit_fields(V& v, S& s) {
  v.required("subject", s.subject);
  v.required("process", s.process);
  v.field("host_process", s.host_process);
  v.field("position", s.position);
  v.field("purpose", s.purpose);
  v.field("started_at", s.started_at);
  v.field("wall_s", s.wall_s);
  v.required("end", s.end);
  v.required("phase", s.phase);
  v.field("signal", s.signal);
  v.field("message", s.message);
  v.field("usage", s.usage);
  v.field("stderr_tail", s.stderr_tail);
  v.field("open_s", s.open_s);
  v.field("load_s", s.load_s);
  v.field("compile_s", s.compile_s);
  v.field("first_inference_s", s.first_inference_s);
  v.field("ready_s", s.ready_s);
  v.field("items_per_iteration", s.items_per_iteration);
  v.field("warmup_iterations", s.warmup_iterations);
  v.where_there("load", s.load);
  v.where_there("generation", s.generation);
  v.field("memory_bytes", s.memory_bytes);
  v.field("memory_timeline", s.memory_timeline);
  v.field("clock", s.clock);
  v.field("memory", s.memory);
  v.field("noise", s.noise);
  v.field("energy", s.energy);
  v.field("executed", s.executed);
  v.field("counters", s.counters);
  v.field("outputs", s.outputs);
  v.field("input_digest", s.input_digest);
  v.field("output_digest", s.output_digest);
  v.field("diagnostics", s.diagnostics);
}

template <class V, MaybeConst<Cache> S>
void visit_fields(V& v, S& s) {
  v.field("kind", s.kind);
  v.field("size_bytes", s.size_bytes);
  v.field("shared_by", s.shared_by);
}

template <class V, MaybeConst<Environment> S>
void visit_fields(V& v, S& s) {
  v.field("processor", s.processor);
  v.field("architecture", s.architecture);
  v.field("flags", s.flags);
  v.field("processors_online", s.processors_online);
  v.field("processors_usable", s.processors_usable);
  v.field("quota_processors", s.quota_processors);
  v.field("cores", s.cores);
  v.field("sockets", s.sockets);
  v.field("numa_nodes", s.numa_nodes);
  v.field("smt_active", s.smt_active);
  v.field("caches", s.caches);
  v.field("memory_total_bytes", s.memory_total_bytes);
  v.field("memory_available_bytes", s.memory_available_bytes);
  v.field("swap_used_bytes", s.swap_used_bytes);
  v.field("governor", s.governor);
  v.field("turbo", s.turbo);
  v.field("aslr", s.aslr);
  v.field("virtualization", s.virtualization);
  v.field("kernel", s.kernel);
  v.field("distribution", s.distribution);
  v.field("hostname", s.hostname);
  v.field("load_1min", s.load_1min);
  v.field("perf_event_paranoid", s.perf_event_paranoid);
  v.field("hardware_counters", s.hardware_counters);
  v.field("invariant_tsc", s.invariant_tsc);
  v.field("landlock_abi", s.landlock_abi);
  v.field("seccomp", s.seccomp);
  v.field("cgroup_v2", s.cgroup_v2);
  v.field("infermeter_version", s.infermeter_version);
  v.field("build", s.build);
  v.field("git_commit", s.git_commit);
  v.field("command", s.command);
}

std::string samples_to_json(const Samples& samples) { return structure_to_json(samples); }

std::string load_to_json(const LoadRecord& load) { return structure_to_json(load); }

std::string generation_to_json(const GenerationRecord& generation) { return structure_to_json(generation); }

// Reports compare each with each. Workers and stores may be anybody's.
Result<Samples> samples_from_json(std::string_view text) {
  INFERMETER_TRY(Samples samples, structure_from_json<Samples>(text, "the record of a trial"));
  const std::tuple<std::string_view, std::size_t, std::size_t> lists[] = {
      {"counters", samples.counters.size(), kMostCounters},
      {"diagnostics", samples.diagnostics.size(), kMostTrialDiagnostics},
      {"facts of what was executed", samples.executed.size(), kMostExecutedFacts},
      {"outputs", samples.outputs.size(), kMostOutputs}};
  for (const auto& [what, count, most] : lists) {
    if (count > most) return io_error(fmt::format("the record of a trial has {} {}, more than {}", count, what, most));
  }
  std::optional<std::string> wrong = samples.load ? wrong_in_load_record(*samples.load) : std::nullopt;
  if (!wrong && samples.generation) wrong = wrong_in_generation_record(*samples.generation);
  if (wrong) return io_error(fmt::format("the record of a trial cannot be read: {}", *wrong));
  return samples;
}

// Nodes have none of their own, however deep a file says that they go. Nothing is written of none.
struct NodeList {
  std::vector<Environment> nodes;
};

template <class V, MaybeConst<NodeList> S>
void visit_fields(V& v, S& s) {
  v.field("nodes", s.nodes);
}

std::string environment_to_json(const Environment& environment) {
  if (environment.nodes.empty()) return structure_to_json(environment);
  Json all = json_of(environment);
  all["nodes"] = json_of(environment.nodes);
  return all.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::vector<std::string> what_nodes_differ_in(const Environment& environment) {
  constexpr std::array<std::string_view, 6> of_the_moment = {"hostname",        "load_1min", "memory_available_bytes",
                                                             "swap_used_bytes", "command",   "git_commit"};
  std::vector<std::string> names;
  if (environment.nodes.empty()) return names;
  const Json first = json_of(environment.nodes.front());
  for (const auto& [name, value] : first.items()) {
    if (std::ranges::find(of_the_moment, name) != of_the_moment.end()) continue;
    const auto differs = [&](const Environment& node) { return json_of(node)[name] != value; };
    if (std::ranges::any_of(environment.nodes, differs)) names.push_back(name);
  }
  return names;
}

Result<Environment> environment_from_json(std::string_view text) {
  INFERMETER_TRY(auto environment, structure_from_json<Environment>(text, "the record of the environment"));
  INFERMETER_TRY(auto list, structure_from_json<NodeList>(text, "the record of the environment"));
  environment.nodes = std::move(list.nodes);
  return environment;
}

static_assert(std::endian::native == std::endian::little, "the doubles of a file are little-endian");

Result<std::vector<double>> doubles_from_bytes(std::span<const std::byte> bytes) {
  if (bytes.size() % sizeof(double) != 0) {
    return io_error("an array of times is " + std::to_string(bytes.size()) +
                    " bytes long, which is not a multiple of 8; it may have been cut");
  }
  std::vector<double> values(bytes.size() / sizeof(double));
  if (!values.empty()) std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

}  // namespace infermeter
