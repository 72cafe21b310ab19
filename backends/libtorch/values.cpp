#include "values.hpp"

#include <ATen/ops/empty.h>
#include <ATen/ops/from_blob.h>
#include <c10/core/InferenceMode.h>

#include "errors.hpp"

namespace infermeter {
namespace {

struct Pair {
  at::ScalarType torch;
  imb_dtype abi;
};

constexpr Pair pairs[] = {
    {at::kFloat, IMB_FLOAT32},
    {at::kByte, IMB_UINT8},
    {at::kChar, IMB_INT8},
    {at::kUInt16, IMB_UINT16},
    {at::kShort, IMB_INT16},
    {at::kInt, IMB_INT32},
    {at::kLong, IMB_INT64},
    {at::kBool, IMB_BOOL},
    {at::kHalf, IMB_FLOAT16},
    {at::kDouble, IMB_FLOAT64},
    {at::kUInt32, IMB_UINT32},
    {at::kUInt64, IMB_UINT64},
    {at::kComplexFloat, IMB_COMPLEX64},
    {at::kComplexDouble, IMB_COMPLEX128},
    {at::kBFloat16, IMB_BFLOAT16},
    {at::kFloat8_e4m3fn, IMB_FLOAT8E4M3FN},
    {at::kFloat8_e4m3fnuz, IMB_FLOAT8E4M3FNUZ},
    {at::kFloat8_e5m2, IMB_FLOAT8E5M2},
    {at::kFloat8_e5m2fnuz, IMB_FLOAT8E5M2FNUZ},
};

}  // namespace

std::optional<imb_dtype> dtype_from(at::ScalarType type) {
  for (const Pair& pair : pairs) {
    if (pair.torch == type) return pair.abi;
  }
  return std::nullopt;
}

std::optional<at::ScalarType> scalar_type_from(imb_dtype dtype) {
  for (const Pair& pair : pairs) {
    if (pair.abi == dtype) return pair.torch;
  }
  return std::nullopt;
}

at::Tensor make_tensor(const PortFields& port, const imb_value& value, at::Device device, at::ScalarType precision) {
  if (value.kind != IMB_TENSOR) {
    fail(IMB_INVALID_ARGUMENT, "input '" + port.name + "' needs a tensor and was given " +
                                   (value.kind == IMB_SEQUENCE ? "a sequence" : "nothing"));
  }
  check_tensor(port, value);
  const at::ScalarType type = *scalar_type_from(value.dtype);
  const at::IntArrayRef shape(value.shape, value.rank);
  return in_torch(IMB_INVALID_ARGUMENT, "PyTorch did not take input '" + port.name + "'", [&] {
    const c10::InferenceMode guard;
    if (value.size_bytes == 0) return at::empty(shape, at::TensorOptions(type).device(device));
    const at::Tensor bytes = at::from_blob(const_cast<void*>(value.data), shape, at::TensorOptions(type));
    return bytes.to(device, type == at::kFloat ? precision : type, /*non_blocking=*/false, /*copy=*/true);
  });
}

TensorView::TensorView(const at::Tensor& tensor, const std::string& output) {
  if (!tensor.defined()) return;  // an absent optional
  const auto dtype = dtype_from(tensor.scalar_type());
  if (!dtype || tensor.layout() != at::kStrided) {
    fail(IMB_UNSUPPORTED,
         "output '" + output + "' is of type " + tensor.toString() + ", which the libtorch back end cannot carry");
  }
  const c10::InferenceMode guard;
  tensor_ = tensor.cpu().contiguous().resolve_conj().resolve_neg();
  view_.kind = IMB_TENSOR;
  view_.dtype = *dtype;
  view_.rank = static_cast<std::size_t>(tensor_.dim());
  view_.shape = tensor_.sizes().data();
  view_.data = tensor_.const_data_ptr();
  view_.size_bytes = tensor_.nbytes();
}

}  // namespace infermeter
