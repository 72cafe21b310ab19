// The messages of the Open Inference Protocol's service inference.GRPCInferenceService, as protobuf writes them. Field
// numbers are those of the protocol's grpc_predict_v2.proto. Tensors go as raw_input_contents: the elements' bytes,
// little-endian; strings each with its size (4 bytes) in front.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "metadata.hpp"
#include "output_tensor.hpp"

namespace infermeter {

// ModelMetadataRequest. ServerMetadataRequest is empty.
[[nodiscard]] std::string model_metadata_request(std::string_view model, std::string_view version);

// An InferInputTensor without its contents. Throws Failure(IMB_INVALID_ARGUMENT) for a type that the protocol lacks.
[[nodiscard]] std::string input_tensor(const PortFields& port, std::span<const std::int64_t> shape);

struct GrpcInput {
  std::string_view tensor, contents;  // of input_tensor; raw
};
// Appends a ModelInferRequest; no `outputs`: the server sends all that it has.
void append_infer_request(std::string& message, std::string_view model, std::string_view version,
                          std::span<const GrpcInput> inputs, std::span<const std::string> outputs);

// Of ServerMetadataResponse and ModelMetadataResponse. Throw Failure: IMB_BAD_ANSWER for what is no protobuf; as
// check_model and declared_port do.
[[nodiscard]] ServerMetadata server_metadata_in(std::string_view message);
[[nodiscard]] ModelMetadata model_metadata_in(std::string_view message);

// Of ModelInferResponse, whose tensors are raw or typed. Throws Failure(IMB_BAD_ANSWER) with what is wrong.
[[nodiscard]] std::vector<OutputTensor> outputs_in(std::string_view message, std::string* model_version);

}  // namespace infermeter
