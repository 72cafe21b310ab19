#include "infermeter/plan/file_variables.hpp"

#include <algorithm>
#include <array>

namespace infermeter {
namespace {

// Numbers, words of a closed list and names of devices: none names a file, a folder or a library. docs/plan.md has the
// same list.
constexpr auto kVariables = std::to_array<std::string_view>({
    // OpenMP and its implementations
    "OMP_NUM_THREADS",
    "OMP_WAIT_POLICY",
    "OMP_PROC_BIND",
    "OMP_PLACES",
    "OMP_SCHEDULE",
    "OMP_DYNAMIC",
    "OMP_MAX_ACTIVE_LEVELS",
    "OMP_THREAD_LIMIT",
    "OMP_STACKSIZE",
    "OMP_DISPLAY_ENV",
    "GOMP_CPU_AFFINITY",
    "GOMP_SPINCOUNT",
    "KMP_AFFINITY",
    "KMP_BLOCKTIME",
    "KMP_HW_SUBSET",
    "KMP_SETTINGS",
    // libraries of kernels
    "MKL_NUM_THREADS",
    "MKL_DYNAMIC",
    "MKL_CBWR",
    "MKL_ENABLE_INSTRUCTIONS",
    "MKL_VERBOSE",
    "OPENBLAS_NUM_THREADS",
    "OPENBLAS_CORETYPE",
    "BLIS_NUM_THREADS",
    "ONEDNN_MAX_CPU_ISA",
    "ONEDNN_CPU_ISA_HINTS",
    "ONEDNN_VERBOSE",
    "ONEDNN_PRIMITIVE_CACHE_CAPACITY",
    "ONEDNN_DEFAULT_FPMATH_MODE",
    "DNNL_MAX_CPU_ISA",
    "DNNL_VERBOSE",
    "DNNL_PRIMITIVE_CACHE_CAPACITY",
    "DNNL_DEFAULT_FPMATH_MODE",
    // frameworks
    "TORCHDYNAMO_DISABLE",
    "TORCHINDUCTOR_FREEZING",
    "TORCHINDUCTOR_MAX_AUTOTUNE",
    "JAX_ENABLE_X64",
    "JAX_DISABLE_JIT",
    "JAX_DEFAULT_MATMUL_PRECISION",
    "TF_ENABLE_ONEDNN_OPTS",
    "TF_CPP_MIN_LOG_LEVEL",
    "TOKENIZERS_PARALLELISM",
    // the allocator
    "MALLOC_ARENA_MAX",
    "MALLOC_MMAP_THRESHOLD_",
    "MALLOC_TRIM_THRESHOLD_",
    "MALLOC_TOP_PAD_",
    "MALLOC_MMAP_MAX_",
    // GPUs
    "CUDA_VISIBLE_DEVICES",
    "CUDA_DEVICE_ORDER",
    "CUDA_LAUNCH_BLOCKING",
    "CUDA_MODULE_LOADING",
    "CUDA_DEVICE_MAX_CONNECTIONS",
    "CUBLAS_WORKSPACE_CONFIG",
    "NVIDIA_TF32_OVERRIDE",
    "HIP_VISIBLE_DEVICES",
    "ROCR_VISIBLE_DEVICES",
});

}  // namespace

bool may_come_from_file(std::string_view variable) {
  return std::ranges::find(kVariables, variable) != kVariables.end();
}

}  // namespace infermeter
