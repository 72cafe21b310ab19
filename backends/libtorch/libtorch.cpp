// TorchScript files and AOTInductor packages through PyTorch's C++ libraries: the part that knows none of them. It
// opens them (library.hpp) and hands every call on to the second part (part.cpp).
#include "infermeter_backend.h"
#include "library.hpp"
#include "sdk/abi_edge.hpp"

namespace infermeter {
namespace {

const imb_backend* part = nullptr;  // set by the first runtime that is opened; nothing else is called before

imb_status open_runtime(const imb_environment* environment, imb_runtime** runtime, imb_message message) {
  *runtime = nullptr;
  Libtorch libtorch;
  const imb_status status = guarded(message, IMB_LIBRARY_MISSING, [&] { libtorch = open_libtorch(*environment); });
  if (status != IMB_OK) return status;
  part = libtorch.part;
  const imb_environment found{.struct_size = sizeof(imb_environment),
                              .library = libtorch.path.c_str(),
                              .python_folder_count = 0,
                              .python_folders = nullptr,
                              .folder = nullptr};
  return part->open_runtime(&found, runtime, message);
}

template <auto slot>
struct HandOn;
template <class Value, class... Arguments, Value (*imb_backend::*slot)(Arguments...)>
struct HandOn<slot> {
  static Value call(Arguments... arguments) { return (part->*slot)(arguments...); }
};
template <auto slot>
constexpr auto hand_on = HandOn<slot>::call;

constexpr imb_backend backend = {
    .abi_version = IMB_ABI_VERSION,
    .struct_size = sizeof(imb_backend),
    .open_runtime = open_runtime,
    .runtime_info = hand_on<&imb_backend::runtime_info>,
    .close_runtime = hand_on<&imb_backend::close_runtime>,
    .load = hand_on<&imb_backend::load>,
    .compile = nullptr,
    .close = hand_on<&imb_backend::close>,
    .input_count = hand_on<&imb_backend::input_count>,
    .output_count = hand_on<&imb_backend::output_count>,
    .input = hand_on<&imb_backend::input>,
    .output = hand_on<&imb_backend::output>,
    .create_request = hand_on<&imb_backend::create_request>,
    .destroy_request = hand_on<&imb_backend::destroy_request>,
    .bind_input = hand_on<&imb_backend::bind_input>,
    .run = hand_on<&imb_backend::run>,
    .output_value = hand_on<&imb_backend::output_value>,
    .submit = nullptr,
    .wait = nullptr,
    .synchronize = hand_on<&imb_backend::synchronize>,
    .executed = hand_on<&imb_backend::executed>,
    .device_memory = nullptr,
    .counters = nullptr,
    .profile_begin = hand_on<&imb_backend::profile_begin>,
    .profile_end = hand_on<&imb_backend::profile_end>,
    .between = nullptr,
    .parts = nullptr,
    .lengths = nullptr,
    .queues = nullptr,
};

}  // namespace
}  // namespace infermeter

extern "C" {
std::uint32_t infermeter_backend_abi_version(void) { return IMB_ABI_VERSION; }
const imb_backend* infermeter_backend(void) { return &infermeter::backend; }
}
