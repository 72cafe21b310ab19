// PyTorch's CUDA library, which is opened only where a model is to run there: it takes 350 MB of memory.
#pragma once

#include <string>

namespace infermeter {

// By the files: the driver's device, and the library beside `libtorch_cpu`.
[[nodiscard]] bool may_have_cuda(const std::string& libtorch_cpu);
// Throws Failure(IMB_UNSUPPORTED).
void open_cuda(const std::string& libtorch_cpu);
// Returns when the device has finished.
void wait_for_cuda();

}  // namespace infermeter
