// imaging: an object is seen through small apertures of its spectrum, one after the other, and reconstructed from what
// the detector counts. A workload with caches, for whoever wants to know what caches are worth (docs/imaging.md). Reads
// bottom-up.
#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <optional>
#include <string>

#include "fftw.hpp"
#include "infermeter_backend.h"
#include "kernels.hpp"
#include "object.hpp"
#include "reconstruction.hpp"
#include "sdk/abi_edge.hpp"
#include "sdk/cache_folder.hpp"
#include "sdk/dimensions.hpp"
#include "sdk/port.hpp"
#include "sdk/profile_folder.hpp"

using namespace infermeter;  // the ABI's struct tags are global names

struct imb_runtime {
  Fftw fftw;
  std::vector<imb_option> options = listed_options(option_rows());
  imb_runtime_info info{};
};

struct imb_session {
  const Fftw* fftw = nullptr;
  std::string machine;
  Scene scene;
  std::optional<Port> input;  // of objects that the host gives
  std::vector<std::unique_ptr<Port>> outputs;
  std::int64_t batch = 1;  // -1: as many as are bound
  RunCounts counts;        // of the last run: sums over its objects
  std::string profile_folder;
  StageClock clock;
  std::uint64_t runs = 0;  // since the profile began
};

struct imb_request {
  imb_session* session;
  Reconstruction reconstruction;
  std::vector<float> objects;      // one after the other
  std::vector<std::uint64_t> ids;  // of their bytes: the same number, the same bytes
  std::uint64_t last_id = 0;
  std::array<std::vector<float>, 3> values{};  // of the outputs
  std::array<std::vector<std::int64_t>, 3> shapes{};
  bool bound = false, done = false;
};

