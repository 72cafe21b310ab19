// The peer: the least program that runs a model on OpenVINO's CPU plug-in in float32. Prints the median of its loop in
// seconds. usage: bare_openvino LIBRARY MODEL THREADS WARMUP ITERATIONS   (input: float32 [1, 3, 224, 224])
#include <dlfcn.h>
#include <openvino/c/openvino.h>

#include <cstdlib>
#include <vector>

#include "bare_loop.hpp"

namespace {
void* library = nullptr;

template <class Function>
Function* bind(const char* name) {
  return reinterpret_cast<Function*>(dlsym(library, name));
}
#define BIND(function) const auto function##_ = bind<decltype(function)>(#function)

void check(ov_status_e status) {
  if (status == OK) return;
  std::fprintf(stderr, "%s\n", bind<decltype(ov_get_last_err_msg)>("ov_get_last_err_msg")());
  std::exit(1);
}
}  // namespace

int main(int argc, char** argv) {
  if (argc != 6) return 2;
  library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return std::fprintf(stderr, "%s\n", dlerror()), 1;
  BIND(ov_core_create);
  BIND(ov_core_read_model);
  BIND(ov_model_reshape_single_input);
  BIND(ov_partial_shape_create_static);
  BIND(ov_core_compile_model);
  BIND(ov_compiled_model_create_infer_request);
  BIND(ov_shape_create);
  BIND(ov_tensor_create_from_host_ptr);
  BIND(ov_infer_request_set_input_tensor);
  BIND(ov_infer_request_infer);
  ov_core_t* core = nullptr;
  check(ov_core_create_(&core));
  ov_model_t* model = nullptr;
  check(ov_core_read_model_(core, argv[2], nullptr, &model));
  int64_t dimensions[] = {1, 3, 224, 224};
  ov_partial_shape_t partial{};
  check(ov_partial_shape_create_static_(4, dimensions, &partial));
  check(ov_model_reshape_single_input_(model, partial));
  ov_compiled_model_t* compiled = nullptr;
  check(ov_core_compile_model_(core, model, "CPU", 8, &compiled, "INFERENCE_PRECISION_HINT", "f32",
                               "INFERENCE_NUM_THREADS", argv[3], "PERFORMANCE_HINT", "LATENCY", "NUM_STREAMS", "1"));
  ov_infer_request_t* request = nullptr;
  check(ov_compiled_model_create_infer_request_(compiled, &request));
  std::vector<float> input(3 * 224 * 224);
  for (std::size_t i = 0; i < input.size(); ++i)
    input[i] = static_cast<float>((i * 2654435761U) % 2001U) / 1000.0F - 1.0F;
  ov_shape_t shape{};
  check(ov_shape_create_(4, dimensions, &shape));
  ov_tensor_t* tensor = nullptr;
  check(ov_tensor_create_from_host_ptr_(F32, shape, input.data(), &tensor));
  check(ov_infer_request_set_input_tensor_(request, tensor));
  print_median(timed_loop(std::atoi(argv[4]), std::atoi(argv[5]), [&] { check(ov_infer_request_infer_(request)); }));
}
