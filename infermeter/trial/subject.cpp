#include "infermeter/trial/subject.hpp"

#include <fmt/format.h>

#include <cstddef>
#include <cstring>

namespace infermeter {
namespace {

// Where tables ended before there was anything optional behind them.
constexpr std::size_t first_table_size = offsetof(imb_backend, between);

auto slot_between(const imb_backend& backend) {
  return backend.struct_size > first_table_size ? backend.between : nullptr;
}

auto slot_parts(const imb_backend& backend) {
  return backend.struct_size > offsetof(imb_backend, parts) ? backend.parts : nullptr;
}

auto slot_lengths(const imb_backend& backend) {
  return backend.struct_size > offsetof(imb_backend, lengths) ? backend.lengths : nullptr;
}

const imb_queue_slots* slot_queues(const imb_backend& backend) {
  return backend.struct_size > offsetof(imb_backend, queues) ? backend.queues : nullptr;
}

std::string_view meaning(imb_status status) {
  switch (status) {
    case IMB_OK: return "it reported success";
    case IMB_INVALID_ARGUMENT: return "an argument does not fit";
    case IMB_UNSUPPORTED: return "the runtime cannot do this";
    case IMB_LIBRARY_MISSING: return "the runtime's library was not found";
    case IMB_LIBRARY_TOO_OLD: return "the runtime's library is too old";
    case IMB_MODEL_ERROR: return "the model cannot be read or compiled";
    case IMB_RUN_ERROR: return "the inference failed";
    case IMB_OUT_OF_MEMORY: return "out of memory";
    case IMB_SERVER_REFUSED: return "the server cannot be reached";
    case IMB_SERVER_RESET: return "the server closed the connection";
    case IMB_SERVER_TIMEOUT: return "the server did not answer in time";
    case IMB_SERVER_STATUS_4XX:
    case IMB_SERVER_STATUS_5XX: return "the server answered with an error";
    case IMB_BAD_ANSWER: return "the server's answer cannot be used";
  }
  return "the back end returned a status that the ABI does not have";
}

ErrorKind kind_of(imb_status status) {
  switch (status) {
    case IMB_INVALID_ARGUMENT:
    case IMB_UNSUPPORTED:
    case IMB_LIBRARY_MISSING:
    case IMB_LIBRARY_TOO_OLD: return ErrorKind::usage;
    case IMB_OUT_OF_MEMORY: return ErrorKind::worker;
    default: return ErrorKind::model;
  }
}

std::vector<imb_pair> abi_pairs(const Pairs& pairs) {
  std::vector<imb_pair> result;
  for (const auto& [key, value] : pairs) result.push_back({key.c_str(), value.c_str()});
  return result;
}

void append_pair(void* user, const char* name, const char* value) {
  if (name == nullptr) return;
  static_cast<Pairs*>(user)->emplace_back(name, value == nullptr ? "" : value);
}

void append_counter(void* user, const char* name, const char* unit, double value) {
  if (name == nullptr) return;
  static_cast<std::vector<Counter>*>(user)->push_back({name, unit == nullptr ? "" : unit, value});
}

template <class Count, class Get>
std::vector<Port> ports_of(imb_session* session, Count count, Get get) {
  std::vector<Port> ports;
  for (std::size_t i = 0; i < count(session); ++i) ports.push_back(port_from_abi(*get(session, i)));
  return ports;
}

// The host's side of imb_load::batch_axes.
struct AxesAsked {
  const AskedAxes& axes;
  std::optional<BatchAxes> reported;
};

imb_status choose_batch_axes(void* user, std::size_t count, const imb_port* const* inputs, std::int64_t* axes,
                             imb_message message) {
  auto& asked = *static_cast<AxesAsked*>(user);
  std::vector<Port> ports;
  for (std::size_t i = 0; i < count; ++i) ports.push_back(port_from_abi(*inputs[i]));
  const auto found = batch_axes(ports, asked.axes);
  if (!found.ok()) {
    if (message.text != nullptr && message.capacity > 0) {
      const std::string& words = found.error().message;
      message.text[words.copy(message.text, message.capacity - 1)] = '\0';
    }
    return IMB_INVALID_ARGUMENT;
  }
  asked.reported = *found;
  for (std::size_t i = 0; i < count; ++i) axes[i] = (*found)[i].value_or(-1);
  return IMB_OK;
}

}  // namespace

Error AbiMessage::error(imb_status status, std::string_view context) const {
  const std::size_t length = strnlen(text_.data(), text_.size());
  std::string words(text_.data(), length);
  for (char& c : words)
    if (static_cast<unsigned char>(c) < ' ' || c == '\x7f') c = ' ';
  words.erase(words.find_last_not_of(' ') + 1);
  words.erase(0, words.find_first_not_of(' '));
  if (words.empty()) words = meaning(status);
  return {kind_of(status), context.empty() ? words : fmt::format("{}: {}", context, words)};
}

Result<Done> check_backend(const imb_backend* backend, std::string_view name) {
  const auto refuse = [&](std::string_view why) {
    return usage_error(
        fmt::format("back end '{}' cannot be used: {}; rebuild its plug-in for this infermeter", name, why));
  };
  if (backend == nullptr) return refuse("it gives no table of functions");
  if (backend->abi_version != IMB_ABI_VERSION)
    return refuse(fmt::format("it was built for ABI version {}, this is {}", backend->abi_version, IMB_ABI_VERSION));
  if (backend->struct_size < first_table_size) return refuse("its table of functions is shorter than the ABI's");
  const std::pair<const char*, bool> slots[] = {{"open_runtime", backend->open_runtime != nullptr},
                                                {"runtime_info", backend->runtime_info != nullptr},
                                                {"close_runtime", backend->close_runtime != nullptr},
                                                {"load", backend->load != nullptr},
                                                {"close", backend->close != nullptr},
                                                {"input_count", backend->input_count != nullptr},
                                                {"output_count", backend->output_count != nullptr},
                                                {"input", backend->input != nullptr},
                                                {"output", backend->output != nullptr},
                                                {"create_request", backend->create_request != nullptr},
                                                {"destroy_request", backend->destroy_request != nullptr},
                                                {"bind_input", backend->bind_input != nullptr},
                                                {"run", backend->run != nullptr},
                                                {"output_value", backend->output_value != nullptr},
                                                {"executed", backend->executed != nullptr}};
  for (const auto& [slot, there] : slots)
    if (!there) return refuse(fmt::format("the slot '{}' is empty", slot));
  return Done{};
}

Result<Runtime> Runtime::open(const imb_backend& backend, const RuntimePlace& place) {
  std::vector<const char*> folders;
  for (const std::string& folder : place.python_folders) folders.push_back(folder.c_str());
  const imb_environment environment{.struct_size = sizeof(imb_environment),
                                    .library = place.library.empty() ? nullptr : place.library.c_str(),
                                    .python_folder_count = folders.size(),
                                    .python_folders = folders.data(),
                                    .folder = place.folder.empty() ? nullptr : place.folder.c_str()};
  AbiMessage message;
  imb_runtime* runtime = nullptr;
  const imb_status status = backend.open_runtime(&environment, &runtime, message.slot());
  if (status != IMB_OK) return message.error(status, "");
  if (runtime == nullptr || backend.runtime_info(runtime) == nullptr)
    return internal_error("the back end opened its runtime and gave none");
  return Runtime(backend, runtime);
}

Result<Session> Session::load(const Runtime& runtime, const LoadPlan& plan) {
  const std::vector<imb_pair> dimensions = abi_pairs(plan.dimensions), options = abi_pairs(plan.options);
  imb_load load{};
  load.struct_size = sizeof load;
  load.model_path = plan.model_path.c_str();
  load.device = plan.device.c_str();
  load.dtype = plan.dtype.c_str();
  load.threads = plan.threads;
  load.batch = plan.batch;
  load.dimension_count = dimensions.size();
  load.dimensions = dimensions.data();
  load.option_count = options.size();
  load.options = options.data();
  load.zoo_name = plan.zoo_name.empty() ? nullptr : plan.zoo_name.c_str();
  load.cache_folder = plan.cache_folder.empty() ? nullptr : plan.cache_folder.c_str();
  load.preparing = plan.preparing ? 1 : 0;
  load.data_shape = plan.data_shape.empty() ? nullptr : plan.data_shape.c_str();
  load.server_addresses = plan.server_addresses.empty() ? nullptr : plan.server_addresses.c_str();
  load.server_token = plan.server_token.empty() ? nullptr : plan.server_token.c_str();
  AxesAsked asked{.axes = plan.batch_axes, .reported = std::nullopt};
  load.batch_axes = choose_batch_axes;
  load.batch_axes_user = &asked;
  load.profile_folder = plan.profile_folder.empty() ? nullptr : plan.profile_folder.c_str();
  AbiMessage message;
  imb_session* session = nullptr;
  const imb_status status = runtime.backend().load(runtime.get(), &load, &session, message.slot());
  if (status != IMB_OK) return message.error(status, "");
  if (session == nullptr) return internal_error("the back end loaded the model and gave no session");
  Session made(runtime.backend(), session);
  INFERMETER_TRY_DONE(made.find_batch_axes(plan, asked.reported));
  return made;
}

// Of a back end that did not ask, what its ports say after loading.
Result<Done> Session::find_batch_axes(const LoadPlan& plan, const std::optional<BatchAxes>& reported) {
  const std::vector<Port> ports = inputs();
  if (reported && reported->size() == ports.size()) {
    batch_axes_ = *reported;
    return Done{};
  }
  INFERMETER_TRY(batch_axes_, infermeter::batch_axes(ports, plan.batch_axes));
  return Done{};
}

Result<Done> Session::compile() {
  AbiMessage message;
  const imb_status status = backend_->compile(session_.get(), message.slot());
  if (status != IMB_OK) return message.error(status, "");
  return Done{};
}

std::vector<Port> Session::inputs() const {
  std::vector<Port> ports = ports_of(session_.get(), backend_->input_count, backend_->input);
  for (std::size_t i = 0; i < std::min(ports.size(), batch_axes_.size()); ++i) ports[i].batch_axis = batch_axes_[i];
  return ports;
}
std::vector<Port> Session::outputs() const {
  return ports_of(session_.get(), backend_->output_count, backend_->output);
}

Result<Pairs> Session::executed() const {
  AbiMessage message;
  Pairs pairs;
  const imb_status status = backend_->executed(session_.get(), append_pair, &pairs, message.slot());
  if (status != IMB_OK) return message.error(status, "asking what is really executed");
  return pairs;
}

Result<Done> Session::read_counters(std::vector<Counter>& counters) const {
  AbiMessage message;
  if (backend_->counters == nullptr) return Done{};
  const imb_status status = backend_->counters(session_.get(), append_counter, &counters, message.slot());
  if (status != IMB_OK) return message.error(status, "");
  return Done{};
}

std::optional<Session::DeviceMemory> Session::device_memory() const {
  AbiMessage message;
  DeviceMemory memory;
  if (backend_->device_memory == nullptr) return std::nullopt;
  const imb_status status = backend_->device_memory(session_.get(), &memory.now, &memory.peak, message.slot());
  if (status != IMB_OK) return std::nullopt;
  return memory;
}

bool Session::has_parts() const { return slot_parts(*backend_) != nullptr; }

bool Session::has_queues() const { return slot_queues(*backend_) != nullptr; }

Result<Done> Session::profile_begin() const {
  AbiMessage message;
  if (backend_->profile_begin == nullptr) return Done{};
  const imb_status status = backend_->profile_begin(session_.get(), message.slot());
  if (status != IMB_OK) return message.error(status, "beginning the profile of operators");
  return Done{};
}

Result<Done> Session::profile_end() const {
  AbiMessage message;
  const imb_status status = backend_->profile_end(session_.get(), message.slot());
  if (status != IMB_OK) return message.error(status, "ending the profile of operators");
  return Done{};
}

Result<RequestQueue> RequestQueue::create(const Session& session) {
  const imb_queue_slots& slots = *slot_queues(session.backend());
  AbiMessage message;
  imb_queue* made = nullptr;
  const imb_status status = slots.create(session.get(), &made, message.slot());
  if (status != IMB_OK) return message.error(status, "");
  if (made == nullptr) return internal_error("the back end created no queue");
  return RequestQueue(slots, made);
}

Request::Request(const Session& session, imb_request* request)
    : backend_(&session.backend()),
      session_(session.get()),
      request_(request, session.backend().destroy_request),
      run_(session.backend().run),
      synchronize_(session.backend().synchronize),
      between_(slot_between(session.backend())),
      parts_(slot_parts(session.backend())),
      lengths_(slot_lengths(session.backend())),
      message_(std::make_unique<AbiMessage>()) {}

Result<Request> Request::create(const Session& session, const std::vector<ItemValues>& items) {
  INFERMETER_CHECK(!items.empty());
  AbiMessage message;
  imb_request* made = nullptr;
  const imb_status status = session.backend().create_request(session.get(), &made, message.slot());
  if (status != IMB_OK) return message.error(status, "");
  if (made == nullptr) return internal_error("the back end created no request");
  Request request(session, made);
  for (const ItemValues& item : items) {
    auto& bindings = request.bindings_.emplace_back();
    for (const Value& value : item) bindings.emplace_back(value);
  }
  if (!request.bind(0)) return request.error("binding the inputs");
  return request;
}

void Request::use_threads_of_runtime() {
  if (backend_->submit == nullptr || backend_->wait == nullptr) return;
  run_ = backend_->submit;
  wait_ = backend_->wait;
}

bool Request::stands() {
  status_ = between_(request_.get(), message_->slot());
  return status_ == IMB_OK;
}

bool Request::ask(std::int64_t prompt_tokens, std::int64_t output_tokens) {
  status_ = lengths_(request_.get(), prompt_tokens, output_tokens, message_->slot());
  return status_ == IMB_OK;
}

std::optional<imb_parts> Request::parts() {
  if (parts_ == nullptr) return std::nullopt;
  imb_parts parts{};
  parts.struct_size = sizeof parts;
  if (parts_(request_.get(), &parts, message_->slot()) != IMB_OK) return std::nullopt;
  return parts;
}

bool Request::bind(std::size_t item) {
  const std::vector<AbiValue>& values = bindings_[item];
  for (std::size_t i = 0; i < values.size(); ++i) {
    status_ = backend_->bind_input(request_.get(), i, &values[i].view(), message_->slot());
    if (status_ != IMB_OK) return false;
  }
  bound_ = item;
  return true;
}

std::string_view Request::failure_kind() const {
  switch (status_) {
    case IMB_SERVER_REFUSED: return "refused";
    case IMB_SERVER_RESET: return "reset";
    case IMB_SERVER_TIMEOUT: return "timeout";
    case IMB_SERVER_STATUS_4XX: return "4xx";
    case IMB_SERVER_STATUS_5XX: return "5xx";
    case IMB_BAD_ANSWER: return "bad answer";
    default: return "other";
  }
}

Result<ItemValues> Request::outputs() {
  ItemValues values;
  for (std::size_t i = 0; i < backend_->output_count(session_); ++i) {
    imb_value view{};
    status_ = backend_->output_value(request_.get(), i, &view, message_->slot());
    if (status_ != IMB_OK) return error(fmt::format("reading output {}", i));
    INFERMETER_TRY(Value value, value_from_abi(view));
    values.push_back(std::move(value));
  }
  return values;
}

}  // namespace infermeter
