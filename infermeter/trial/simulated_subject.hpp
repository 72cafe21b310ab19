// For tests: a clock that moves only when something is done, and a back end in this process that moves it.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "infermeter/trial/trial_steps.hpp"

namespace infermeter::test {

struct World {
  std::uint64_t now_ns = 1000;
  std::uint64_t reading_ns = 0;  // a clock reading moves the clock by this
  std::uint64_t run_ns = 250;
  std::uint64_t synchronize_ns = 0;
  std::uint64_t bind_ns = 7000;  // must never show up in a latency
  int runs = 0, binds = 0;
  int fail_at = -1;  // this run, from 0
  imb_status fail_with = IMB_RUN_ERROR;
  int interrupt_at = -1;
  SampleBlock* block = nullptr;
  std::vector<unsigned char> bound;  // first input byte of each run
  float output[2] = {1, 2};
  bool drifting_output = false, constant_output = false;
  std::string executed_dtype = "float32", executed_threads, concurrent_inferences;
  int counters_of_a_name = 1;
  bool counters_fail = false;
  std::vector<std::uint64_t> parts_ns;  // of each answer, from its begin; empty: the table has no such slot
  std::int64_t reported_tokens = -1;
  std::vector<std::int64_t> moments_ns;  // of the last answer
  std::string message = "it was told to";
};
inline World* world = nullptr;

struct SimulatedClock {
  [[nodiscard]] std::uint64_t now() const { return world->now_ns += world->reading_ns; }
};

inline imb_status say(imb_message message, const std::string& text, imb_status status) {
  std::strncpy(message.text, text.c_str(), message.capacity - 1);
  return status;
}

// The table's functions: as little as the ABI asks for.
namespace table {
inline const char* const devices[] = {"cpu", "cuda"};
inline const char* const dtypes[] = {"float32"};
inline const imb_option options[] = {{"graph_optimization", "none|all", "how much"}};
inline const imb_runtime_info info = {sizeof(imb_runtime_info),
                                      "simulated",
                                      "Simulated",
                                      "1.2",
                                      "/lib/simulated.so",
                                      "sim",
                                      2,
                                      devices,
                                      1,
                                      dtypes,
                                      1,
                                      options,
                                      1};
inline const std::int64_t shape[] = {2};
inline const imb_port port = {"x", IMB_TENSOR, 0, IMB_FLOAT32, 1, 1, shape, nullptr};

inline imb_status open_runtime(const imb_environment*, imb_runtime** runtime, imb_message) {
  *runtime = reinterpret_cast<imb_runtime*>(world);
  return IMB_OK;
}
inline const imb_runtime_info* runtime_info(imb_runtime*) { return &info; }
inline void close_runtime(imb_runtime*) {}
inline imb_status load(imb_runtime*, const imb_load*, imb_session** session, imb_message) {
  world->now_ns += 5'000'000;
  *session = reinterpret_cast<imb_session*>(world);
  return IMB_OK;
}
inline imb_status compile(imb_session*, imb_message) {
  world->now_ns += 3'000'000;
  return IMB_OK;
}
inline void close(imb_session*) {}
inline std::size_t one(imb_session*) { return 1; }
inline const imb_port* port_at(imb_session*, std::size_t) { return &port; }
inline imb_status create_request(imb_session*, imb_request** request, imb_message) {
  *request = reinterpret_cast<imb_request*>(world);
  return IMB_OK;
}
inline void destroy_request(imb_request*) {}
inline imb_status bind_input(imb_request*, std::size_t, const imb_value* value, imb_message) {
  world->now_ns += world->bind_ns;
  ++world->binds;
  world->output[0] = static_cast<float>(*static_cast<const unsigned char*>(value->data));
  return IMB_OK;
}
inline imb_status run(imb_request*, imb_message message) {
  const int number = world->runs++;
  if (number == world->interrupt_at) world->block->header().interrupt = 1;
  if (number == world->fail_at) return say(message, world->message, world->fail_with);
  world->moments_ns.clear();
  for (const std::uint64_t part_ns : world->parts_ns)
    world->moments_ns.push_back(static_cast<std::int64_t>(world->now_ns + part_ns));
  world->now_ns += world->run_ns;
  world->bound.push_back(static_cast<unsigned char>(world->output[0]));
  if (world->drifting_output) world->output[1] += 1;
  return IMB_OK;
}
inline imb_status output_value(imb_request*, std::size_t, imb_value* value, imb_message) {
  static const float constant[] = {4, 4};
  *value = {IMB_TENSOR, IMB_FLOAT32, 1, shape,  world->constant_output ? constant : world->output,
            8,          nullptr,     0, nullptr};
  return IMB_OK;
}
inline imb_status synchronize(imb_session*, imb_message) {
  world->now_ns += world->synchronize_ns;
  return IMB_OK;
}
inline imb_status executed(imb_session*, imb_pair_sink sink, void* user, imb_message) {
  sink(user, "dtype", world->executed_dtype.c_str());
  if (!world->executed_threads.empty()) sink(user, "threads", world->executed_threads.c_str());
  if (!world->concurrent_inferences.empty()) sink(user, "concurrent_inferences", world->concurrent_inferences.c_str());
  return IMB_OK;
}
inline imb_status device_memory(imb_session*, std::uint64_t* now, std::uint64_t* peak, imb_message) {
  *now = 10;
  *peak = 20;
  return IMB_OK;
}
inline imb_status parts(imb_request*, imb_parts* parts, imb_message) {
  parts->part_count = world->moments_ns.size();
  parts->moments_ns = world->moments_ns.data();
  parts->output_tokens = world->reported_tokens;
  parts->prompt_tokens = 7;
  return IMB_OK;
}
inline imb_status counters(imb_session*, imb_number_sink sink, void* user, imb_message message) {
  for (int i = 0; i < world->counters_of_a_name; ++i) sink(user, "hit_rate", "1", 0.83 + i);
  return world->counters_fail ? say(message, world->message, IMB_RUN_ERROR) : IMB_OK;
}
}  // namespace table

inline imb_backend simulated_backend() {
  imb_backend backend{};
  backend.abi_version = IMB_ABI_VERSION;
  backend.struct_size = sizeof backend;
  backend.open_runtime = table::open_runtime;
  backend.runtime_info = table::runtime_info;
  backend.close_runtime = table::close_runtime;
  backend.load = table::load;
  backend.compile = table::compile;
  backend.close = table::close;
  backend.input_count = backend.output_count = table::one;
  backend.input = backend.output = table::port_at;
  backend.create_request = table::create_request;
  backend.destroy_request = table::destroy_request;
  backend.bind_input = table::bind_input;
  backend.run = table::run;
  backend.output_value = table::output_value;
  backend.synchronize = table::synchronize;
  backend.executed = table::executed;
  backend.device_memory = table::device_memory;
  backend.counters = table::counters;
  return backend;
}

// A whole trial on simulated time. Items differ in their first byte: 0, 1, …
struct SimulatedTrial {
  World own_world;
  imb_backend backend = simulated_backend();
  TrialRequest request;
  std::size_t items = 1;
  int kept = 0;
  std::vector<int> runs_around_loop;  // inferences so far, right before the timed loop and right after it

