// fake: a test instrument. It runs no model; it passes time, does sums, uses memory, answers and misbehaves exactly as
// its options say, so that everything else can be tested against what is known. Reads bottom-up.
#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <memory>
#include <random>

#include "compute.hpp"
#include "infermeter_backend.h"
#include "sdk/abi_edge.hpp"
#include "sdk/dimensions.hpp"
#include "sdk/processors.hpp"
#include "sdk/profile_folder.hpp"
#include "settings.hpp"

using namespace infermeter;  // the ABI's struct tags are global names

struct imb_runtime {
  std::vector<imb_option> options = listed_options(option_rows());
  imb_runtime_info info{};
};

struct imb_session {
  Settings settings;
  std::string device, dtype;
  int threads = 1;
  std::vector<std::unique_ptr<Port>> inputs, outputs;
  std::int64_t batch = 1;
  std::size_t batch_input = 0, batch_axis = 0;  // where it is; no such input: there is none

  bool plain = true;  // an inference is nothing at all
  Work work = Work::none;
  double process_factor = 1;
  std::uint64_t seed = 1;
  std::atomic<std::uint64_t> requests = 0, inferences = 0;  // requests may be used by a thread each
  std::atomic<std::int64_t> device_busy_until_ns = 0;
  std::vector<std::pair<std::string, double>> attempts;

  std::string profile_folder;
  std::uint64_t profiled_from = 0;  // inferences before the profile began
};

struct imb_request {
  imb_session* session;
  std::vector<InputBytes> bytes;
  std::vector<bool> bound;
  std::mt19937_64 random;
  Computation computation;
  std::int64_t batch = 1;
  OutputBuffer output;
  bool done = false;
  std::int64_t ready_at_ns = 0;
  std::uint64_t outputs_asked = 0;
};

namespace {

constexpr const char* devices[] = {"cpu"};
constexpr const char* dtypes[] = {"float32", "float16", "bfloat16"};

template <std::size_t N>
bool contains(const char* const (&names)[N], std::string_view name) {
  return std::any_of(std::begin(names), std::end(names), [&](std::string_view known) { return known == name; });
}

std::int64_t to_ns(double seconds) { return static_cast<std::int64_t>(seconds * 1e9); }

void pass(double seconds) {
  if (seconds > 0) pass_until(nanoseconds_now() + to_ns(seconds), Work::sleep);
}

// --- runtime -------------------------------------------------------------------------------------------------------

imb_status open_runtime(const imb_environment*, imb_runtime** runtime, imb_message message) {
  *runtime = nullptr;
  return guarded(message, IMB_LIBRARY_MISSING, [&] {
    auto made = std::make_unique<imb_runtime>();
    made->info = {.struct_size = sizeof(imb_runtime_info),
                  .name = "fake",
                  .runtime_name = "fake (test instrument)",
                  .runtime_version = "1",
                  .library = "",
                  .model_formats = "*",
                  .device_count = std::size(devices),
                  .devices = devices,
                  .dtype_count = std::size(dtypes),
                  .dtypes = dtypes,
                  .option_count = made->options.size(),
                  .options = made->options.data(),
                  .concurrent_requests = 0};
    *runtime = made.release();
  });
}

const imb_runtime_info* runtime_info(imb_runtime* runtime) { return &runtime->info; }

void close_runtime(imb_runtime* runtime) { delete runtime; }

// --- session -------------------------------------------------------------------------------------------------------

std::vector<PortFields> default_inputs() {
  return {{.name = "input", .dtype = IMB_FLOAT32, .shape = {-1, 3, 8, 8}, .dimension_names = {"batch", "", "", ""}}};
}

void make_ports(imb_session& session, const imb_load& load) {
  auto inputs = session.settings.inputs.empty() ? default_inputs() : session.settings.inputs;
  std::vector<DeclaredInput> declarations;
  for (const PortFields& port : inputs) declarations.push_back(declared(port));
  check_dimensions(load, declarations);
  const auto axes = batch_axes(load, declarations);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    fix_dimensions(inputs[i], load, axes[i]);
    session.inputs.push_back(std::make_unique<Port>(std::move(inputs[i])));
  }
  session.batch_input = 0;
  while (session.batch_input < axes.size() && axes[session.batch_input] < 0) ++session.batch_input;
  if (session.batch_input < axes.size()) {
    session.batch_axis = static_cast<std::size_t>(axes[session.batch_input]);
    session.batch = session.inputs[session.batch_input]->fields().shape[session.batch_axis];
  }
  session.outputs.push_back(std::make_unique<Port>(PortFields{.name = "output",
                                                              .dtype = IMB_FLOAT32,
                                                              .shape = {session.batch, outputs_per_item},
                                                              .dimension_names = {"batch", ""}}));
}

