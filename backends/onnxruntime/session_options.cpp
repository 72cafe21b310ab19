#include "session_options.hpp"

#include <onnxruntime_session_options_config_keys.h>

#include <algorithm>

namespace infermeter {
namespace {

GraphOptimizationLevel level_of(const std::string& name) {
  if (name == "none") return ORT_DISABLE_ALL;
  if (name == "basic") return ORT_ENABLE_BASIC;
  if (name == "extended") return ORT_ENABLE_EXTENDED;
  return ORT_ENABLE_ALL;
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  return text;
}

// float32 means float32: without use_tf32=0 the CUDA provider rounds the operands of matrix products to 10 bits.
void add_cuda(const Library& library, OrtSessionOptions* options) {
  const auto providers = available_providers(*library.api);
  if (std::find(providers.begin(), providers.end(), "CUDAExecutionProvider") == providers.end()) {
    fail(IMB_UNSUPPORTED, "this ONNX Runtime (" + library.path + ", " + library.version +
                              ") has no CUDA provider (it has: " + joined(providers) +
                              "); pip install onnxruntime-gpu, or give device=cpu");
  }
  const OrtApi& api = *library.api;
  OrtCUDAProviderOptionsV2* made = nullptr;
  const std::string what = "ONNX Runtime could not set up its CUDA provider";
  check(api, api.CreateCUDAProviderOptions(&made), IMB_UNSUPPORTED, what);
  const auto cuda = owned(made, api.ReleaseCUDAProviderOptions);
  const char* keys[] = {"device_id", "use_tf32"};
  const char* values[] = {"0", "0"};
  check(api, api.UpdateCUDAProviderOptions(cuda.get(), keys, values, 2), IMB_UNSUPPORTED, what);
  check(api, api.SessionOptionsAppendExecutionProvider_CUDA_V2(options, cuda.get()), IMB_UNSUPPORTED, what);
}

bool names_dimension(const OnnxDeclaration& declaration, const std::string& name) {
  for (const auto& input : declaration.inputs) {
    for (const DeclaredDimension& dimension : input) {
      if (dimension.value < 0 && dimension.name == name) return true;
    }
  }
  return false;
}

std::string dynamic_names(const OnnxDeclaration& declaration) {
  std::set<std::string> names;
  for (const auto& input : declaration.inputs) {
    for (const DeclaredDimension& dimension : input) {
      if (dimension.value < 0 && !dimension.name.empty()) names.insert(dimension.name);
    }
  }
  return names.empty() ? "none that has a name" : joined({names.begin(), names.end()});
}

std::int64_t size_from(const imb_pair& dimension) {
  try {
    return parse_integer<std::int64_t>(dimension.value, 1, INT32_MAX);
  } catch (const std::invalid_argument&) {
    fail(IMB_INVALID_ARGUMENT, "dimension " + std::string(dimension.key) + "=" + dimension.value +
                                   " is no size; give a whole number of at least 1");
  }
}

}  // namespace

std::map<std::string, std::int64_t> fixed_dimensions(const imb_load& load, const OnnxDeclaration& declaration) {
  std::map<std::string, std::int64_t> sizes;
  for (std::size_t i = 0; i < load.dimension_count; ++i) {
    const std::string name = load.dimensions[i].key;
    if (declaration.readable && !names_dimension(declaration, name)) {
      fail(IMB_INVALID_ARGUMENT,
           "the model has no dynamic dimension '" + name + "'; it has " + dynamic_names(declaration));
    }
    sizes[name] = size_from(load.dimensions[i]);
  }
  for (const auto& input : declaration.inputs) {
    if (load.batch <= 0 || input.empty() || input[0].value >= 0 || input[0].name.empty()) continue;
    sizes.emplace(input[0].name, load.batch);  // a size that was given by name stands
  }
  return sizes;
}

Owned<OrtSessionOptions> make_session_options(const Library& library, const imb_load& load, const Settings& settings,
                                              int threads, const std::map<std::string, std::int64_t>& dimensions) {
  const OrtApi& api = *library.api;
  OrtSessionOptions* made = nullptr;
  const auto must = [&](OrtStatus* status) {
    check(api, status, IMB_INVALID_ARGUMENT, "ONNX Runtime refused a session option");
  };
  must(api.CreateSessionOptions(&made));
  auto options = owned(made, api.ReleaseSessionOptions);
  must(api.SetIntraOpNumThreads(made, threads));
  must(api.SetInterOpNumThreads(made, settings.inter_op_threads));
  must(api.SetSessionExecutionMode(made, settings.parallel ? ORT_PARALLEL : ORT_SEQUENTIAL));
  must(api.SetSessionGraphOptimizationLevel(made, level_of(settings.graph_optimization)));
  must(settings.cpu_mem_arena ? api.EnableCpuMemArena(made) : api.DisableCpuMemArena(made));
  must(settings.mem_pattern && !settings.parallel ? api.EnableMemPattern(made) : api.DisableMemPattern(made));
  const auto configure = [&](const char* key, bool value) {
    must(api.AddSessionConfigEntry(made, key, value ? "1" : "0"));
  };
  if (settings.intra_op_spinning) {
    configure(kOrtSessionOptionsConfigAllowIntraOpSpinning, *settings.intra_op_spinning);
  }
  if (settings.denormals_as_zero) configure(kOrtSessionOptionsConfigSetDenormalAsZero, true);
  for (const auto& [name, size] : dimensions) {
    must(api.AddFreeDimensionOverrideByName(made, name.c_str(), size));
  }
  if (std::string_view(load.device) == "cuda") add_cuda(library, made);
  return options;
}

}  // namespace infermeter
