// A model on a server, by the Open Inference Protocol v2 over HTTP/1.1 or gRPC. Reads bottom-up: the table of slots is
// at the end.
#include <algorithm>
#include <atomic>
#include <cstddef>
#include <list>
#include <memory>
#include <mutex>
#include <optional>

#include "http/http.hpp"
#include "http/json_text.hpp"
#include "http/place.hpp"
#include "http/request_queue.hpp"
#include "infermeter_backend.h"
#include "protocol.hpp"
#include "sdk/dimensions.hpp"
#include "settings.hpp"

using namespace infermeter;  // the ABI's struct tags are global names

struct imb_runtime {
  std::vector<imb_option> options = listed_options(option_rows());
  std::list<std::string> texts;  // what was handed out stays, whatever is loaded later
  imb_runtime_info info{};
};

struct imb_session {
  imb_runtime* runtime = nullptr;
  Settings settings;
  HttpPlace place;
  ServerMetadata server;
  std::unique_ptr<Protocol> protocol;  // over `place`
  std::string model_version, platform;
  std::vector<std::unique_ptr<Port>> inputs;
  std::size_t largest_answer = 0;

  // Where the server declares none, the first answer says them; requests may be in the hands of several threads.
  std::mutex mutex;
  std::atomic<bool> outputs_known = false;
  std::vector<PortFields> output_fields;
  std::vector<std::unique_ptr<Port>> outputs;
  std::string transport;                        // of the last answer
  std::optional<std::string> answered_version;  // of the first one
};

struct imb_request {
  explicit imb_request(imb_session& of_session)
      : session(of_session),
        exchange(make_exchange(session.place, session.protocol->infer_path())),
        inputs(session.inputs.size()) {
    exchange->set_limit(session.largest_answer);
  }

  imb_session& session;
  const std::unique_ptr<HttpExchange> exchange;
  std::vector<EncodedInput> inputs;
  InferMessage body;
  bool has_body = false;  // it is of what is bound
  bool answered = false;  // since the last bind, and well
  bool is_read = false;   // `outputs` are of the last answer
  std::vector<OutputTensor> outputs;
  std::vector<std::vector<std::int64_t>> first_shapes;
  std::vector<std::vector<const char*>> texts;  // of outputs that are strings
  std::vector<std::vector<std::size_t>> text_sizes;
};

