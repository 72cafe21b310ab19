// The session's inputs and outputs as the ABI describes them.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "library.hpp"
#include "sdk/port.hpp"

namespace infermeter {

using Ports = std::vector<std::unique_ptr<Port>>;

// Throws Failure(IMB_UNSUPPORTED) for maps, sparse and opaque values, sequences of anything but tensors. `batch` (0:
// none) takes the place of a dynamic first dimension, `dimensions` of the named ones.
[[nodiscard]] Ports read_inputs(const OrtApi& api, const OrtSession* session, OrtAllocator* allocator,
                                std::int64_t batch, const std::map<std::string, std::int64_t>& dimensions);
[[nodiscard]] Ports read_outputs(const OrtApi& api, const OrtSession* session, OrtAllocator* allocator,
                                 const std::map<std::string, std::int64_t>& dimensions);

}  // namespace infermeter