namespace {

constexpr const char* workload = "imaging";
constexpr const char* devices[] = {"cpu"};
constexpr const char* dtypes[] = {"float32", "float16"};  // the second where the compiler has it

// --- runtime -------------------------------------------------------------------------------------------------------

imb_status open_runtime(const imb_environment* environment, imb_runtime** runtime, imb_message message) {
  *runtime = nullptr;
  return guarded(message, IMB_LIBRARY_MISSING, [&] {
    auto made = std::make_unique<imb_runtime>();
    made->fftw = open_fftw(*environment);
    made->info = {.struct_size = sizeof(imb_runtime_info),
                  .name = "imaging",
                  .runtime_name = "FFTW",
                  .runtime_version = made->fftw.version.c_str(),
                  .library = made->fftw.path.c_str(),
                  .model_formats = "workload:imaging",
                  .device_count = std::size(devices),
                  .devices = devices,
                  .dtype_count = has_float16() ? std::size(dtypes) : 1,
                  .dtypes = dtypes,
                  .option_count = made->options.size(),
                  .options = made->options.data(),
                  .concurrent_requests = 1};
    *runtime = made.release();
  });
}

const imb_runtime_info* runtime_info(imb_runtime* runtime) { return &runtime->info; }
void close_runtime(imb_runtime* runtime) { delete runtime; }

// --- session -------------------------------------------------------------------------------------------------------

void refuse_unknown(const imb_load& load) {
  if (std::string_view(load.device) != "cpu")
    fail(IMB_UNSUPPORTED, "imaging has no device " + std::string(load.device) + "; it has cpu");
  const std::string_view dtype = load.dtype;
  if (dtype != "float32" && !(dtype == "float16" && has_float16()))
    fail(IMB_UNSUPPORTED, "imaging does not execute " + std::string(dtype) + ": its transforms are float32; give " +
                              (has_float16() ? "dtype=float16 for the loops over pixels, or " : "") + "dtype=float32");
  const std::string_view model = load.model_path;
  if (model.substr(model.find_last_of('/') + 1) != workload)
    fail(IMB_MODEL_ERROR, "imaging reads no model, and was given " + std::string(model) + "; name its workload, " +
                              workload + ", in its place: " + workload + "@imaging");
}

std::vector<std::string> no_names(std::size_t count) { return std::vector<std::string>(count); }

PortFields input_port(const ImagingSettings& s) {
  PortFields port{
      .name = "object", .dtype = IMB_FLOAT32, .shape = {-1, s.object_size, s.object_size}, .dimension_names = {}};
  if (s.object == ObjectKind::picture) {
    port.dtype = IMB_UINT8;
    port.shape.insert(port.shape.begin() + 1, 3);
  }
  port.dimension_names = no_names(port.shape.size());
  port.dimension_names.front() = "batch";
  return port;
}

bool is_given(const ImagingSettings& s) { return s.object == ObjectKind::tensor || s.object == ObjectKind::picture; }

void make_input(imb_session& session, const imb_load& load) {
  const ImagingSettings& s = session.scene.settings;
  std::vector<DeclaredInput> declarations;
  if (is_given(s)) {
    PortFields port = input_port(s);
    declarations.push_back(declared(port));
    fix_dimensions(port, load, batch_axes(load, declarations).front());
    session.batch = port.shape[0];
    session.input.emplace(std::move(port));
  } else {
    session.batch = std::max<std::int64_t>(load.batch, 1);
  }
  check_dimensions(load, declarations);
}

void add_output(imb_session& session, const char* name, std::vector<std::int64_t> shape) {
  shape.insert(shape.begin(), session.batch);
  PortFields port{.name = name, .dtype = IMB_FLOAT32, .shape = std::move(shape), .dimension_names = {}};
  port.dimension_names = no_names(port.shape.size());
  if (session.batch < 0) port.dimension_names.front() = "batch";
  session.outputs.push_back(std::make_unique<Port>(std::move(port)));
}

void make_ports(imb_session& session, const imb_load& load) {
  make_input(session, load);
  const ImagingSettings& s = session.scene.settings;
  if (!s.reconstruct) return add_output(session, "measurement", {s.detector, s.detector});
  add_output(session, "reconstruction", {s.object_size, s.object_size});
  add_output(session, "truth", {s.object_size, s.object_size});
  add_output(session, "error", {s.epochs});
}

imb_status load_model(imb_runtime* runtime, const imb_load* load, imb_session** session, imb_message message) {
  *session = nullptr;
  return guarded(message, IMB_MODEL_ERROR, [&] {
    refuse_unknown(*load);
    auto made = std::make_unique<imb_session>();
    made->fftw = &runtime->fftw;
    made->machine = machine_of_plans(runtime->fftw);
    Scene& scene = made->scene;
    scene.settings = settings_from(*load);
    if (scene.settings.storage == Storage::float16 && !has_float16())
      fail(IMB_UNSUPPORTED, "this build of imaging has no storage=float16; give storage=float32");
    scene.centres = positions_of(scene.settings);
    scene.coverage = coverage_of(scene.settings, scene.centres);
    make_ports(*made, *load);
    if (const char* folder = profile_folder_of(*load)) made->profile_folder = folder;
    const char* const cache = cache_folder_of(*load);
    scene.plans =
        std::make_unique<Plans>(runtime->fftw, scene.settings,
                                WisdomPlace{.folder = cache != nullptr ? cache : "", .may_write = is_preparing(*load)});
    *session = made.release();
  });
}

void close_session(imb_session* session) { delete session; }

std::size_t input_count(imb_session* session) { return session->input ? 1 : 0; }
std::size_t output_count(imb_session* session) { return session->outputs.size(); }
const imb_port* input(imb_session* session, std::size_t index) {
  return index < input_count(session) ? session->input->view() : nullptr;
}
const imb_port* output(imb_session* session, std::size_t index) {
  return index < session->outputs.size() ? session->outputs[index]->view() : nullptr;
}

// --- request -------------------------------------------------------------------------------------------------------

std::size_t pixels_of(const ImagingSettings& s) {
  return static_cast<std::size_t>(s.object_size) * static_cast<std::size_t>(s.object_size);
}

// Objects are distinguished by their bytes, here and once: never by where they lie, which others may lie at later.
void take_object(imb_request& request, std::size_t item, std::vector<float> object) {
  const std::size_t pixels = object.size();
  const auto place = request.objects.begin() + static_cast<std::ptrdiff_t>(item * pixels);
  if (request.ids[item] != 0 && std::equal(object.begin(), object.end(), place)) return;
  std::ranges::copy(object, place);
  request.ids[item] = ++request.last_id;
}

void make_room(imb_request& request, std::size_t items) {
  const std::size_t pixels = pixels_of(request.session->scene.settings);
  if (request.ids.size() == items) return;
  request.objects.assign(items * pixels, 0.0F);
  request.ids.assign(items, 0);
  request.done = false;
  const auto& outputs = request.session->outputs;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    std::vector<std::int64_t>& shape = request.shapes[i];
    shape = outputs[i]->fields().shape;
    shape.front() = static_cast<std::int64_t>(items);
    std::size_t count = 1;
    for (const std::int64_t size : shape) count *= static_cast<std::size_t>(size);
    request.values[i].assign(count, 0.0F);
  }
}

void take_built_in(imb_request& request) {
  const ImagingSettings& s = request.session->scene.settings;
  const auto items = static_cast<std::size_t>(request.session->batch);
  make_room(request, items);
  for (std::size_t item = 0; item < items; ++item) take_object(request, item, built_in_object(s, s.seed + item));
  request.bound = true;
}