namespace {

// --- runtime -------------------------------------------------------------------------------------------------------

constexpr const char* devices[] = {"server"};
constexpr const char* dtypes[] = {"float32"};

imb_status open_runtime(const imb_environment* /*environment*/, imb_runtime** runtime, imb_message message) {
  *runtime = nullptr;
  return guarded(message, IMB_LIBRARY_MISSING, [&] {
    start_libcurl();
    auto made = std::make_unique<imb_runtime>();
    made->info = {.struct_size = sizeof(imb_runtime_info),
                  .name = "kserve",
                  .runtime_name = "Open Inference Protocol",
                  .runtime_version = "v2",
                  .library = "",
                  .model_formats = "server",
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

std::unique_ptr<Protocol> protocol_for(const Settings& settings, Target target) {
  if (settings.protocol == ProtocolName::http) return http_protocol(std::move(target), settings.tensors);
  if (settings.tensors == TensorForm::json)
    fail(IMB_INVALID_ARGUMENT, "tensors=json goes with protocol=http: gRPC carries tensors as bytes");
  return grpc_protocol(std::move(target));
}

void set_ports(imb_session& session, const imb_load& load, ModelMetadata metadata) {
  std::vector<DeclaredInput> declarations;
  for (const PortFields& input : metadata.inputs) declarations.push_back(declared(input));
  check_dimensions(load, declarations);
  const auto axes = batch_axes(load, declarations);
  for (std::size_t i = 0; i < metadata.inputs.size(); ++i) {
    fix_dimensions(metadata.inputs[i], load, axes[i]);
    session.inputs.push_back(std::make_unique<Port>(std::move(metadata.inputs[i])));
  }
  for (PortFields& output : metadata.outputs)
    if (!output.dimension_names.empty() && !output.dimension_names.front().empty())
      fix_dimensions(output, load, axes.front());
  session.largest_answer = largest_answer(metadata.outputs);
  session.outputs_known = !metadata.outputs.empty();
  for (const PortFields& output : metadata.outputs) session.outputs.push_back(std::make_unique<Port>(output));
  session.output_fields = std::move(metadata.outputs);
}

// From here on the runtime is the server.
void note_server(imb_runtime& runtime, const ServerMetadata& server) {
  const auto keep = [&](const std::string& text) {
    return runtime.texts.emplace_back(text.empty() ? "unknown" : text).c_str();
  };
  runtime.info.runtime_name = keep(server.name);
  runtime.info.runtime_version = keep(server.version);
}

imb_status load_model(imb_runtime* runtime, const imb_load* load, imb_session** session, imb_message message) {
  *session = nullptr;
  return guarded(message, IMB_MODEL_ERROR, [&] {
    auto made = std::make_unique<imb_session>();
    made->runtime = runtime;
    made->settings = read_options(option_rows(), *load, "kserve");
    made->place = place_of(*load, made->settings.server, "kserve");
    made->place.http2 = made->settings.protocol == ProtocolName::grpc;
    made->protocol = protocol_for(made->settings, {made->place, load->model_path, made->settings.model_version});
    made->server = made->protocol->ask_server();
    ModelMetadata metadata = made->protocol->ask_model();
    made->platform = metadata.platform;
    made->model_version = made->settings.model_version;
    if (made->model_version.empty() && metadata.versions.size() == 1) made->model_version = metadata.versions.front();
    set_ports(*made, *load, std::move(metadata));
    note_server(*runtime, made->server);
    *session = made.release();
  });
}

void close_session(imb_session* session) { delete session; }

std::size_t input_count(imb_session* session) { return session->inputs.size(); }
std::size_t output_count(imb_session* session) {
  const std::lock_guard lock(session->mutex);
  return session->outputs.size();
}
const imb_port* input(imb_session* session, std::size_t index) {
  return index < session->inputs.size() ? session->inputs[index]->view() : nullptr;
}
const imb_port* output(imb_session* session, std::size_t index) {
  const std::lock_guard lock(session->mutex);
  return index < session->outputs.size() ? session->outputs[index]->view() : nullptr;
}

// --- request -------------------------------------------------------------------------------------------------------

imb_status create_request(imb_session* session, imb_request** request, imb_message message) {
  *request = nullptr;
  return guarded(message, IMB_RUN_ERROR, [&] { *request = std::make_unique<imb_request>(*session).release(); });
}

void destroy_request(imb_request* request) { delete request; }

void make_body(imb_request& request) {
  const imb_session& session = request.session;
  for (std::size_t i = 0; i < request.inputs.size(); ++i)
    if (!request.inputs[i].is_bound)
      fail(IMB_INVALID_ARGUMENT, "input '" + session.inputs[i]->fields().name + "' is not bound");
  std::vector<std::string> names;
  if (session.outputs_known)
    for (const PortFields& output : session.output_fields) names.push_back(output.name);
  request.body = session.protocol->message(request.inputs, names);
  request.exchange->set_post(request.body.bytes, request.body.headers);
  request.has_body = true;
}

imb_status bind_input(imb_request* request, std::size_t index, const imb_value* value, imb_message message) {
  return guarded(message, IMB_INVALID_ARGUMENT, [&] {
    const imb_session& session = request->session;
    if (index >= session.inputs.size()) fail(IMB_INVALID_ARGUMENT, "the model has no input " + std::to_string(index));
    request->answered = request->has_body = false;
    request->inputs[index] = session.protocol->encode(session.inputs[index]->fields(), *value);
    // The host binds them in their order; what comes in another one is put together by the next run.
    const auto is_bound = [](const EncodedInput& input) { return input.is_bound; };
    if (index + 1 == request->inputs.size() && std::ranges::all_of(request->inputs, is_bound)) make_body(*request);
  });
}

void read_answer(imb_request& request);

void start(imb_request& request, std::shared_ptr<HttpQueue> queue = nullptr) {
  if (!request.has_body) make_body(request);
  request.answered = request.is_read = false;
  request.exchange->start(std::move(queue));
}

void finish(imb_request& request) {
  request.exchange->finish();
  request.session.protocol->check(*request.exchange);
  request.answered = true;
  if (!request.session.outputs_known) read_answer(request);  // the very first one says which there are
}

imb_status run(imb_request* request, imb_message message) {
  return guarded(message, IMB_RUN_ERROR, [&] {
    start(*request);
    finish(*request);
  });
}

imb_status submit(imb_request* request, imb_message message) {
  return guarded(message, IMB_RUN_ERROR, [&] { start(*request); });
}

imb_status submit_to(imb_queue* queue, imb_request* request, imb_message message) {
  return guarded(message, IMB_RUN_ERROR, [&] {
    request->exchange->owner = request;
    start(*request, queue->http);
  });
}

imb_status wait(imb_request* request, imb_message message) {
  return guarded(message, IMB_RUN_ERROR, [&] { finish(*request); });
}

// --- answer --------------------------------------------------------------------------------------------------------

// With the session's lock.
void learn_outputs(imb_session& session, const std::vector<OutputTensor>& outputs) {
  for (const OutputTensor& output : outputs) {
    PortFields fields{.name = output.name,
                      .dtype = output.dtype,
                      .shape = output.shape,
                      .dimension_names = std::vector<std::string>(output.shape.size())};
    session.outputs.push_back(std::make_unique<Port>(fields));
    session.output_fields.push_back(std::move(fields));
  }
  session.outputs_known = true;
}

// With the session's lock. Times of two models are no times of one.
void check_version(imb_session& session, const std::string& version) {
  if (!session.answered_version) session.answered_version = version;
  if (*session.answered_version == version) return;
  fail(IMB_RUN_ERROR, "the model was replaced on the server: version " + shown(*session.answered_version, 80) +
                          " answered first, and version " + shown(version, 80) + " now; model_version= asks for one");
}

void read_answer(imb_request& request) {
  if (request.is_read) return;
  imb_session& session = request.session;
  InferAnswer answer = session.protocol->read(*request.exchange);
  {
    const std::lock_guard lock(session.mutex);
    check_version(session, answer.model_version);
    session.transport = request.exchange->transport();
    if (!session.outputs_known) learn_outputs(session, answer.outputs);
  }
  request.outputs = as_declared(std::move(answer.outputs), session.output_fields);
  request.texts.assign(request.outputs.size(), {});
  request.text_sizes.assign(request.outputs.size(), {});
  for (std::size_t i = 0; i < request.outputs.size(); ++i)
    for (const std::string& text : request.outputs[i].strings) {
      request.texts[i].push_back(text.c_str());
      request.text_sizes[i].push_back(text.size());
    }
  request.is_read = true;
}

imb_status output_value(imb_request* request, std::size_t index, imb_value* value, imb_message message) {
  return guarded(message, IMB_RUN_ERROR, [&] {
    if (!request->answered) fail(IMB_INVALID_ARGUMENT, "there is no output before an inference has succeeded");
    read_answer(*request);
    if (index >= request->outputs.size())
      fail(IMB_INVALID_ARGUMENT, "the model has no output " + std::to_string(index));
    const OutputTensor& output = request->outputs[index];
    const bool is_text = output.dtype == IMB_STRING;
    *value = {.kind = IMB_TENSOR,
              .dtype = output.dtype,
              .rank = output.shape.size(),
              .shape = output.shape.data(),
              .data = is_text ? static_cast<const void*>(request->texts[index].data()) : output.data(),
              .size_bytes = output.size_bytes,
              .string_sizes = is_text ? request->text_sizes[index].data() : nullptr,
              .element_count = 0,
              .elements = nullptr};
  });
}

void check_answer(imb_request& request) {
  read_answer(request);
  std::vector<std::vector<std::int64_t>> shapes;
  for (const OutputTensor& output : request.outputs) shapes.push_back(output.shape);
  if (request.first_shapes.empty()) request.first_shapes = shapes;
  for (std::size_t i = 0; i < shapes.size(); ++i)
    if (shapes[i] != request.first_shapes[i])
      fail(IMB_RUN_ERROR, "output " + shown(request.outputs[i].name, 80) + " had the shape " +
                              shape_text(request.first_shapes[i]) + " and has " + shape_text(shapes[i]) + " now");
}

// Each answer is looked at, outside of the timed region. One that is none is not there any more: the request may be
// sent again.
imb_status between(imb_request* request, imb_message message) {
  if (!request->answered) return IMB_OK;
  return guarded(message, IMB_RUN_ERROR, [&] {
    request->answered = false;
    check_answer(*request);
    request->answered = true;
  });
}

// --- facts ---------------------------------------------------------------------------------------------------------

bool is_floating(imb_dtype dtype) {
  return dtype == IMB_FLOAT32 || dtype == IMB_FLOAT16 || dtype == IMB_FLOAT64 || dtype == IMB_BFLOAT16;
}

// Nobody sees what a server computes in: its tensors are what there is to say.
std::string dtype_of(const imb_session& session) {
  for (const auto* ports : {&session.outputs, &session.inputs})
    for (const auto& port : *ports)
      if (is_floating(port->fields().dtype)) return std::string(name_of(port->fields().dtype));
  return "float32";
}

imb_status executed(imb_session* session, imb_pair_sink sink, void* user, imb_message message) {
  return guarded(message, IMB_RUN_ERROR, [&] {
    const std::lock_guard lock(session->mutex);
    const auto tell = [&](const char* name, const std::string& value) {
      if (!value.empty()) sink(user, name, value.c_str());
    };
    const ServerMetadata& server = session->server;
    tell("dtype", dtype_of(*session));
    tell("dtype_from", "model");
    tell("device", "server");
    tell("provider",
         (server.name.empty() ? "unknown" : server.name) + (server.version.empty() ? "" : " " + server.version));
    tell("platform", session->platform);
    const std::string answered = session->answered_version.value_or("");
    tell("model_version", answered.empty() ? session->model_version : answered);
    tell("transport", session->transport);
    tell("protocol", session->settings.protocol == ProtocolName::grpc ? "gRPC" : "HTTP");
    tell("tensors", session->protocol->tensor_form());
    tell("client", std::string("libcurl ") + curl_version_info(CURLVERSION_NOW)->version);
  });
}

constexpr imb_queue_slots queues = {
    .create = create_queue, .destroy = destroy_queue, .submit = submit_to, .next_ended = next_ended};

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
    .submit = submit,
    .wait = wait,
    .synchronize = nullptr,
    .executed = executed,
    .device_memory = nullptr,
    .counters = nullptr,
    .profile_begin = nullptr,
    .profile_end = nullptr,
    .between = between,
    .parts = nullptr,
    .lengths = nullptr,
    .queues = &queues,
};

}  // namespace

extern "C" {
std::uint32_t infermeter_backend_abi_version(void) { return IMB_ABI_VERSION; }
const imb_backend* infermeter_backend(void) { return &backend; }
}