// A script's inferences take what its operators take, profiled or not.
void prepare_script(Settings& settings) {
  Script& script = settings.script;
  apply_delays(script);
  if (script.operators.empty()) {
    script.operators = {{.kind = "Nothing", .name = "nothing"}};
  } else if (settings.latency.distribution == Distribution::none) {
    settings.latency = {Distribution::constant, script.seconds()};
  }
}

void prepare_inferences(imb_session& session) {
  prepare_script(session.settings);
  const Settings& settings = session.settings;
  session.seed = settings.seed ? *settings.seed : std::random_device{}();
  session.work = settings.work.value_or(Work::spin);
  if (settings.process_spread > 0) {
    std::random_device entropy;
    session.process_factor = std::max(0.0, 1 + settings.process_spread * std::normal_distribution()(entropy));
  }
  const Triggers& t = settings.triggers;
  const auto at_run = [](const Trigger& trigger) { return trigger.place == Place::run; };
  const bool misbehaves = at_run(t.fail) || at_run(t.out_of_memory) || at_run(t.crash) || at_run(t.abort) ||
                          at_run(t.kill) || at_run(t.exit) || at_run(t.hang) || at_run(t.stop);
  const bool takes_time = settings.latency.distribution != Distribution::none && session.work != Work::none;
  session.plain = !misbehaves && !takes_time && settings.compute == 0 && settings.first_delay == 0 &&
                  settings.memory_per_run == 0 && session.profile_folder.empty();
}

void try_what_is_forbidden(imb_session& session) {
  const Settings& settings = session.settings;
  const auto note = [&](const char* name, int error) { session.attempts.emplace_back(name, error); };
  if (!settings.write_file.empty()) note("write_error", try_to_write(settings.write_file));
  if (!settings.read_file.empty()) note("read_error", try_to_read(settings.read_file));
  if (settings.connect) note("connect_error", try_to_connect());
  if (settings.execute) note("execute_error", try_to_execute());
  if (settings.child) note("child", start_child(settings.child_in_session, settings.child_memory));
}

void refuse_unknown(const imb_load& load) {
  if (!contains(devices, load.device)) {
    fail(IMB_UNSUPPORTED, "fake has no device " + std::string(load.device) + "; it has cpu");
  }
  if (!contains(dtypes, load.dtype)) {
    fail(IMB_UNSUPPORTED, "fake does not execute " + std::string(load.dtype) + "; give float32, float16 or bfloat16");
  }
}

imb_status load_model(imb_runtime*, const imb_load* load, imb_session** session, imb_message message) {
  *session = nullptr;
  return guarded(message, IMB_MODEL_ERROR, [&] {
    refuse_unknown(*load);
    auto made = std::make_unique<imb_session>();
    made->settings = read_options(option_rows(), *load, "fake");
    made->device = load->device;
    made->dtype = load->dtype;
    made->threads = load->threads > 0 ? load->threads : usable_processors();
    make_ports(*made, *load);
    if (const char* folder = profile_folder_of(*load)) made->profile_folder = folder;
    prepare_inferences(*made);
    spew(made->settings.stderr_bytes, made->settings.stderr_endless);
    misbehave(made->settings.triggers, Place::load);
    pass(made->settings.load_delay);
    leak(made->settings.memory);
    try_what_is_forbidden(*made);
    *session = made.release();
  });
}

