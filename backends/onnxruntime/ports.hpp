// The session's inputs and outputs as the ABI describes them.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "library.hpp"
#include "sdk/onnx_declaration.hpp"
#include "sdk/port.hpp"

namespace infermeter {

using Ports = std::vector<std::unique_ptr<Port>>;

// Throws Failure(IMB_UNSUPPORTED) for maps, sparse and opaque values, sequences of anything but tensors; but an output
// that is a sequence of maps to numbers is a tensor of items and keys. ONNX Runtime has fixed the named dimensions
// already; those without a name get their size from `load` here.
[[nodiscard]] Ports read_inputs(const OrtApi& api, const OrtSession* session, OrtAllocator* allocator,
                                const imb_load& load, const OnnxDeclaration& declaration);
[[nodiscard]] Ports read_outputs(const OrtApi& api, const OrtSession* session, OrtAllocator* allocator);

}  // namespace infermeter
