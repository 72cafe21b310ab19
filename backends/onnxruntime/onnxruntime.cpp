// ONNX Runtime through its C API. Reads bottom-up: the table of slots is at the end.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <utility>

#include "infermeter_backend.h"
#include "library.hpp"
#include "ports.hpp"
#include "profile.hpp"
#include "sdk/onnx_declaration.hpp"
#include "sdk/processors.hpp"
#include "sdk/profile_folder.hpp"
#include "session_options.hpp"
#include "settings.hpp"
#include "values.hpp"

using namespace infermeter;  // the ABI's struct tags are global names

struct imb_runtime {
  Library library;
  Owned<OrtEnv> environment;
  std::vector<const char*> devices;
  std::vector<imb_option> options = listed_options(option_rows());
  imb_runtime_info info{};
};

struct imb_session {
  imb_session(const OrtApi& runtime_api, const OrtEnv* runtime_environment)
      : api(runtime_api), environment(runtime_environment) {}

  const OrtApi& api;
  const OrtEnv* environment;
  Owned<OrtSession> session;
  Owned<OrtMemoryInfo> memory;
  OrtAllocator* allocator = nullptr;
  Ports inputs, outputs;
  std::vector<const char*> output_names;
  Settings settings;
  std::string device, dtype;
  int threads = 1;
  std::string profile_folder;  // empty: it is not profiled, or not any more
};

struct imb_request {
  explicit imb_request(imb_session& of_session)
      : session(of_session),
        bound(session.inputs.size()),
        is_bound(session.inputs.size()),
        outputs(session.outputs.size()) {}

  imb_session& session;
  std::vector<Owned<OrtValue>> bound;  // by input; nullptr: not yet, or an absent optional
  std::vector<bool> is_bound;
  std::vector<const char*> names;  // of the inputs that are given, as Run wants them
  std::vector<const OrtValue*> values;
  bool ready = false;  // every input is bound, and `names` and `values` are filled
  std::vector<OrtValue*> outputs;
  std::optional<ValueView> view;

  ~imb_request() { release_outputs(); }
  void release_outputs() {
    view.reset();
    for (OrtValue*& output : outputs) {
      if (output != nullptr) session.api.ReleaseValue(output);
      output = nullptr;
    }
  }
};

