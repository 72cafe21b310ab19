#if !defined(__x86_64__) && !defined(__aarch64__)

#include "infermeter/trial/machine/peak_kernels.hpp"

namespace infermeter {

const std::vector<ComputeKernel>& compute_kernels() {
  static const std::vector<ComputeKernel> none;
  return none;
}

const std::vector<MemoryKernels>& memory_kernels() {
  static const std::vector<MemoryKernels> none;
  return none;
}

const std::vector<std::string>& missing_kernels() {
  static const std::vector<std::string> missing{"float32: there is no kernel for this architecture",
                                                "bfloat16: there is no kernel for this architecture",
                                                "int8: there is no kernel for this architecture"};
  return missing;
}

}  // namespace infermeter

#endif
