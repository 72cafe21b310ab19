// OpenVINO through its C API. Reads bottom-up: the table of slots is at the end.
#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>

#include "compile.hpp"
#include "devices.hpp"
#include "infermeter_backend.h"
#include "letter_case.hpp"
#include "library.hpp"
#include "ports.hpp"
#include "profile.hpp"
#include "sdk/dimensions.hpp"
#include "sdk/processors.hpp"
#include "sdk/profile_folder.hpp"
#include "settings.hpp"
#include "values.hpp"

using namespace infermeter;  // the ABI's struct tags are global names

struct imb_runtime {
  Library library;
  Owned<ov_core_t> core;
  std::vector<std::string> device_names, dtype_names;
  std::vector<const char*> devices, dtypes;
  std::vector<imb_option> options = listed_options(option_rows());
  bool described = false;
  imb_runtime_info info{};
};

struct imb_session {
  imb_session(const Api& runtime_api, const ov_core_t* runtime_core) : api(runtime_api), core(runtime_core) {}

  const Api& api;
  const ov_core_t* core;
  OnnxDeclaration declaration;
  CompileRequest request;
  Owned<ov_model_t> model;  // until it is compiled
  Owned<ov_compiled_model_t> compiled;
  Ports inputs, outputs;
  std::unique_ptr<Profile> profile;               // nullptr: operators are not profiled
  const ov_infer_request_t* last_made = nullptr;  // of the requests that there are
};

struct imb_request {
  explicit imb_request(imb_session& of_session)
      : session(of_session), bound(session.inputs.size()), views(session.outputs.size()) {}

  imb_session& session;
  std::vector<Owned<ov_tensor_t>> bound;  // by input; nullptr: not yet
  std::vector<std::optional<TensorView>> views;
  Owned<ov_infer_request_t> infer;  // before what it uses is freed
  bool ready = false;               // every input is bound
  bool done = false;                // an inference has succeeded since the last bind
  bool submitted = false;
};