namespace {

constexpr const char* dtypes[] = {"float32"};

// --- runtime -------------------------------------------------------------------------------------------------------

void fill_info(imb_runtime& runtime) {
  const auto providers = available_providers(*runtime.library.api);
  runtime.devices = {"cpu"};
  if (std::find(providers.begin(), providers.end(), "CUDAExecutionProvider") != providers.end()) {
    runtime.devices.push_back("cuda");
  }
  runtime.info = {.struct_size = sizeof(imb_runtime_info),
                  .name = "onnxruntime",
                  .runtime_name = "ONNX Runtime",
                  .runtime_version = runtime.library.version.c_str(),
                  .library = runtime.library.path.c_str(),
                  .model_formats = "onnx,ort",
                  .device_count = runtime.devices.size(),
                  .devices = runtime.devices.data(),
                  .dtype_count = std::size(dtypes),
                  .dtypes = dtypes,
                  .option_count = runtime.options.size(),
                  .options = runtime.options.data(),
                  .concurrent_requests = 0};
}

imb_status open_runtime(const imb_environment* environment, imb_runtime** runtime, imb_message message) {
  *runtime = nullptr;
  return guarded(message, IMB_LIBRARY_MISSING, [&] {
    auto made = std::make_unique<imb_runtime>();
    made->library = open_onnxruntime(*environment);
    const OrtApi& api = *made->library.api;
    OrtEnv* env = nullptr;
    check(api, api.CreateEnv(ORT_LOGGING_LEVEL_ERROR, "infermeter", &env), IMB_LIBRARY_MISSING,
          "ONNX Runtime did not start");
    made->environment = owned(env, api.ReleaseEnv);
    check(api, api.DisableTelemetryEvents(env), IMB_LIBRARY_MISSING, "ONNX Runtime did not switch its telemetry off");
    fill_info(*made);
    *runtime = made.release();
  });
}

const imb_runtime_info* runtime_info(imb_runtime* runtime) { return &runtime->info; }
void close_runtime(imb_runtime* runtime) { delete runtime; }

// --- session -------------------------------------------------------------------------------------------------------

void refuse_what_cannot_be(const imb_load& load) {
  const std::string device = load.device, dtype = load.dtype;
  if (device != "cpu" && device != "cuda") {
    fail(IMB_UNSUPPORTED, "onnxruntime cannot use device=" + device + "; give cpu or cuda");
  }
  if (dtype != "float32") {
    fail(IMB_UNSUPPORTED, "onnxruntime executes the element types that the model file has and cannot execute its " +
                              std::string("float32 parts as ") + dtype +
                              "; give dtype=float32 (with a model that was " + "converted to " + dtype +
                              ", if need be) or another back end");
  }
}

// External data lies beside the model; ONNX Runtime can be given another folder only for models in memory.
void refuse_another_folder(const imb_load& load) {
  if (load.model_base_folder == nullptr) return;
  std::error_code error;
  const auto own = std::filesystem::absolute(load.model_path, error).parent_path();
  if (!std::filesystem::equivalent(own, load.model_base_folder, error)) {
    fail(IMB_UNSUPPORTED, "onnxruntime reads external data only from the model's own folder, " + own.string());
  }
}

void read_ports(imb_session& session, const imb_load& load, const OnnxDeclaration& declaration) {
  session.inputs = read_inputs(session.api, session.session.get(), session.allocator, load, declaration);
  session.outputs = read_outputs(session.api, session.session.get(), session.allocator);
  for (const auto& port : session.outputs) session.output_names.push_back(port->view()->name);
}

// The provider executes what the file has: the floating types of inputs, outputs and weights, the widest use first.
std::string floats_of(const imb_session& session, const OnnxDeclaration& declaration) {
  std::set<int> types = declaration.weight_types;
  for (const auto& port : session.inputs) types.insert(port->view()->dtype);
  for (const auto& port : session.outputs) types.insert(port->view()->dtype);
  std::string text;
  for (const imb_dtype dtype : {IMB_FLOAT32, IMB_FLOAT16, IMB_BFLOAT16, IMB_FLOAT64}) {
    if (types.contains(dtype)) text += (text.empty() ? "" : "+") + std::string(name_of(dtype));
  }
  return text.empty() ? "float32" : text;
}

Owned<OrtSession> open_session(const imb_runtime& runtime, const imb_load& load, const OrtSessionOptions* options) {
  const OrtApi& api = *runtime.library.api;
  OrtSession* opened = nullptr;
  check(api, api.CreateSession(runtime.environment.get(), load.model_path, options, &opened), IMB_MODEL_ERROR,
        "ONNX Runtime could not load " + std::string(load.model_path));
  return owned(opened, api.ReleaseSession);
}

Owned<OrtSession> open_profiled(const imb_runtime& runtime, const imb_load& load, OrtSessionOptions* options,
                                const std::string& folder) {
  const OrtApi& api = *runtime.library.api;
  enable_profile(api, options, folder);
  OrtSessionOptions* copy = nullptr;
  check(api, api.CloneSessionOptions(options, &copy), IMB_RUN_ERROR, "ONNX Runtime could not copy its options");
  const auto saving = owned(copy, api.ReleaseSessionOptions);
  save_optimised_graph(api, copy, folder);
  Owned<OrtSession> session(nullptr, {api.ReleaseSession});
  try {
    session = open_session(runtime, load, copy);
  } catch (const Failure&) {
    // Some graphs cannot be saved: those with parts that a provider has compiled.
    session = open_session(runtime, load, options);
  }
  finish_load(api, session.get(), folder);
  return session;
}

imb_status load_model(imb_runtime* runtime, const imb_load* load, imb_session** session, imb_message message) {
  *session = nullptr;
  return guarded(message, IMB_MODEL_ERROR, [&] {
    refuse_what_cannot_be(*load);
    refuse_another_folder(*load);
    const OrtApi& api = *runtime->library.api;
    const OnnxDeclaration declaration = read_onnx_declaration(load->model_path);
    const auto sizes = named_sizes(*load, declaration);
    auto made = std::make_unique<imb_session>(api, runtime->environment.get());
    made->settings = read_options(option_rows(), *load, "onnxruntime");
    made->threads = load->threads > 0 ? load->threads : usable_processors();
    made->device = load->device;
    const auto options = make_session_options(runtime->library, *load, made->settings, made->threads, sizes);
    if (const char* folder = profile_folder_of(*load)) made->profile_folder = folder;
    made->session = made->profile_folder.empty() ? open_session(*runtime, *load, options.get())
                                                 : open_profiled(*runtime, *load, options.get(), made->profile_folder);
    OrtMemoryInfo* memory = nullptr;
    check(api, api.CreateCpuMemoryInfo(OrtArenaAllocator, OrtMemTypeDefault, &memory), IMB_MODEL_ERROR, "memory");
    made->memory = owned(memory, api.ReleaseMemoryInfo);
    check(api, api.GetAllocatorWithDefaultOptions(&made->allocator), IMB_MODEL_ERROR, "allocator");
    read_ports(*made, *load, declaration);
    made->dtype = floats_of(*made, declaration);
    *session = made.release();
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
  return guarded(message, IMB_RUN_ERROR, [&] { *request = std::make_unique<imb_request>(*session).release(); });
}

void destroy_request(imb_request* request) { delete request; }

imb_status bind_input(imb_request* request, std::size_t index, const imb_value* value, imb_message message) {
  return guarded(message, IMB_INVALID_ARGUMENT, [&] {
    imb_session& session = request->session;
    if (index >= session.inputs.size()) fail(IMB_INVALID_ARGUMENT, "the model has no input " + std::to_string(index));
    request->release_outputs();
    request->ready = false;
    const ValueMaker maker{session.api, session.environment, session.allocator, session.memory.get()};
    request->is_bound[index] = false;
    request->bound[index] = maker.make(session.inputs[index]->fields(), *value);
    request->is_bound[index] = true;
  });
}

// Once per binding, outside of the timed loop's steady state.
void gather_inputs(imb_request& request) {
  request.names.clear();
  request.values.clear();
  for (std::size_t i = 0; i < request.bound.size(); ++i) {
    const imb_port& port = *request.session.inputs[i]->view();
    if (!request.is_bound[i]) {
      fail(IMB_INVALID_ARGUMENT, "input '" + std::string(port.name) + "' is not bound");
    }
    if (request.bound[i] == nullptr) continue;
    request.names.push_back(port.name);
    request.values.push_back(request.bound[i].get());
  }
  request.ready = true;
}

// The C API's plain Run, as a program of one's own would call it: outputs are made again by each inference.
imb_status run(imb_request* request, imb_message message) {
  return guarded(message, IMB_RUN_ERROR, [&] {
    imb_session& session = request->session;
    if (!request->ready) gather_inputs(*request);
    request->release_outputs();
    OrtStatus* status = session.api.Run(session.session.get(), nullptr, request->names.data(), request->values.data(),
                                        request->values.size(), session.output_names.data(),
                                        session.output_names.size(), request->outputs.data());
    if (status != nullptr) check(session.api, status, IMB_RUN_ERROR, "ONNX Runtime could not run the model");
  });
}

imb_status output_value(imb_request* request, std::size_t index, imb_value* value, imb_message message) {
  return guarded(message, IMB_RUN_ERROR, [&] {
    if (index >= request->outputs.size()) {
      fail(IMB_INVALID_ARGUMENT, "the model has no output " + std::to_string(index));
    }
    if (request->outputs[index] == nullptr) {
      fail(IMB_INVALID_ARGUMENT, "there is no output before an inference has succeeded");
    }
    imb_session& session = request->session;
    if (!request->view) request->view.emplace(session.api, session.allocator);
    *value = request->view->view_of(request->outputs[index], session.output_names[index]);
  });
}

// --- facts ---------------------------------------------------------------------------------------------------------

imb_status executed(imb_session* session, imb_pair_sink sink, void* user, imb_message message) {
  return guarded(message, IMB_RUN_ERROR, [&] {
    const Settings& settings = session->settings;
    const auto yes_no = [](bool value) { return value ? "true" : "false"; };
    sink(user, "dtype", session->dtype.c_str());
    sink(user, "dtype_from", "model");
    sink(user, "threads", std::to_string(session->threads).c_str());
    sink(user, "device", session->device.c_str());
    sink(user, "provider",
         session->device == "cuda" ? "CUDAExecutionProvider+CPUExecutionProvider" : "CPUExecutionProvider");
    sink(user, "graph_optimization", settings.graph_optimization.c_str());
    sink(user, "execution_mode", settings.parallel ? "parallel" : "sequential");
    sink(user, "cpu_mem_arena", yes_no(settings.cpu_mem_arena));
    if (session->device == "cpu" && session->dtype.find("float16") != std::string::npos) {
      sink(user, "float16_on_cpu", "cast to float32 where the CPU provider has no kernel for it");
    }
  });
}

imb_status require_profile(const imb_session& session, imb_message message) {
  return guarded(message, IMB_RUN_ERROR, [&] {
    if (session.profile_folder.empty()) {
      fail(IMB_INVALID_ARGUMENT,
           "this session was not loaded to be profiled, or its profile has ended: ONNX Runtime "
           "records one for each session");
    }
  });
}

// It has recorded since the load; the host shows its own runs by their time.
imb_status profile_begin(imb_session* session, imb_message message) { return require_profile(*session, message); }

imb_status profile_end(imb_session* session, imb_message message) {
  if (const imb_status status = require_profile(*session, message); status != IMB_OK) return status;
  return guarded(message, IMB_RUN_ERROR, [&] {
    const std::string folder = std::exchange(session->profile_folder, {});
    end_profile(session->api, session->session.get(), session->allocator, folder);
  });
}

constexpr imb_backend backend = {
    .abi_version = IMB_ABI_VERSION,
    .struct_size = sizeof(imb_backend),
    .open_runtime = open_runtime,
    .runtime_info = runtime_info,
    .close_runtime = close_runtime,
    .load = load_model,
    .compile = nullptr,
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
    .submit = nullptr,
    .wait = nullptr,
    .synchronize = nullptr,
    .executed = executed,
    .device_memory = nullptr,
    .counters = nullptr,
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
