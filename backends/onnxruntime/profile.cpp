#include "profile.hpp"

#include <onnxruntime_session_options_config_keys.h>

#include <filesystem>
#include <fstream>

namespace infermeter {
namespace {

namespace fs = std::filesystem;

// Weights are as large as the model's; only what is as small as a shape stays in the graph's file.
constexpr const char* weights_file = "optimized.weights";
constexpr const char* least_bytes = "1024";

}  // namespace

void enable_profile(const OrtApi& api, OrtSessionOptions* options, const std::string& folder) {
  // ONNX Runtime adds the time and ".json".
  const std::string prefix = folder + "/onnxruntime";
  check(api, api.EnableProfiling(options, prefix.c_str()), IMB_RUN_ERROR, "ONNX Runtime could not begin a profile");
}

void save_optimised_graph(const OrtApi& api, OrtSessionOptions* options, const std::string& folder) {
  const auto must = [&](OrtStatus* status) { check(api, status, IMB_RUN_ERROR, "ONNX Runtime cannot save its graph"); };
  must(api.SetOptimizedModelFilePath(options, (folder + "/optimized.onnx").c_str()));
  must(api.AddSessionConfigEntry(options, kOrtSessionOptionsOptimizedModelExternalInitializersFileName, weights_file));
  must(api.AddSessionConfigEntry(options, kOrtSessionOptionsOptimizedModelExternalInitializersMinSizeInBytes,
                                 least_bytes));
}

void finish_load(const OrtApi& api, const OrtSession* session, const std::string& folder) {
  std::error_code error;
  fs::remove(folder + "/" + weights_file, error);
  std::uint64_t start_ns = 0;
  check(api, api.SessionGetProfilingStartTimeNs(session, &start_ns), IMB_RUN_ERROR,
        "ONNX Runtime did not report when its profile began");
  // Without it the profile is read all the same.
  std::ofstream(folder + "/onnxruntime.start") << start_ns << '\n';
}

void end_profile(const OrtApi& api, OrtSession* session, OrtAllocator* allocator, const std::string& folder) {
  char* made = nullptr;
  check(api, api.SessionEndProfiling(session, allocator, &made), IMB_RUN_ERROR, "ONNX Runtime did not end its profile");
  const std::string file = made != nullptr ? made : "";
  if (made != nullptr)
    check(api, api.AllocatorFree(allocator, made), IMB_RUN_ERROR, "ONNX Runtime did not free a name");
  std::error_code error;
  fs::rename(file, folder + "/onnxruntime.json", error);
  if (error) fail(IMB_RUN_ERROR, "ONNX Runtime's profile, '" + file + "', cannot be renamed: " + error.message());
}

}  // namespace infermeter