  SimulatedTrial() {
    world = &own_world;
    request.subject.backend = "simulated";
    request.subject.threads = 1;
    request.model_path = "model.sim";
    request.stopping = {.warmup = 3, .iterations = 10, .duration_s = {}};
  }

  TrialOutcome run() {
    const SampleCapacity capacity = SampleBlock::capacity_for(request.stopping, request.time_it);
    const std::size_t bytes = SampleBlock::bytes_for(capacity);
    memory_.reset(new (std::align_val_t{4096}) std::byte[bytes]());
    block_.emplace(SampleBlock::create({memory_.get(), bytes}, capacity, ClockKind::monotonic,
                                       {own_world.now_ns, own_world.now_ns}));
    own_world.block = &*block_;
    if (!own_world.parts_ns.empty()) backend.parts = table::parts;
    TrialHost host;
    host.data = [this](auto, auto) -> Result<std::vector<ItemValues>> { return make_items(); };
    host.keep = [this](const Samples&) { ++kept; };
    host.before_timed = [this] { return note_runs(); };
    host.after_timed = [this] { return note_runs(); };
    Trial<SimulatedClock, SimulatedClock> trial(backend, request, host, *block_, probe_);
    return trial.run();
  }

  [[nodiscard]] const SampleBlock& block() const { return *block_; }

 private:
  std::vector<Diagnostic> note_runs() {
    runs_around_loop.push_back(own_world.runs);
    return {{DiagnosticId::no_python_profile, "none", {}}};
  }
  [[nodiscard]] std::vector<ItemValues> make_items() const {
    std::vector<ItemValues> values;
    for (std::size_t i = 0; i < items; ++i) {
      float numbers[2] = {0, 0};
      std::memset(numbers, static_cast<int>(i), 1);
      values.push_back(
          {{.kind = Value::Kind::tensor, .tensor = make_tensor<float>(DType::float32, {2}, numbers), .elements = {}}});
    }
    return values;
  }

  struct Free {
    void operator()(std::byte* bytes) const { operator delete[](bytes, std::align_val_t{4096}); }
  };
  std::unique_ptr<std::byte[], Free> memory_;
  std::optional<SampleBlock> block_;
  MemoryProbe probe_;
};

}  // namespace infermeter::test
