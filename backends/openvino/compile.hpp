// Compiling for a device, and what came of it.
#pragma once

#include <string>
#include <vector>

#include "library.hpp"
#include "settings.hpp"

namespace infermeter {

struct CompileRequest {
  std::string device;  // OpenVINO's name: "CPU"
  std::string dtype;   // ours: "float32"
  int threads = 1;
  Settings settings;
  bool profile = false;  // count what each operator takes
};

// "f32", "f16", "bf16"; throws Failure(IMB_UNSUPPORTED) for anything else.
[[nodiscard]] std::string precision_of(const std::string& dtype);
[[nodiscard]] std::string dtype_of(const std::string& precision);  // and back

// Throws Failure: IMB_UNSUPPORTED if what the runtime would execute is not the dtype that was asked for.
[[nodiscard]] Owned<ov_compiled_model_t> compile_model(const Api& api, const ov_core_t* core, const ov_model_t* model,
                                                       const CompileRequest& request);

// "" where the device does not have the property.
[[nodiscard]] std::string property_of(const Api& api, const ov_compiled_model_t* model, const char* key);
[[nodiscard]] std::string property_of(const Api& api, const ov_core_t* core, const std::string& device,
                                      const char* key);

}  // namespace infermeter