imb_status compile_model(imb_session* session, imb_message message) {
  return guarded(message, IMB_MODEL_ERROR, [&] {
    misbehave(session->settings.triggers, Place::compile);
    pass(session->settings.compile_delay);
  });
}

void close_session(imb_session* session) { delete session; }

std::size_t input_count(imb_session* session) { return session->inputs.size(); }
std::size_t output_count(imb_session* session) { return session->outputs.size(); }
const imb_port* input(imb_session* session, std::size_t index) {
  return index < session->inputs.size() ? session->inputs[index]->view() : nullptr;
}
const imb_port* output(imb_session* session, std::size_t index) {
  return index < session->outputs.size() ? session->outputs[index]->view() : nullptr;
}

// --- request -------------------------------------------------------------------------------------------------------

imb_status create_request(imb_session* session, imb_request** request, imb_message message) {
  *request = nullptr;
  return guarded(message, IMB_RUN_ERROR, [&] {
    auto made = std::make_unique<imb_request>();
    made->session = session;
    made->bytes.resize(session->inputs.size());
    made->bound.resize(session->inputs.size());
    made->random.seed(session->seed + session->requests++);
    *request = made.release();
  });
}

void destroy_request(imb_request* request) { delete request; }

imb_status bind_input(imb_request* request, std::size_t index, const imb_value* value, imb_message message) {
  return guarded(message, IMB_INVALID_ARGUMENT, [&] {
    const auto& inputs = request->session->inputs;
    if (index >= inputs.size()) fail(IMB_INVALID_ARGUMENT, "fake has no input " + std::to_string(index));
    if (value->kind != IMB_TENSOR) fail(IMB_INVALID_ARGUMENT, "the inputs of fake are tensors");
    check_tensor(inputs[index]->fields(), *value);
    request->bytes[index] = {static_cast<const std::byte*>(value->data), value->size_bytes};
    request->bound[index] = true;
    if (index == request->session->batch_input) request->batch = value->shape[request->session->batch_axis];
  });
}

// Begins an inference; shows when it will be done.
std::int64_t begin(imb_request& request) {
  imb_session& session = *request.session;
  const Settings& settings = session.settings;
  request.computation.run(settings.compute);
  const std::int64_t now = nanoseconds_now();
  const std::uint64_t before = session.inferences++;
  misbehave(settings.triggers, Place::run, before + 1);
  leak(settings.memory_per_run);
  double seconds = draw(settings.latency, request.random) * session.process_factor * factor_at(settings.drift, before);
  if (before == 0) seconds += settings.first_delay;
  request.done = true;
  return now + to_ns(seconds);
}

void require_bound(const imb_request& request) {
  for (std::size_t i = 0; i < request.bound.size(); ++i) {
    if (request.bound[i]) continue;
    fail(IMB_INVALID_ARGUMENT, "input '" + request.session->inputs[i]->fields().name + "' is not bound");
  }
}

imb_status run(imb_request* request, imb_message message) {
  imb_session& session = *request->session;
  if (session.plain && request->done) return succeed(message);
  return guarded(message, IMB_RUN_ERROR, [&] {
    require_bound(*request);
    const std::int64_t end = begin(*request);
    if (session.settings.asynchronous) {
      session.device_busy_until_ns = std::max(end, session.device_busy_until_ns.load());
    } else {
      pass_until(end, session.work);
    }
  });
}

imb_status synchronize(imb_session* session, imb_message message) {
  if (const std::int64_t until = session->device_busy_until_ns; until != 0) {
    pass_until(until, session->work);
    session->device_busy_until_ns = 0;
  }
  return succeed(message);
}

imb_status submit(imb_request* request, imb_message message) {
  return guarded(message, IMB_RUN_ERROR, [&] {
    require_bound(*request);
    request->ready_at_ns = begin(*request);
  });
}

