#include "compile.hpp"

#include <array>

namespace infermeter {
namespace {

constexpr std::size_t most_properties = 12;

struct Precision {
  const char* dtype;
  const char* hint;
};
constexpr Precision precisions[] = {{"float32", "f32"}, {"float16", "f16"}, {"bfloat16", "bf16"}};

// Streams that were asked for are taken, whatever the hint; otherwise one where latency counts, and the runtime's
// choice elsewhere.
std::string streams_of(const Settings& settings) {
  if (!settings.streams.empty()) return settings.streams;
  return settings.performance_hint == "LATENCY" ? "1" : "";
}

// The CPU plug-in would execute float32 models as bfloat16 where the processor can: the precision is always said.
std::vector<Property> properties_of(const CompileRequest& request) {
  std::vector<Property> properties = {{"INFERENCE_PRECISION_HINT", precision_of(request.dtype)},
                                      {"PERFORMANCE_HINT", request.settings.performance_hint}};
  if (request.device == "CPU") properties.emplace_back("INFERENCE_NUM_THREADS", std::to_string(request.threads));
  if (const std::string streams = streams_of(request.settings); !streams.empty())
    properties.emplace_back("NUM_STREAMS", streams);
  if (request.profile) properties.emplace_back("PERF_COUNT", "YES");
  properties.insert(properties.end(), request.settings.others.begin(), request.settings.others.end());
  return properties;
}

// The function takes the pairs as variable arguments and is told how many of them to read.
ov_status_e compile_with(const Api& api, const ov_core_t* core, const ov_model_t* model, const std::string& device,
                         const std::vector<Property>& properties, ov_compiled_model_t** compiled) {
  std::array<const char*, 2 * most_properties> p{};
  if (properties.size() > most_properties) fail(IMB_INVALID_ARGUMENT, "too many options for OpenVINO at once");
  for (std::size_t i = 0; i < properties.size(); ++i) {
    p[2 * i] = properties[i].first.c_str();
    p[2 * i + 1] = properties[i].second.c_str();
  }
  return api.ov_core_compile_model(core, model, device.c_str(), 2 * properties.size(), compiled, p[0], p[1], p[2], p[3],
                                   p[4], p[5], p[6], p[7], p[8], p[9], p[10], p[11], p[12], p[13], p[14], p[15], p[16],
                                   p[17], p[18], p[19], p[20], p[21], p[22], p[23]);
}

void refuse_another_precision(const Api& api, const ov_core_t* core, const ov_compiled_model_t* compiled,
                              const CompileRequest& request) {
  const std::string executed = property_of(api, compiled, "INFERENCE_PRECISION_HINT");
  if (executed == precision_of(request.dtype)) return;
  fail(IMB_UNSUPPORTED, "OpenVINO's " + request.device + " plug-in would execute " +
                            (executed.empty() ? "an unknown type" : dtype_of(executed)) + " where " + request.dtype +
                            " was asked for; this device has " +
                            property_of(api, core, request.device, "OPTIMIZATION_CAPABILITIES") +
                            "; give another dtype");
}

}  // namespace

std::string precision_of(const std::string& dtype) {
  for (const Precision& precision : precisions) {
    if (dtype == precision.dtype) return precision.hint;
  }
  fail(IMB_UNSUPPORTED, "openvino does not execute " + dtype + "; give float32, float16 or bfloat16");
}

std::string dtype_of(const std::string& precision) {
  for (const Precision& known : precisions) {
    if (precision == known.hint) return known.dtype;
  }
  return precision;
}

Owned<ov_compiled_model_t> compile_model(const Api& api, const ov_core_t* core, const ov_model_t* model,
                                         const CompileRequest& request) {
  ov_compiled_model_t* made = nullptr;
  check(api, compile_with(api, core, model, request.device, properties_of(request), &made), IMB_MODEL_ERROR,
        "OpenVINO could not compile the model for " + request.device);
  auto compiled = owned(made, api.ov_compiled_model_free);
  refuse_another_precision(api, core, made, request);
  return compiled;
}

std::string property_of(const Api& api, const ov_compiled_model_t* model, const char* key) {
  char* value = nullptr;
  if (api.ov_compiled_model_get_property(model, key, &value) != OK || value == nullptr) return "";
  const std::string text = value;
  api.ov_free(value);
  return text;
}

std::string property_of(const Api& api, const ov_core_t* core, const std::string& device, const char* key) {
  char* value = nullptr;
  if (api.ov_core_get_property(core, device.c_str(), key, &value) != OK || value == nullptr) return "";
  const std::string text = value;
  api.ov_free(value);
  return text;
}

}  // namespace infermeter