namespace {

// --- runtime -------------------------------------------------------------------------------------------------------

std::vector<const char*> pointers_to(const std::vector<std::string>& texts) {
  std::vector<const char*> pointers;
  for (const std::string& text : texts) pointers.push_back(text.c_str());
  return pointers;
}

imb_status open_runtime(const imb_environment* environment, imb_runtime** runtime, imb_message message) {
  *runtime = nullptr;
  return guarded(message, IMB_LIBRARY_MISSING, [&] {
    auto made = std::make_unique<imb_runtime>();
    made->library = open_openvino(*environment);
    ov_core_t* core = nullptr;
    check(made->library.api, made->library.api.ov_core_create(&core), IMB_LIBRARY_MISSING, "OpenVINO did not start");
    made->core = owned(core, made->library.api.ov_core_free);
    *runtime = made.release();
  });
}

// Opens the devices' plug-ins: only who asks pays for it.
void describe(imb_runtime& runtime) {
  const Api& api = runtime.library.api;
  runtime.device_names = list_devices(api, runtime.core.get());
  runtime.dtype_names = list_dtypes(api, runtime.core.get(), runtime.device_names);
  runtime.devices = pointers_to(runtime.device_names);
  runtime.dtypes = pointers_to(runtime.dtype_names);
  runtime.info = {.struct_size = sizeof(imb_runtime_info),
                  .name = "openvino",
                  .runtime_name = "OpenVINO",
                  .runtime_version = runtime.library.version.c_str(),
                  .library = runtime.library.path.c_str(),
                  .model_formats = "xml,onnx",
                  .device_count = runtime.devices.size(),
                  .devices = runtime.devices.data(),
                  .dtype_count = runtime.dtypes.size(),
                  .dtypes = runtime.dtypes.data(),
                  .option_count = runtime.options.size(),
                  .options = runtime.options.data(),
                  .concurrent_requests = 0};
  runtime.described = true;
}

const imb_runtime_info* runtime_info(imb_runtime* runtime) {
  if (!runtime->described) describe(*runtime);
  return &runtime->info;
}

void close_runtime(imb_runtime* runtime) { delete runtime; }

// --- session -------------------------------------------------------------------------------------------------------

void refuse_device(const imb_runtime& runtime, const std::string& device) {
  if (device == "cpu") return;
  const auto known = list_devices(runtime.library.api, runtime.core.get());
  if (std::find(known.begin(), known.end(), device) != known.end()) return;
  std::string text;
  for (const std::string& name : known) text += (text.empty() ? "" : ", ") + name;
  fail(IMB_UNSUPPORTED, "openvino has no device " + device + " here; it has " + text +
                            (device == "cuda" ? " (OpenVINO does not run on NVIDIA's devices)" : ""));
}

void refuse_another_folder(const imb_load& load) {
  if (load.model_base_folder == nullptr) return;
  std::error_code error;
  const auto own = std::filesystem::absolute(load.model_path, error).parent_path();
  if (!std::filesystem::equivalent(own, load.model_base_folder, error)) {
    fail(IMB_UNSUPPORTED, "openvino reads external data only from the model's own folder, " + own.string());
  }
}

Owned<ov_model_t> read_model(const imb_runtime& runtime, const std::string& path) {
  const Api& api = runtime.library.api;
  ov_model_t* model = nullptr;
  check(api, api.ov_core_read_model(runtime.core.get(), path.c_str(), nullptr, &model), IMB_MODEL_ERROR,
        "OpenVINO could not load " + path);
  return owned(model, api.ov_model_free);
}

// A model's dynamic dimensions may carry bounds of their own, which -1 would forget: only inputs that change are named.
void reshape(imb_session& session, const imb_load& load) {
  const Api& api = session.api;
  auto inputs = model_inputs(api, session.model.get(), session.declaration);
  std::vector<DeclaredInput> declarations;
  for (const PortFields& input : inputs) declarations.push_back(declared(input));
  check_dimensions(load, declarations);
  const auto axes = batch_axes(load, declarations);
  std::vector<std::size_t> indices;
  std::vector<ov_partial_shape_t> shapes;
  std::vector<std::vector<ov_dimension_t>> dimensions;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (!fix_dimensions(inputs[i], load, axes[i])) continue;
    indices.push_back(i);
    auto& sizes = dimensions.emplace_back();
    for (const std::int64_t size : inputs[i].shape) sizes.push_back({size < 0 ? 0 : size, size});
  }
  for (auto& sizes : dimensions) {
    const auto rank = static_cast<std::int64_t>(sizes.size());
    shapes.push_back({{rank, rank}, sizes.data()});
  }
  if (indices.empty()) return;
  check(api, api.ov_model_reshape_by_port_indexes(session.model.get(), indices.data(), shapes.data(), indices.size()),
        IMB_INVALID_ARGUMENT, "OpenVINO could not give the model's inputs the sizes that were asked for");
}

imb_status load_model(imb_runtime* runtime, const imb_load* load, imb_session** session, imb_message message) {
  *session = nullptr;
  return guarded(message, IMB_MODEL_ERROR, [&] {
    const Api& api = runtime->library.api;
    refuse_device(*runtime, load->device);
    refuse_another_folder(*load);
    static_cast<void>(precision_of(load->dtype));  // refuses what no device can do before any work is done
    auto made = std::make_unique<imb_session>(api, runtime->core.get());
    made->request = {.device = upper(load->device),
                     .dtype = load->dtype,
                     .threads = load->threads > 0 ? load->threads : usable_processors(),
                     .settings = read_options(option_rows(), *load, "openvino"),
                     .profile = profile_folder_of(*load) != nullptr};
    if (made->request.profile) made->profile = std::make_unique<Profile>(runtime->library, profile_folder_of(*load));
    made->model = read_model(*runtime, load->model_path);
    if (std::string_view(load->model_path).ends_with(".onnx")) {
      made->declaration = read_onnx_declaration(load->model_path);
    }
    reshape(*made, *load);
    made->inputs = make_ports(model_inputs(api, made->model.get(), made->declaration));
    made->outputs = make_ports(model_outputs(api, made->model.get(), made->declaration));
    *session = made.release();
  });
}