imb_status wait(imb_request* request, imb_message message) {
  return guarded(message, IMB_RUN_ERROR, [&] {
    if (request->ready_at_ns == 0) fail(IMB_INVALID_ARGUMENT, "nothing was submitted that could be waited for");
    pass_until(request->ready_at_ns, request->session->work);
    request->ready_at_ns = 0;
  });
}

// The values are made here, not in `run`: an inference takes exactly the time that it was told to take.
imb_status output_value(imb_request* request, std::size_t index, imb_value* value, imb_message message) {
  return guarded(message, IMB_RUN_ERROR, [&] {
    if (index != 0) fail(IMB_INVALID_ARGUMENT, "fake has no output " + std::to_string(index));
    if (!request->done) fail(IMB_INVALID_ARGUMENT, "there is no output before the first inference");
    misbehave(request->session->settings.triggers, Place::outputs, ++request->outputs_asked);
    request->output.fill(request->session->settings.outputs, request->bytes, request->batch);
    *value = request->output.view();
  });
}

// --- facts ---------------------------------------------------------------------------------------------------------

imb_status executed(imb_session* session, imb_pair_sink sink, void* user, imb_message message) {
  return guarded(message, IMB_RUN_ERROR, [&] {
    const Settings& settings = session->settings;
    const auto or_asked = [](const std::string& reported, const std::string& asked) {
      return reported.empty() ? asked : reported;
    };
    sink(user, "dtype", or_asked(settings.executed_dtype, session->dtype).c_str());
    const int threads = settings.executed_threads > 0 ? settings.executed_threads : session->threads;
    sink(user, "threads", std::to_string(threads).c_str());
    sink(user, "device", or_asked(settings.executed_device, session->device).c_str());
    sink(user, "provider", settings.provider.c_str());
    if (const char* const value = std::getenv(settings.variable.c_str())) sink(user, "variable", value);
    if (settings.concurrent_inferences > 0)
      sink(user, "concurrent_inferences", std::to_string(settings.concurrent_inferences).c_str());
  });
}

imb_status counters(imb_session* session, imb_number_sink sink, void* user, imb_message message) {
  return guarded(message, IMB_RUN_ERROR, [&] {
    for (const auto& [name, value] : session->settings.counters) sink(user, name.c_str(), "1", value);
    for (const auto& [name, value] : session->attempts) sink(user, name.c_str(), "1", value);
  });
}

imb_status profile_begin(imb_session* session, imb_message message) {
  session->profiled_from = session->inferences;
  return succeed(message);
}

imb_status profile_end(imb_session* session, imb_message message) {
  return guarded(message, IMB_RUN_ERROR, [&] {
    if (session->profile_folder.empty()) fail(IMB_INVALID_ARGUMENT, "this session was not loaded to be profiled");
    write_profile(session->settings.script, session->inferences - session->profiled_from, session->profile_folder);
    misbehave(session->settings.triggers, Place::profile);
  });
}

constexpr imb_backend backend = {
    .abi_version = IMB_ABI_VERSION,
    .struct_size = sizeof(imb_backend),
    .open_runtime = open_runtime,
    .runtime_info = runtime_info,
    .close_runtime = close_runtime,
    .load = load_model,
    .compile = compile_model,
    .close = close_session,
    .input_count = input_count,
    .output_count = output_count,
    .input = input,
    .output = output,
    .create_request = create_request,
    .destroy_request = destroy_request,
    .bind_input = bind_input,
    .run = run,
    .output_value = output_value,
    .submit = submit,
    .wait = wait,
    .synchronize = synchronize,
    .executed = executed,
    .device_memory = nullptr,
    .counters = counters,
    .profile_begin = profile_begin,
    .profile_end = profile_end,
    .between = nullptr,
    .parts = nullptr,
    .lengths = nullptr,
    .queues = nullptr,
};

}  // namespace

extern "C" {
std::uint32_t infermeter_backend_abi_version(void) { return IMB_ABI_VERSION; }
const imb_backend* infermeter_backend(void) { return &backend; }
}