imb_status create_request(imb_session* session, imb_request** request, imb_message message) {
  *request = nullptr;
  return guarded(message, IMB_RUN_ERROR, [&] {
    std::unique_ptr<imb_request> made(new imb_request{
        .session = session, .reconstruction = Reconstruction(session->scene), .objects = {}, .ids = {}});
    if (!session->input) take_built_in(*made);
    *request = made.release();
  });
}

void destroy_request(imb_request* request) { delete request; }

void bind_objects(imb_request& request, const imb_value& value) {
  const ImagingSettings& s = request.session->scene.settings;
  const auto items = static_cast<std::size_t>(value.shape[0]);
  if (items == 0) fail(IMB_INVALID_ARGUMENT, "input 'object' contains no object");
  const std::size_t pixels = pixels_of(s);
  std::vector<std::vector<float>> objects;
  for (std::size_t item = 0; item < items; ++item) {
    if (s.object == ObjectKind::picture) {
      const std::span planes(static_cast<const std::uint8_t*>(value.data) + 3 * item * pixels, 3 * pixels);
      objects.push_back(normalised_object(grey_from(planes, s.object_size), s.object_size));
    } else {
      const std::span values(static_cast<const float*>(value.data) + item * pixels, pixels);
      objects.push_back(normalised_object(values, s.object_size));
    }
  }
  make_room(request, items);
  for (std::size_t item = 0; item < items; ++item) take_object(request, item, std::move(objects[item]));
  request.bound = true;
}

imb_status bind_input(imb_request* request, std::size_t index, const imb_value* value, imb_message message) {
  return guarded(message, IMB_INVALID_ARGUMENT, [&] {
    if (index >= input_count(request->session))
      fail(IMB_INVALID_ARGUMENT, "imaging has no input " + std::to_string(index) +
                                     (request->session->input ? "" : "; object=tensor or object=picture makes one"));
    if (value->kind != IMB_TENSOR) fail(IMB_INVALID_ARGUMENT, "the input of imaging is a tensor");
    check_tensor(request->session->input->fields(), *value);
    bind_objects(*request, *value);
  });
}

void add_counts(CacheCounts& sum, const CacheCounts& counts) {
  sum.lookups += counts.lookups;
  sum.hits += counts.hits;
  sum.misses += counts.misses;
  sum.evictions += counts.evictions;
  sum.bytes = counts.bytes;
  sum.entries = counts.entries;
  sum.bytes_peak = std::max(sum.bytes_peak, counts.bytes_peak);
}

// One after the other, each with cold caches.
void reconstruct_all(imb_request& request) {
  imb_session& session = *request.session;
  StageClock* const clock = session.profile_folder.empty() ? nullptr : &session.clock;
  const std::size_t items = request.ids.size(), pixels = request.objects.size() / items;
  const auto share = [&](std::size_t output, std::size_t item) {
    const std::size_t size = request.values[output].size() / items;
    return std::span(request.values[output]).subspan(item * size, size);
  };
  session.counts = {};
  for (std::size_t item = 0; item < items; ++item) {
    const std::span<const float> object = std::span(request.objects).subspan(item * pixels, pixels);
    request.reconstruction.run(object, request.ids[item], share(0, item), share(2, item), clock);
    const RunCounts counts = request.reconstruction.counts();
    add_counts(session.counts.spectrum, counts.spectrum);
    add_counts(session.counts.measurement, counts.measurement);
    add_counts(session.counts.mask, counts.mask);
    session.counts.samples += static_cast<std::uint64_t>(session.scene.settings.samples) *
                              static_cast<std::uint64_t>(session.scene.settings.epochs);
    session.counts.fft_count += counts.fft_count;
    session.counts.fft_gflop += counts.fft_gflop;
  }
  ++session.runs;
  request.done = true;
}

imb_status run(imb_request* request, imb_message message) {
  return guarded(message, IMB_RUN_ERROR, [&] {
    if (!request->bound) fail(IMB_INVALID_ARGUMENT, "input 'object' is not bound");
    reconstruct_all(*request);
  });
}

imb_status output_value(imb_request* request, std::size_t index, imb_value* value, imb_message message) {
  return guarded(message, IMB_RUN_ERROR, [&] {
    if (index >= request->session->outputs.size())
      fail(IMB_INVALID_ARGUMENT, "imaging has no output " + std::to_string(index));
    if (!request->done) fail(IMB_INVALID_ARGUMENT, "there is no output before the first inference");
    const std::vector<float>& values = index == 1 ? request->objects : request->values[index];
    const std::vector<std::int64_t>& shape = request->shapes[index];
    *value = {};
    value->kind = IMB_TENSOR;
    value->dtype = IMB_FLOAT32;
    value->rank = shape.size();
    value->shape = shape.data();
    value->data = values.data();
    value->size_bytes = values.size() * sizeof(float);
  });
}

