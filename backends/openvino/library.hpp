// OpenVINO's C API, taken from the library that is found when the plug-in runs. The C++ library's name changes with
// each release; the C one's functions do not, so that one plug-in serves several versions.
#pragma once

#include <openvino/c/openvino.h>

#include <memory>
#include <string>

#include "infermeter_backend.h"
#include "sdk/abi_edge.hpp"

namespace infermeter {

#define INFERMETER_OPENVINO_FUNCTIONS(X)         \
  X(ov_get_openvino_version)                     \
  X(ov_version_free)                             \
  X(ov_get_error_info)                           \
  X(ov_get_last_err_msg)                         \
  X(ov_free)                                     \
  X(ov_core_create)                              \
  X(ov_core_free)                                \
  X(ov_core_read_model)                          \
  X(ov_core_compile_model)                       \
  X(ov_core_get_property)                        \
  X(ov_core_get_available_devices)               \
  X(ov_available_devices_free)                   \
  X(ov_model_free)                               \
  X(ov_model_inputs_size)                        \
  X(ov_model_outputs_size)                       \
  X(ov_model_const_input_by_index)               \
  X(ov_model_const_output_by_index)              \
  X(ov_model_reshape_by_port_indexes)            \
  X(ov_port_get_any_name)                        \
  X(ov_port_get_partial_shape)                   \
  X(ov_port_get_element_type)                    \
  X(ov_output_const_port_free)                   \
  X(ov_partial_shape_free)                       \
  X(ov_compiled_model_inputs_size)               \
  X(ov_compiled_model_outputs_size)              \
  X(ov_compiled_model_input_by_index)            \
  X(ov_compiled_model_output_by_index)           \
  X(ov_compiled_model_get_property)              \
  X(ov_compiled_model_create_infer_request)      \
  X(ov_compiled_model_free)                      \
  X(ov_infer_request_set_input_tensor_by_index)  \
  X(ov_infer_request_get_output_tensor_by_index) \
  X(ov_infer_request_infer)                      \
  X(ov_infer_request_start_async)                \
  X(ov_infer_request_wait)                       \
  X(ov_infer_request_get_profiling_info)         \
  X(ov_profiling_info_list_free)                 \
  X(ov_infer_request_free)                       \
  X(ov_tensor_create_from_host_ptr)              \
  X(ov_tensor_get_shape)                         \
  X(ov_tensor_get_element_type)                  \
  X(ov_tensor_data)                              \
  X(ov_tensor_free)                              \
  X(ov_shape_free)

struct Api {
#define INFERMETER_OPENVINO_MEMBER(name) decltype(&::name) name = nullptr;
  INFERMETER_OPENVINO_FUNCTIONS(INFERMETER_OPENVINO_MEMBER)
#undef INFERMETER_OPENVINO_MEMBER
};

struct Library {
  std::string path, version;  // version as in "2026.4.1"
  Api api;
};

// Throws Failure: missing, or too old.
[[nodiscard]] Library open_openvino(const imb_environment& environment);

// Throws the runtime's own words as a Failure; `otherwise` unless they speak of memory.
void check(const Api& api, ov_status_e status, imb_status otherwise, const std::string& what);

// unique_ptr for what the C API hands out.
template <class T>
struct Freer {
  void (*free)(T*) = nullptr;
  void operator()(T* object) const { free(object); }
};
template <class T>
using Owned = std::unique_ptr<T, Freer<T>>;

template <class T>
[[nodiscard]] Owned<T> owned(T* object, void (*free)(T*)) {
  return Owned<T>(object, Freer<T>{free});
}

}  // namespace infermeter
