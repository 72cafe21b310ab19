// The second part of the plug-in: everything that needs PyTorch's C++. Reads bottom-up: the table of slots is at the
// end.
#include <ATen/Context.h>
#include <ATen/Parallel.h>

#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "cuda.hpp"
#include "errors.hpp"
#include "ports.hpp"
#include "profile.hpp"
#include "program.hpp"
#include "sdk/data_shape.hpp"
#include "sdk/options.hpp"
#include "sdk/processors.hpp"
#include "sdk/profile_folder.hpp"
#include "values.hpp"

using namespace infermeter;  // the ABI's struct tags are global names

struct imb_runtime {
  std::string library;
  std::vector<const char*> devices;
  std::vector<imb_option> options;
  imb_runtime_info info{};
};

struct imb_session {
  std::unique_ptr<Program> program;
  std::unique_ptr<Profile> profile;  // nullptr: operators are not profiled
  Ports inputs, outputs;
  Ports outputs_before;  // what was handed out before the first run stays where it is
  bool outputs_known = false;
  bool dynamic_batch = false;
};

struct imb_request {
  explicit imb_request(imb_session& of_session)
      : session(of_session), inference(of_session.program->make_inference()), is_bound(of_session.inputs.size()) {
    if (session.profile != nullptr) inference = session.profile->watched(std::move(inference));
  }

  imb_session& session;
  std::unique_ptr<Inference> inference;
  std::vector<bool> is_bound;
  bool ready = false;               // every input is bound
  bool done = false;                // an inference has succeeded since the last bind
  std::vector<TensorView> outputs;  // of the last inference; empty: not asked for yet
};

