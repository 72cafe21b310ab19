#include "python/python_backend.hpp"

#include <fmt/format.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <array>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "infermeter/data/dtype.hpp"
#include "python/output_signature.hpp"
#include "sdk/abi_edge.hpp"
#include "sdk/data_shape.hpp"
#include "sdk/profile_folder.hpp"

namespace nb = nanobind;

namespace infermeter::python {
namespace {

// Of a worker there is one thread that calls; programs may measure live objects in several.
nb::object& the_opener() {
  static thread_local auto* const opener = new nb::object();  // never destroyed: the interpreter may be gone by then
  return *opener;
}
nb::object& the_exception() {
  static thread_local auto* const exception = new nb::object();
  return *exception;
}
thread_local bool was_interrupted = false;

nb::object host() { return nb::module_::import_("infermeter._host"); }

// As `guarded`, for bodies that call into Python.
template <class Body>
imb_status in_python(imb_message message, imb_status otherwise, Body&& body) noexcept {
  return guarded(message, otherwise, [&] {
    try {
      body();
    } catch (nb::python_error& raised) {
      the_exception() = nb::borrow(raised.value());
      const auto [status, sentence] = nb::cast<std::pair<int, std::string>>(host().attr("explain")(raised.value()));
      fail(status == 0 ? otherwise : static_cast<imb_status>(status), sentence);
    }
  });
}

// Texts that a C struct points into: they stay where they are.
class Texts {
 public:
  const char* keep(std::string text) { return texts_.emplace_back(std::move(text)).c_str(); }
  const char* keep(nb::handle text) { return keep(std::string(nb::str(text).c_str())); }

 private:
  std::deque<std::string> texts_;
};

std::string joined(nb::handle names) {
  std::string text;
  for (const nb::handle name : names) text += (text.empty() ? "" : ",") + std::string(nb::str(name).c_str());
  return text;
}

imb_dtype dtype_named(std::string_view name) {
  if (name.empty()) return IMB_UNDEFINED;
  const auto dtype = dtype_from_string(name);
  if (!dtype) fail(IMB_UNSUPPORTED, fmt::format("'{}' is not a type of elements that is known here", name));
  return static_cast<imb_dtype>(*dtype);
}

struct PortText {
  Texts texts;
  std::vector<std::int64_t> shape;
  std::vector<const char*> dimension_names;
  imb_port port{};

  explicit PortText(nb::handle declared) {
    const nb::object declared_shape = declared.attr("shape");
    if (!declared_shape.is_none())
      for (const nb::handle dimension : declared_shape) add(dimension);
    port = {.name = texts.keep(declared.attr("name")),
            .kind = IMB_TENSOR,
            .is_optional = 0,
            .dtype = dtype_named(std::string(nb::str(nb::object(declared.attr("dtype"))).c_str())),
            .rank_known = declared_shape.is_none() ? 0 : 1,
            .rank = shape.size(),
            .shape = shape.data(),
            .dimension_names = dimension_names.data()};
  }
  PortText(const PortText&) = delete;
  PortText& operator=(const PortText&) = delete;

 private:
  void add(nb::handle dimension) {
    const bool is_fixed = PyLong_Check(dimension.ptr()) != 0;
    const std::int64_t size = is_fixed ? nb::cast<std::int64_t>(dimension) : -1;
    shape.push_back(size < 0 ? -1 : size);
    const bool is_named = PyUnicode_Check(dimension.ptr()) != 0;
    dimension_names.push_back(is_named ? texts.keep(dimension) : "");
  }
};

}  // namespace
}  // namespace infermeter::python

struct imb_runtime {
  nb::object object;
  infermeter::python::Texts texts;
  std::vector<const char*> devices, dtypes;
  std::vector<imb_option> options;
  imb_runtime_info info{};
};

struct imb_session {
  nb::object object;
  std::deque<infermeter::python::PortText> inputs, outputs;
  std::string profile_folder;  // empty: operators are not profiled
  nb::object between;          // what is to be done between two steps; not valid: nothing
};

struct OutputView {
  nb::object bytes;  // a NumPy array of bytes
  std::vector<std::int64_t> shape;
  imb_dtype dtype = IMB_UNDEFINED;
  Py_buffer buffer{};

