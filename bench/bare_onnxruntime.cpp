// The peer: the least program that runs a model on ONNX Runtime. Prints the median of its loop in seconds.
// usage: bare_onnxruntime LIBRARY MODEL THREADS WARMUP ITERATIONS   (input: float32 [1, 3, 224, 224] named "input")
#include <dlfcn.h>
#include <onnxruntime_c_api.h>

#include <cstdlib>
#include <vector>

#include "bare_loop.hpp"

namespace {
const OrtApi* api = nullptr;

void check(OrtStatus* status) {
  if (status == nullptr) return;
  std::fprintf(stderr, "%s\n", api->GetErrorMessage(status));
  std::exit(1);
}
}  // namespace

int main(int argc, char** argv) {
  if (argc != 6) return 2;
  setenv("ORT_DISABLE_TELEMETRY", "1", 1);
  void* library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return std::fprintf(stderr, "%s\n", dlerror()), 1;
  const auto base = reinterpret_cast<const OrtApiBase* (*)()>(dlsym(library, "OrtGetApiBase"))();
  api = base->GetApi(17);
  OrtEnv* env = nullptr;
  check(api->CreateEnv(ORT_LOGGING_LEVEL_ERROR, "bare", &env));
  OrtSessionOptions* options = nullptr;
  check(api->CreateSessionOptions(&options));
  check(api->SetIntraOpNumThreads(options, std::atoi(argv[3])));
  OrtSession* session = nullptr;
  check(api->CreateSession(env, argv[2], options, &session));
  const int64_t shape[] = {1, 3, 224, 224};
  std::vector<float> input(3 * 224 * 224);
  for (std::size_t i = 0; i < input.size(); ++i)
    input[i] = static_cast<float>((i * 2654435761U) % 2001U) / 1000.0F - 1.0F;
  OrtMemoryInfo* memory = nullptr;
  check(api->CreateCpuMemoryInfo(OrtArenaAllocator, OrtMemTypeDefault, &memory));
  OrtValue* value = nullptr;
  check(api->CreateTensorWithDataAsOrtValue(memory, input.data(), input.size() * sizeof(float), shape, 4,
                                            ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT, &value));
  const char* input_names[] = {"input"};
  const char* output_names[] = {"output"};
  print_median(timed_loop(std::atoi(argv[4]), std::atoi(argv[5]), [&] {
    OrtValue* output = nullptr;
    check(api->Run(session, nullptr, input_names, &value, 1, output_names, 1, &output));
    api->ReleaseValue(output);
  }));
}
