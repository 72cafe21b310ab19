#include "session_options.hpp"

#include <onnxruntime_session_options_config_keys.h>

#include <algorithm>
#include <span>

#include "sdk/dimensions.hpp"

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

}  // namespace

std::map<std::string, std::int64_t> named_sizes(const imb_load& load, const OnnxDeclaration& declaration) {
  std::map<std::string, std::int64_t> sizes;
  if (!declaration.readable) {
    for (const imb_pair& dimension : std::span(load.dimensions, load.dimension_count)) {
      sizes.emplace(dimension.key, size_from(dimension));
    }
    return sizes;
  }
  check_dimensions(load, declaration.inputs);
  const auto axes = batch_axes(load, declaration.inputs);
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const DeclaredInput& input = declaration.inputs[i];
    for (std::size_t axis = 0; axis < input.dimensions.size(); ++axis) {
      const DeclaredDimension& dimension = input.dimensions[axis];
      if (dimension.value >= 0 || dimension.name.empty()) continue;
      if (const auto size = size_of(load, input.name, axis, dimension.name, axes[i]))
        sizes.emplace(dimension.name, *size);
    }
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
