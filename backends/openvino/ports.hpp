// The model's inputs and outputs as the ABI describes them.
#pragma once

#include <memory>
#include <vector>

#include "library.hpp"
#include "sdk/onnx_declaration.hpp"
#include "sdk/port.hpp"

namespace infermeter {

using Ports = std::vector<std::unique_ptr<Port>>;

// The C API shows any one of the names of a tensor, and none of a dimension. For an ONNX file both come from the file
// (the ports are in its order); a dynamic dimension without a name is named by its place: "input.2". All throw
// Failure(IMB_UNSUPPORTED) for element types that cannot be carried.
[[nodiscard]] std::vector<PortFields> model_inputs(const Api& api, const ov_model_t* model,
                                                   const OnnxDeclaration& declaration);
[[nodiscard]] std::vector<PortFields> model_outputs(const Api& api, const ov_model_t* model,
                                                    const OnnxDeclaration& declaration);
// Of the model as compiled: what was fixed is fixed.
[[nodiscard]] std::vector<PortFields> compiled_inputs(const Api& api, const ov_compiled_model_t* model,
                                                      const OnnxDeclaration& declaration);
[[nodiscard]] std::vector<PortFields> compiled_outputs(const Api& api, const ov_compiled_model_t* model,
                                                       const OnnxDeclaration& declaration);

[[nodiscard]] Ports make_ports(std::vector<PortFields> fields);

}  // namespace infermeter