// The model as read is freed: a program of one's own would not keep its weights twice either.
imb_status compile(imb_session* session, imb_message message) {
  return guarded(message, IMB_MODEL_ERROR, [&] {
    if (session->compiled != nullptr) return;
    session->compiled = compile_model(session->api, session->core, session->model.get(), session->request);
    session->model.reset();
    session->inputs = make_ports(compiled_inputs(session->api, session->compiled.get(), session->declaration));
    session->outputs = make_ports(compiled_outputs(session->api, session->compiled.get(), session->declaration));
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
    if (session->compiled == nullptr) fail(IMB_INVALID_ARGUMENT, "the model is not compiled");
    const Api& api = session->api;
    auto made = std::make_unique<imb_request>(*session);
    ov_infer_request_t* infer = nullptr;
    check(api, api.ov_compiled_model_create_infer_request(session->compiled.get(), &infer), IMB_RUN_ERROR,
          "OpenVINO did not make a request");
    made->infer = owned(infer, api.ov_infer_request_free);
    session->last_made = infer;
    *request = made.release();
  });
}

void destroy_request(imb_request* request) {
  if (request->session.last_made == request->infer.get()) request->session.last_made = nullptr;
  delete request;
}

void forget_outputs(imb_request& request) {
  request.done = false;
  for (auto& view : request.views) view.reset();
}

imb_status bind_input(imb_request* request, std::size_t index, const imb_value* value, imb_message message) {
  return guarded(message, IMB_INVALID_ARGUMENT, [&] {
    const imb_session& session = request->session;
    const Api& api = session.api;
    if (index >= session.inputs.size()) fail(IMB_INVALID_ARGUMENT, "the model has no input " + std::to_string(index));
    const PortFields& port = session.inputs[index]->fields();
    forget_outputs(*request);
    request->ready = false;
    auto tensor = make_tensor(api, port, *value);
    check(api, api.ov_infer_request_set_input_tensor_by_index(request->infer.get(), index, tensor.get()),
          IMB_INVALID_ARGUMENT, "OpenVINO did not take input '" + port.name + "'");
    request->bound[index] = std::move(tensor);
  });
}

void require_bound(imb_request& request) {
  for (std::size_t i = 0; i < request.bound.size(); ++i) {
    if (request.bound[i] != nullptr) continue;
    fail(IMB_INVALID_ARGUMENT, "input '" + request.session.inputs[i]->fields().name + "' is not bound");
  }
  request.ready = true;
}

void start(imb_request& request) {
  if (!request.ready) require_bound(request);
  if (request.done) forget_outputs(request);
}

imb_status run(imb_request* request, imb_message message) {
  return guarded(message, IMB_RUN_ERROR, [&] {
    start(*request);
    const Api& api = request->session.api;
    const ov_status_e status = api.ov_infer_request_infer(request->infer.get());
    if (Profile* const profile = request->session.profile.get()) profile->mark_end();
    if (status != OK) check(api, status, IMB_RUN_ERROR, "OpenVINO could not run the model");
    request->done = true;
  });
}

imb_status submit(imb_request* request, imb_message message) {
  return guarded(message, IMB_RUN_ERROR, [&] {
    start(*request);
    const Api& api = request->session.api;
    const ov_status_e status = api.ov_infer_request_start_async(request->infer.get());
    if (status != OK) check(api, status, IMB_RUN_ERROR, "OpenVINO could not start the inference");
    request->submitted = true;
  });
}

imb_status wait(imb_request* request, imb_message message) {
  return guarded(message, IMB_RUN_ERROR, [&] {
    if (!request->submitted) fail(IMB_INVALID_ARGUMENT, "nothing was submitted that could be waited for");
    request->submitted = false;
    const Api& api = request->session.api;
    const ov_status_e status = api.ov_infer_request_wait(request->infer.get());
    if (Profile* const profile = request->session.profile.get()) profile->mark_end();
    if (status != OK) check(api, status, IMB_RUN_ERROR, "OpenVINO could not run the model");
    request->done = true;
  });
}