  OutputView() = default;
  OutputView(const OutputView&) = delete;
  OutputView& operator=(const OutputView&) = delete;
  ~OutputView() {
    if (buffer.obj != nullptr) PyBuffer_Release(&buffer);
  }
};

struct imb_request {
  imb_session* session = nullptr;
  std::vector<nb::object> arrays;  // one per input
  nb::object step, result;
  std::optional<infermeter::python::OutputSignature> signature;
  std::deque<OutputView> outputs;  // of `result`, made when asked for
  bool has_outputs = false;
  std::vector<std::int64_t> moments_ns;  // of the parts of `result`
};

namespace infermeter::python {
namespace {

extern thread_local imb_backend table;

void describe(imb_runtime& runtime) {
  const nb::object info = runtime.object.attr("info");
  const auto list = [&runtime](nb::handle names, std::vector<const char*>& pointers) {
    for (const nb::handle name : names) pointers.push_back(runtime.texts.keep(name));
  };
  list(info.attr("devices"), runtime.devices);
  list(info.attr("dtypes"), runtime.dtypes);
  for (const nb::handle option : info.attr("options"))
    runtime.options.push_back({runtime.texts.keep(option.attr("key")), runtime.texts.keep(option.attr("values")),
                               runtime.texts.keep(option.attr("help"))});
  runtime.info = {.struct_size = sizeof(imb_runtime_info),
                  .name = runtime.texts.keep(info.attr("name")),
                  .runtime_name = runtime.texts.keep(info.attr("runtime_name")),
                  .runtime_version = runtime.texts.keep(info.attr("runtime_version")),
                  .library = runtime.texts.keep(info.attr("library")),
                  .model_formats = runtime.texts.keep(joined(info.attr("model_formats"))),
                  .device_count = runtime.devices.size(),
                  .devices = runtime.devices.data(),
                  .dtype_count = runtime.dtypes.size(),
                  .dtypes = runtime.dtypes.data(),
                  .option_count = runtime.options.size(),
                  .options = runtime.options.data(),
                  .concurrent_requests = 1};
}

const char* text_or_empty(const char* text) { return text == nullptr ? "" : text; }

imb_status open_runtime(const imb_environment* environment, imb_runtime** runtime, imb_message message) {
  *runtime = nullptr;
  return in_python(message, IMB_LIBRARY_MISSING, [&] {
    auto made = std::make_unique<imb_runtime>();
    made->object = the_opener()(text_or_empty(environment->library), text_or_empty(environment->folder));
    describe(*made);
    *runtime = made.release();
  });
}

const imb_runtime_info* runtime_info(imb_runtime* runtime) { return &runtime->info; }
void close_runtime(imb_runtime* runtime) { delete runtime; }

nb::dict pairs_of(std::size_t count, const imb_pair* pairs) {
  nb::dict result;
  for (std::size_t i = 0; i < count; ++i) result[pairs[i].key] = pairs[i].value;
  return result;
}

[[noreturn]] void raise_refused(imb_status status, const char* sentence) {
  const nb::module_ backend = nb::module_::import_("infermeter.backend");
  const nb::object refused = backend.attr("Refused")(backend.attr("Status")(static_cast<int>(status)), sentence);
  PyErr_SetObject(backend.attr("Refused").ptr(), refused.ptr());
  nb::raise_python_error();
}

// load.batch_axes for Python; only while the load lasts, which `alive` says.
nb::list axes_of(const std::shared_ptr<const imb_load*>& alive, const nb::list& ports) {
  const imb_load* const load = *alive;
  if (load == nullptr)
    fail(IMB_INVALID_ARGUMENT, "which dimension is the batch is reported while a model is loaded only");
  std::deque<PortText> texts;
  std::vector<const imb_port*> views;
  for (const nb::handle port : ports) views.push_back(&texts.emplace_back(port).port);
  std::vector<std::int64_t> axes(views.size(), -1);
  std::array<char, 1024> words{};
  const imb_status status = load->batch_axes(load->batch_axes_user, views.size(), views.data(), axes.data(),
                                             imb_message{words.data(), words.size()});
  if (status != IMB_OK) raise_refused(status, words.data());
  nb::list result;
  for (const std::int64_t axis : axes) result.append(axis < 0 ? nb::none() : nb::object(nb::int_(axis)));
  return result;
}

nb::object load_of(const imb_load& load, const std::shared_ptr<const imb_load*>& alive) {
  return nb::module_::import_("infermeter.backend")
      .attr("Load")(load.model_path, text_or_empty(load.zoo_name), load.device, load.dtype, load.threads, load.batch,
                    pairs_of(load.dimension_count, load.dimensions), pairs_of(load.option_count, load.options),
                    text_or_empty(profile_folder_of(load)), nb::cpp_function([alive](const nb::list& ports) {
                      try {
                        return axes_of(alive, ports);
                      } catch (const Failure& failure) {  // Python's callers know exceptions of Python
                        raise_refused(failure.status, failure.message.c_str());
                      }
                    }),
                    std::string(data_shape_of(load)));
}

void read_ports(imb_session& session) {
  session.inputs.clear();
  session.outputs.clear();
  for (const nb::handle port : session.object.attr("inputs")) session.inputs.emplace_back(port);
  for (const nb::handle port : session.object.attr("outputs")) session.outputs.emplace_back(port);
}

imb_status compile(imb_session* session, imb_message message) {
  return in_python(message, IMB_MODEL_ERROR, [&] {
    session->object.attr("compile")();
    read_ports(*session);
  });
}

nb::object optional_method(nb::handle object, const char* name) { return nb::getattr(object, name, nb::none()); }

imb_status call_with_folder(imb_session* session, const char* name, imb_message message) {
  return in_python(message, IMB_RUN_ERROR, [&] {
    if (session->profile_folder.empty()) fail(IMB_INVALID_ARGUMENT, "the model was not loaded to be profiled");
    if (const nb::object method = optional_method(session->object, name); !method.is_none())
      method(session->profile_folder);
  });
}

imb_status profile_begin(imb_session* session, imb_message message) {
  return call_with_folder(session, "profile_begin", message);
}
imb_status profile_end(imb_session* session, imb_message message) {
  return call_with_folder(session, "profile_end", message);
}

// When the parts of what the last step returned came.
imb_status parts(imb_request* request, imb_parts* parts, imb_message message) {
  return in_python(message, IMB_RUN_ERROR, [&] {
    if (!request->result.is_valid()) fail(IMB_RUN_ERROR, "there is no answer before the first run");
    const nb::object reported = request->session->object.attr("parts")(request->result);
    request->moments_ns = nb::cast<std::vector<std::int64_t>>(reported.attr("moments_ns"));
    *parts = {.struct_size = parts->struct_size,
              .part_count = request->moments_ns.size(),
              .moments_ns = request->moments_ns.data(),
              .output_tokens = nb::cast<std::int64_t>(reported.attr("output_tokens")),
              .prompt_tokens = nb::cast<std::int64_t>(reported.attr("prompt_tokens"))};
  });
}

imb_status lengths(imb_request* request, std::int64_t prompt_tokens, std::int64_t output_tokens, imb_message message) {
  return in_python(message, IMB_RUN_ERROR,
                   [&] { request->session->object.attr("lengths")(prompt_tokens, output_tokens); });
}

imb_status load_model(imb_runtime* runtime, const imb_load* load, imb_session** session, imb_message message) {
  *session = nullptr;
  return in_python(message, IMB_MODEL_ERROR, [&] {
    auto made = std::make_unique<imb_session>();
    const auto alive = std::make_shared<const imb_load*>(load);
    const struct Forget {
      const imb_load*& load;
      ~Forget() { load = nullptr; }
    } forget{*alive};
    made->object = runtime->object.attr("load")(load_of(*load, alive));
    read_ports(*made);
    made->profile_folder = text_or_empty(profile_folder_of(*load));
    // Whether there is a step of its own for compiling, a profile, or parts, is known of a session; the ABI asks the
    // table.
    table.compile = optional_method(made->object, "compile").is_none() ? nullptr : compile;
    const bool has_profile = !optional_method(made->object, "profile_end").is_none();
    table.profile_begin = has_profile ? profile_begin : nullptr;
    table.profile_end = has_profile ? profile_end : nullptr;
    table.parts = optional_method(made->object, "parts").is_none() ? nullptr : parts;
    table.lengths = optional_method(made->object, "lengths").is_none() ? nullptr : lengths;
    if (nb::object between = optional_method(made->object, "between"); !between.is_none())
      made->between = std::move(between);
    *session = made.release();
  });
}

void close_session(imb_session* session) {
  imb_message nowhere{nullptr, 0};
  static_cast<void>(in_python(nowhere, IMB_RUN_ERROR, [&] {
    if (const nb::object close = optional_method(session->object, "close"); !close.is_none()) close();
  }));
  delete session;
}

std::size_t input_count(imb_session* session) { return session->inputs.size(); }
std::size_t output_count(imb_session* session) { return session->outputs.size(); }
const imb_port* input(imb_session* session, std::size_t index) {
  return index < session->inputs.size() ? &session->inputs[index].port : nullptr;
}
const imb_port* output(imb_session* session, std::size_t index) {
  return index < session->outputs.size() ? &session->outputs[index].port : nullptr;
}

imb_status create_request(imb_session* session, imb_request** request, imb_message message) {
  *request = nullptr;
  return guarded(message, IMB_RUN_ERROR, [&] {
    auto made = std::make_unique<imb_request>();
    made->session = session;
    made->arrays.resize(session->inputs.size());
    *request = made.release();
  });
}
void destroy_request(imb_request* request) { delete request; }

// Read-only, over the host's own bytes.
nb::object array_over(const imb_value& value) {
  if (value.kind != IMB_TENSOR || value.dtype == IMB_STRING)
    fail(IMB_UNSUPPORTED, "a Python back end takes tensors of numbers, and was given another kind of value");
  nb::list shape;
  for (std::size_t i = 0; i < value.rank; ++i) shape.append(value.shape[i]);
  static char nothing = 0;
  auto* const data = const_cast<char*>(value.data == nullptr ? &nothing : static_cast<const char*>(value.data));
  const nb::object memory =
      nb::steal(PyMemoryView_FromMemory(data, static_cast<Py_ssize_t>(value.size_bytes), PyBUF_READ));
  return host().attr("array_of")(memory, std::string(to_string(static_cast<DType>(value.dtype))), nb::tuple(shape));
}

// A model without inputs is bound by nobody, so the first run does it.
void bind(imb_request& request) {
  nb::list arrays;
  for (const nb::object& array : request.arrays) arrays.append(array);
  request.step = request.session->object.attr("bind")(arrays);
  request.result.reset();
  request.outputs.clear();
  request.has_outputs = false;
}

// The last input of a set binds them all: the host gives them in order.
imb_status bind_input(imb_request* request, std::size_t index, const imb_value* value, imb_message message) {
  return in_python(message, IMB_INVALID_ARGUMENT, [&] {
    if (index >= request->arrays.size()) fail(IMB_INVALID_ARGUMENT, fmt::format("input {} does not exist", index));
    request->arrays[index] = array_over(*value);
    if (index + 1 == request->arrays.size()) bind(*request);
  });
}

imb_status report_run(imb_request*, imb_message message) {
  return in_python(message, IMB_RUN_ERROR, [] { nb::raise_python_error(); });
}

// In the timed region: one call, and the release of what the call before it returned, as `result = step()` has it.
imb_status run(imb_request* request, imb_message message) {
  if (!request->step.is_valid()) {
    const imb_status bound = in_python(message, IMB_INVALID_ARGUMENT, [&] { bind(*request); });
    if (bound != IMB_OK) return bound;
  }
  PyObject* const result = PyObject_CallNoArgs(request->step.ptr());
  if (result == nullptr) return report_run(request, message);
  request->result = nb::steal(result);
  return IMB_OK;
}

// Other threads of this Python get their turn, signals are looked at, and the output is compared with the first one.
imb_status between(imb_request* request, imb_message message) {
  PyEval_RestoreThread(PyEval_SaveThread());
  if (PyErr_CheckSignals() != 0) {
    was_interrupted = true;
    return report_run(request, message);
  }
  if (!request->result.is_valid()) return IMB_OK;
  request->outputs.clear();
  request->has_outputs = false;
  return in_python(message, IMB_RUN_ERROR, [&] {
    if (request->session->between.is_valid()) request->session->between();
    if (!request->signature) return static_cast<void>(request->signature.emplace(request->result));
    const std::string change = request->signature->change(request->result);
    if (!change.empty())
      fail(IMB_RUN_ERROR, fmt::format("the output changed between two calls on the same input shapes, {}: times of "
                                      "different work cannot be put together",
                                      change));
  });
}

void add_output(imb_request& request, nb::handle value) {
  using Raw = std::tuple<std::string, nb::object, nb::object>;
  auto [name, shape, bytes] = nb::cast<Raw>(host().attr("bytes_of")(value));
  OutputView& view = request.outputs.emplace_back();
  view.dtype = dtype_named(name);
  for (const nb::handle dimension : shape) view.shape.push_back(nb::cast<std::int64_t>(dimension));
  view.bytes = std::move(bytes);
  if (PyObject_GetBuffer(view.bytes.ptr(), &view.buffer, PyBUF_SIMPLE) != 0) nb::raise_python_error();
}

void make_outputs(imb_request& request) {
  if (request.has_outputs) return;
  if (!request.result.is_valid()) fail(IMB_RUN_ERROR, "there is no output before the first run");
  const nb::object values = request.session->object.attr("values")(request.result);
  request.outputs.clear();
  for (const nb::handle value : values) add_output(request, value);
  read_ports(*request.session);  // what a callable returns is often known only by then
  if (request.outputs.size() != request.session->outputs.size())
    fail(IMB_RUN_ERROR,
         fmt::format("{} outputs were declared and {} came", request.session->outputs.size(), request.outputs.size()));
  request.has_outputs = true;
}

imb_status output_value(imb_request* request, std::size_t index, imb_value* value, imb_message message) {
  return in_python(message, IMB_RUN_ERROR, [&] {
    make_outputs(*request);
    if (index >= request->outputs.size()) fail(IMB_INVALID_ARGUMENT, fmt::format("there is no output {}", index));
    const OutputView& view = request->outputs[index];
    *value = {.kind = IMB_TENSOR,
              .dtype = view.dtype,
              .rank = view.shape.size(),
              .shape = view.shape.data(),
              .data = view.buffer.buf,
              .size_bytes = static_cast<std::size_t>(view.buffer.len),
              .string_sizes = nullptr,
              .element_count = 0,
              .elements = nullptr};
  });
}

imb_status executed(imb_session* session, imb_pair_sink sink, void* user, imb_message message) {
  return in_python(message, IMB_RUN_ERROR, [&] {
    const nb::object reported = session->object.attr("executed")();
    for (const auto [name, value] : nb::cast<nb::dict>(reported))
      sink(user, nb::str(name).c_str(), nb::str(value).c_str());
  });
}

imb_status device_memory(imb_session* session, std::uint64_t* now, std::uint64_t* peak, imb_message message) {
  return in_python(message, IMB_UNSUPPORTED, [&] {
    const nb::object method = optional_method(session->object, "device_memory");
    const nb::object memory = method.is_none() ? method : method();
    if (memory.is_none()) fail(IMB_UNSUPPORTED, "this device has no memory of its own");
    std::tie(*now, *peak) = nb::cast<std::pair<std::uint64_t, std::uint64_t>>(memory);
  });
}

imb_status counters(imb_session* session, imb_number_sink sink, void* user, imb_message message) {
  return in_python(message, IMB_RUN_ERROR, [&] {
    const nb::object method = optional_method(session->object, "counters");
    if (method.is_none()) return;
    const nb::object all = method();
    for (const auto [name, counter] : nb::cast<nb::dict>(all)) {
      const auto [value, unit] = nb::cast<std::pair<double, std::string>>(counter);
      sink(user, nb::str(name).c_str(), unit.c_str(), value);
    }
  });
}

thread_local imb_backend table = {.abi_version = IMB_ABI_VERSION,
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
                                  .device_memory = device_memory,
                                  .counters = counters,
                                  .profile_begin = nullptr,
                                  .profile_end = nullptr,
                                  .between = between,
                                  .parts = nullptr,
                                  .lengths = nullptr,
                                  .queues = nullptr};

}  // namespace

const imb_backend& backend() { return table; }

void set_opener(nb::object opener) {
  the_opener() = std::move(opener);
  the_exception().reset();
  was_interrupted = false;
}

nb::object take_exception() { return std::exchange(the_exception(), nb::object()); }

bool interrupted() { return was_interrupted; }

}  // namespace infermeter::python