// --- facts ---------------------------------------------------------------------------------------------------------

std::string caches_of(const ImagingSettings& s) {
  std::string text;
  for (const auto& [name, is_on] :
       {std::pair("spectrum", s.spectrum_cache), {"measurement", s.measurement_cache}, {"mask", s.mask_cache}})
    if (is_on) text += (text.empty() ? "" : ", ") + std::string(name);
  return text.empty() ? "none" : text;
}

imb_status executed(imb_session* session, imb_pair_sink sink, void* user, imb_message message) {
  return guarded(message, IMB_RUN_ERROR, [&] {
    const ImagingSettings& s = session->scene.settings;
    sink(user, "dtype", s.arithmetic == Arithmetic::float16 ? "float16" : "float32");
    sink(user, "transforms", "float32");
    sink(user, "threads", "1");
    sink(user, "device", "cpu");
    sink(user, "provider", session->fftw->build.c_str());
    sink(user, "plans", "FFTW_MEASURE, in place");
    sink(user, "plans_from", session->scene.plans->origin().c_str());
    sink(user, "caches", caches_of(s).c_str());
    sink(user, "caches_begin", "cold in each inference");
    sink(user, "flush_to_zero", Reconstruction::flushes_denormals() ? "true" : "false");
    sink(user, "detector", (std::to_string(s.detector) + "x" + std::to_string(s.detector)).c_str());
  });
}

double number(std::uint64_t value) { return static_cast<double>(value); }

struct CacheFigure {
  const char* name;
  const char* unit;
  double (*of)(const CacheCounts& counts);
};
// What says most comes first: tables end somewhere.
constexpr CacheFigure cache_figures[] = {
    {"hit_rate", "1", [](const CacheCounts& c) { return number(c.hits) / number(c.lookups); }},
    {"entries", "1", [](const CacheCounts& c) { return number(c.entries); }},
    {"hits", "1", [](const CacheCounts& c) { return number(c.hits); }},
    {"misses", "1", [](const CacheCounts& c) { return number(c.misses); }},
    {"evictions", "1", [](const CacheCounts& c) { return number(c.evictions); }},
    {"bytes_peak", "bytes", [](const CacheCounts& c) { return number(c.bytes_peak); }},
    {"bytes", "bytes", [](const CacheCounts& c) { return number(c.bytes); }},
    {"lookups", "1", [](const CacheCounts& c) { return number(c.lookups); }},
};

imb_status counters(imb_session* session, imb_number_sink sink, void* user, imb_message message) {
  return guarded(message, IMB_RUN_ERROR, [&] {
    const ImagingSettings& s = session->scene.settings;
    const RunCounts& counts = session->counts;
    struct Row {
      const char* name;
      bool is_on;
      const CacheCounts& counts;
    };
    const Row rows[] = {{"measurement", s.measurement_cache, counts.measurement},
                        {"spectrum", s.spectrum_cache, counts.spectrum},
                        {"mask", s.mask_cache, counts.mask}};
    sink(user, "samples", "1", number(counts.samples));
    sink(user, "fft_count", "1", number(counts.fft_count));
    sink(user, "fft_gflop", "Gflop", counts.fft_gflop);
    sink(user, "coverage", "1", session->scene.coverage);
    for (const CacheFigure& figure : cache_figures) {
      for (const Row& row : rows) {
        const double value = figure.of(row.counts);
        if (row.is_on && std::isfinite(value))
          sink(user, (std::string(row.name) + "_" + figure.name).c_str(), figure.unit, value);
      }
    }
  });
}

imb_status profile_begin(imb_session* session, imb_message message) {
  session->clock.forget();
  session->runs = 0;
  return succeed(message);
}

imb_status profile_end(imb_session* session, imb_message message) {
  return guarded(message, IMB_RUN_ERROR, [&] {
    if (session->profile_folder.empty()) fail(IMB_INVALID_ARGUMENT, "this session was not loaded to be profiled");
    write_stages(session->clock, session->runs, session->profile_folder);
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
    .counters = counters,
    .profile_begin = profile_begin,
    .profile_end = profile_end,
    .between = nullptr,
    .parts = nullptr,
    .lengths = nullptr,
    .queues = nullptr,
};

}  // namespace

std::uint32_t infermeter_backend_abi_version() { return IMB_ABI_VERSION; }
const imb_backend* infermeter_backend() { return &backend; }