imb_status output_value(imb_request* request, std::size_t index, imb_value* value, imb_message message) {
  return guarded(message, IMB_RUN_ERROR, [&] {
    const imb_session& session = request->session;
    const Api& api = session.api;
    if (index >= session.outputs.size()) {
      fail(IMB_INVALID_ARGUMENT, "the model has no output " + std::to_string(index));
    }
    if (!request->done) fail(IMB_INVALID_ARGUMENT, "there is no output before an inference has succeeded");
    auto& view = request->views[index];
    if (!view) {
      const std::string& name = session.outputs[index]->fields().name;
      ov_tensor_t* tensor = nullptr;
      check(api, api.ov_infer_request_get_output_tensor_by_index(request->infer.get(), index, &tensor), IMB_RUN_ERROR,
            "OpenVINO did not hand out output '" + name + "'");
      view.emplace(api, owned(tensor, api.ov_tensor_free), name);
    }
    *value = view->view();
  });
}

// --- facts ---------------------------------------------------------------------------------------------------------

// Everything is read back from the compiled model, not repeated from what was asked for.
imb_status executed(imb_session* session, imb_pair_sink sink, void* user, imb_message message) {
  return guarded(message, IMB_RUN_ERROR, [&] {
    if (session->compiled == nullptr) fail(IMB_INVALID_ARGUMENT, "the model is not compiled");
    const auto read_back = [&](const char* key) { return property_of(session->api, session->compiled.get(), key); };
    const auto tell = [&](const char* name, const std::string& value) {
      if (!value.empty()) sink(user, name, value.c_str());
    };
    const std::string& device = session->request.device;
    tell("dtype", dtype_of(read_back("INFERENCE_PRECISION_HINT")));
    tell("threads", read_back("INFERENCE_NUM_THREADS"));
    tell("device", lower(read_back("EXECUTION_DEVICES")));
    tell("provider", device + ": " + property_of(session->api, session->core, device, "FULL_DEVICE_NAME"));
    tell("streams", read_back("NUM_STREAMS"));
    tell("concurrent_inferences", read_back("OPTIMAL_NUMBER_OF_INFER_REQUESTS"));
    tell("performance_hint", lower(read_back("PERFORMANCE_HINT")));
    tell("execution_mode_hint", lower(read_back("EXECUTION_MODE_HINT")));
    tell("cpu_pinning", lower(read_back("ENABLE_CPU_PINNING")));
  });
}

// --- profile -------------------------------------------------------------------------------------------------------

Profile& profile_of(imb_session& session) {
  if (session.profile == nullptr) fail(IMB_INVALID_ARGUMENT, "the model was not loaded to be profiled");
  return *session.profile;
}

imb_status profile_begin(imb_session* session, imb_message message) {
  return guarded(message, IMB_RUN_ERROR, [&] { profile_of(*session).begin(session->last_made); });
}

imb_status profile_end(imb_session* session, imb_message message) {
  return guarded(message, IMB_RUN_ERROR,
                 [&] { profile_of(*session).end(session->last_made, session->compiled.get()); });
}

imb_status between(imb_request* request, imb_message message) {
  Profile* const profile = request->session.profile.get();
  if (profile == nullptr) return IMB_OK;
  return guarded(message, IMB_RUN_ERROR, [&] { profile->note(request->infer.get()); });
}

constexpr imb_backend backend = {
    .abi_version = IMB_ABI_VERSION,
    .struct_size = sizeof(imb_backend),
    .open_runtime = open_runtime,
    .runtime_info = runtime_info,
    .close_runtime = close_runtime,
    .load = load_model,
    .compile = compile,
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
    .synchronize = nullptr,
    .executed = executed,
    .device_memory = nullptr,
    .counters = nullptr,
    .profile_begin = profile_begin,
    .profile_end = profile_end,
    .between = between,
    .parts = nullptr,
    .lengths = nullptr,
    .queues = nullptr,
};

}  // namespace

extern "C" {
std::uint32_t infermeter_backend_abi_version(void) { return IMB_ABI_VERSION; }
const imb_backend* infermeter_backend(void) { return &backend; }
}