namespace {

// --- options -------------------------------------------------------------------------------------------------------

struct Settings {
  std::vector<InputShape> shapes;
};

const OptionRow<Settings> rows[] = {
    {{"input_shape", "SHAPE[:DTYPE][;…]",
      "shapes of the inputs, which TorchScript files do not contain; the batch first: 1x3x224x224 or "
      "1x128:int64;1x128"},
     [](Settings& settings, std::string_view value) { settings.shapes = parse_input_shapes(value); }},
};

std::span<const OptionRow<Settings>> option_rows() { return rows; }

// --- runtime -------------------------------------------------------------------------------------------------------

constexpr const char* dtypes[] = {"float32", "float16", "bfloat16"};

imb_status open_runtime_of_part(const imb_environment* environment, imb_runtime** runtime, imb_message message) {
  *runtime = nullptr;
  return guarded(message, IMB_LIBRARY_MISSING, [&] {
    auto made = std::make_unique<imb_runtime>();
    made->library = environment->library;
    made->options = listed_options(option_rows());
    made->devices = {"cpu"};
    if (may_have_cuda(made->library)) made->devices.push_back("cuda");
    made->info = {.struct_size = sizeof(imb_runtime_info),
                  .name = "libtorch",
                  .runtime_name = "PyTorch (C++)",
                  .runtime_version = INFERMETER_TORCH_VERSION,
                  .library = made->library.c_str(),
                  .model_formats = "pt,torchscript,pt2",
                  .device_count = made->devices.size(),
                  .devices = made->devices.data(),
                  .dtype_count = std::size(dtypes),
                  .dtypes = dtypes,
                  .option_count = made->options.size(),
                  .options = made->options.data(),
                  .concurrent_requests = 1};  // the number of threads is the calling thread's
    *runtime = made.release();
  });
}

const imb_runtime_info* runtime_info(imb_runtime* runtime) { return &runtime->info; }
void close_runtime(imb_runtime* runtime) { delete runtime; }

// --- session -------------------------------------------------------------------------------------------------------

at::Device device_from(const imb_runtime& runtime, const std::string& name) {
  if (name == "cpu") return at::kCPU;
  if (name != "cuda") fail(IMB_UNSUPPORTED, "libtorch has no device " + name + "; it has cpu, or cuda where that is");
  open_cuda(runtime.library);
  return {at::kCUDA, 0};
}

at::ScalarType precision_from(const std::string& dtype) {
  if (dtype == "float32") return at::kFloat;
  if (dtype == "float16") return at::kHalf;
  if (dtype == "bfloat16") return at::kBFloat16;
  fail(IMB_UNSUPPORTED, "libtorch cannot execute " + dtype + "; give dtype=float32, float16 or bfloat16");
}

std::vector<InputShape> shapes_of_data(const imb_load& load) {
  const std::string_view text = data_shape_of(load);
  return text.empty() ? std::vector<InputShape>() : parse_input_shapes(text);
}

imb_status load_model(imb_runtime* runtime, const imb_load* load, imb_session** session, imb_message message) {
  *session = nullptr;
  return guarded(message, IMB_MODEL_ERROR, [&] {
    const auto settings = read_options(option_rows(), *load, "libtorch");
    const at::ScalarType precision = precision_from(load->dtype);
    const at::Device device = device_from(*runtime, load->device);
    const int threads = load->threads > 0 ? load->threads : usable_processors();
    at::set_num_threads(threads);
    auto made = std::make_unique<imb_session>();
    made->program = load_program({*load, settings.shapes, shapes_of_data(*load), device, precision, threads});
    for (const Input& input : made->program->inputs) {
      made->inputs.push_back(std::make_unique<Port>(input.port));
      made->dynamic_batch = made->dynamic_batch || (!input.port.shape.empty() && input.port.shape[0] < 0);
    }
    made->outputs = ports_before_run(made->program->output_names);
    if (const char* const folder = profile_folder_of(*load)) made->profile = std::make_unique<Profile>(folder);
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
    const Program& program = *request->session.program;
    if (index >= program.inputs.size()) fail(IMB_INVALID_ARGUMENT, "the model has no input " + std::to_string(index));
    const Input& wanted = program.inputs[index];
    request->ready = false;
    request->done = false;
    request->outputs.clear();
    at::Tensor tensor = make_tensor(wanted.port, *value, program.device, program.precision);
    check_compiled(wanted, std::span(value->shape, value->rank));
    request->inference->set_input(index, std::move(tensor));
    request->is_bound[index] = true;
  });
}

void require_bound(imb_request& request) {
  for (std::size_t i = 0; i < request.is_bound.size(); ++i) {
    if (request.is_bound[i]) continue;
    fail(IMB_INVALID_ARGUMENT, "input '" + request.session.program->inputs[i].port.name + "' is not bound");
  }
  request.ready = true;
}

imb_status run(imb_request* request, imb_message message) {
  return guarded(message, IMB_RUN_ERROR, [&] {
    if (!request->ready) require_bound(*request);
    request->done = false;
    request->outputs.clear();
    in_torch(IMB_RUN_ERROR, "PyTorch could not run the model", [&] { request->inference->run(); });
    request->done = true;
  });
}

// The first run shows what the outputs are.
void note_outputs(imb_session& session, std::span<const NamedTensor> outputs) {
  if (session.outputs_known) return;
  session.outputs_before = std::exchange(session.outputs, ports_after_run(outputs, session.dynamic_batch));
  session.outputs_known = true;
}

void take_outputs(imb_request& request) {
  const auto outputs = request.inference->outputs();
  note_outputs(request.session, outputs);
  for (const auto& [name, tensor] : outputs) request.outputs.emplace_back(tensor, name);
}

imb_status output_value(imb_request* request, std::size_t index, imb_value* value, imb_message message) {
  return guarded(message, IMB_RUN_ERROR, [&] {
    if (!request->done) fail(IMB_INVALID_ARGUMENT, "there is no output before an inference has succeeded");
    if (request->outputs.empty()) {
      in_torch(IMB_RUN_ERROR, "PyTorch did not hand out its outputs", [&] { take_outputs(*request); });
    }
    if (index >= request->outputs.size()) {
      fail(IMB_INVALID_ARGUMENT, "the model has no output " + std::to_string(index));
    }
    *value = request->outputs[index].view();
  });
}

imb_status synchronize(imb_session* session, imb_message message) {
  if (!session->program->device.is_cuda()) return IMB_OK;
  return guarded(message, IMB_RUN_ERROR, [] { in_torch(IMB_RUN_ERROR, "the device failed", wait_for_cuda); });
}

// --- facts ---------------------------------------------------------------------------------------------------------

imb_status executed(imb_session* session, imb_pair_sink sink, void* user, imb_message message) {
  return guarded(message, IMB_RUN_ERROR, [&] {
    const Program& program = *session->program;
    sink(user, "dtype", program.dtype.c_str());
    if (program.precision == at::kFloat) sink(user, "dtype_from", "model");  // nothing was converted
    sink(user, "threads", std::to_string(at::get_num_threads()).c_str());
    sink(user, "device", program.device.is_cuda() ? "cuda" : "cpu");
    sink(user, "provider", program.provider.c_str());
    sink(user, "parameters", std::to_string(program.parameters).c_str());
    sink(user, "onednn", at::globalContext().userEnabledMkldnn() ? "true" : "false");
  });
}

// --- profile -------------------------------------------------------------------------------------------------------

Profile& profile_of(imb_session& session) {
  if (session.profile == nullptr) fail(IMB_INVALID_ARGUMENT, "the model was not loaded to be profiled");
  return *session.profile;
}

imb_status profile_begin(imb_session* session, imb_message message) {
  return guarded(message, IMB_RUN_ERROR, [&] { profile_of(*session).begin(); });
}

imb_status profile_end(imb_session* session, imb_message message) {
  return guarded(message, IMB_RUN_ERROR, [&] { profile_of(*session).end(); });
}

constexpr imb_backend second_part = {
    .abi_version = IMB_ABI_VERSION,
    .struct_size = sizeof(imb_backend),
    .open_runtime = open_runtime_of_part,
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
    .synchronize = synchronize,
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

extern "C" __attribute__((visibility("default"))) const imb_backend* libtorch_part() { return &second_part; }
