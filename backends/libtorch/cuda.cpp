#include "cuda.hpp"

#include <ATen/Context.h>
#include <ATen/detail/CUDAHooksInterface.h>
#include <dlfcn.h>
#include <unistd.h>

#include "sdk/abi_edge.hpp"

namespace infermeter {
namespace {

constexpr const char* driver = "/dev/nvidiactl";

std::string cuda_library(const std::string& libtorch_cpu) {
  return libtorch_cpu.substr(0, libtorch_cpu.rfind('/') + 1) + "libtorch_cuda.so";
}

[[noreturn]] void no_cuda(const std::string& why) {
  fail(IMB_UNSUPPORTED, "libtorch has no device cuda here (" + why + "); it has cpu");
}

}  // namespace

bool may_have_cuda(const std::string& libtorch_cpu) {
  return access(driver, F_OK) == 0 && access(cuda_library(libtorch_cpu).c_str(), R_OK) == 0;
}

void open_cuda(const std::string& libtorch_cpu) {
  if (access(driver, F_OK) != 0) no_cuda("there is no driver of NVIDIA's");
  const std::string library = cuda_library(libtorch_cpu);
  if (dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL) == nullptr) {
    const char* reason = dlerror();
    no_cuda(reason != nullptr ? reason : library + " cannot be opened");
  }
  if (at::detail::getCUDAHooks().getNumGPUs() < 1) no_cuda("the driver finds no device");
  // float32 means float32: TF32 would round the operands of products to 10 bits.
  at::globalContext().setAllowTF32CuBLAS(false);
  at::globalContext().setAllowTF32CuDNN(false);
}

void wait_for_cuda() { at::detail::getCUDAHooks().deviceSynchronize(0); }

}  // namespace infermeter
