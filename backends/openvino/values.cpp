#include "values.hpp"

#include <cstddef>

namespace infermeter {
namespace {

struct Pair {
  ov_element_type_e openvino;
  imb_dtype abi;
};

// The C header calls float8e5m2 F8E5M3.
constexpr Pair pairs[] = {
    {BOOLEAN, IMB_BOOL},      {BF16, IMB_BFLOAT16},     {F16, IMB_FLOAT16},   {F32, IMB_FLOAT32},
    {F64, IMB_FLOAT64},       {I4, IMB_INT4},           {I8, IMB_INT8},       {I16, IMB_INT16},
    {I32, IMB_INT32},         {I64, IMB_INT64},         {U4, IMB_UINT4},      {U8, IMB_UINT8},
    {U16, IMB_UINT16},        {U32, IMB_UINT32},        {U64, IMB_UINT64},    {F8E4M3, IMB_FLOAT8E4M3FN},
    {F8E5M3, IMB_FLOAT8E5M2}, {F4E2M1, IMB_FLOAT4E2M1}, {STRING, IMB_STRING},
};

}  // namespace

std::optional<imb_dtype> dtype_from(ov_element_type_e type) {
  for (const Pair& pair : pairs) {
    if (pair.openvino == type) return pair.abi;
  }
  return std::nullopt;
}

std::optional<ov_element_type_e> element_type_from(imb_dtype dtype) {
  for (const Pair& pair : pairs) {
    if (pair.abi == dtype) return pair.openvino;
  }
  return std::nullopt;
}

Owned<ov_tensor_t> make_tensor(const Api& api, const PortFields& port, const imb_value& value) {
  if (value.kind != IMB_TENSOR) {
    fail(IMB_INVALID_ARGUMENT, "input '" + port.name + "' needs a tensor and was given " +
                                   (value.kind == IMB_SEQUENCE ? "a sequence" : "nothing"));
  }
  check_tensor(port, value);
  const std::string what = "OpenVINO did not take input '" + port.name + "'";
  const ov_shape_t shape{static_cast<std::int64_t>(value.rank), const_cast<std::int64_t*>(value.shape)};
  alignas(64) static std::byte nothing[64];  // OpenVINO wants an address even for no bytes
  void* data = value.size_bytes != 0 ? const_cast<void*>(value.data) : nothing;
  ov_tensor_t* made = nullptr;
  check(api, api.ov_tensor_create_from_host_ptr(*element_type_from(value.dtype), shape, data, &made),
        IMB_INVALID_ARGUMENT, what);
  return owned(made, api.ov_tensor_free);
}

TensorView::TensorView(const Api& api, Owned<ov_tensor_t> tensor, const std::string& output)
    : tensor_(std::move(tensor)) {
  const std::string what = "OpenVINO did not hand out output '" + output + "'";
  ov_element_type_e type{};
  check(api, api.ov_tensor_get_element_type(tensor_.get(), &type), IMB_RUN_ERROR, what);
  const auto dtype = dtype_from(type);
  if (!dtype || *dtype == IMB_STRING) {
    fail(IMB_UNSUPPORTED, "output '" + output + "' has an element type that this back end cannot carry");
  }
  ov_shape_t shape{};
  const ov_status_e status = api.ov_tensor_get_shape(tensor_.get(), &shape);
  if (status != INVALID_C_PARAM) check(api, status, IMB_RUN_ERROR, what);  // that is how it reports a scalar
  if (shape.rank > 0) shape_.assign(shape.dims, shape.dims + shape.rank);
  api.ov_shape_free(&shape);
  const auto bytes = bytes_of(*dtype, shape_);
  if (!bytes) fail(IMB_RUN_ERROR, what + ": its shape is " + shape_text(shape_));
  void* data = nullptr;
  if (*bytes != 0) check(api, api.ov_tensor_data(tensor_.get(), &data), IMB_RUN_ERROR, what);
  view_.kind = IMB_TENSOR;
  view_.dtype = *dtype;
  view_.rank = shape_.size();
  view_.shape = shape_.data();
  view_.data = data;
  view_.size_bytes = *bytes;
}

}  // namespace infermeter
