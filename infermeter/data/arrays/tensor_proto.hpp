// ONNX's protobuf messages for values, as test data has them: TensorProto, SequenceProto, OptionalProto. Read with
// bounds and without libonnx, because the files are not trusted. Source: onnx.proto, onnx-data.proto.
#pragma once

#include <span>
#include <string>

#include "infermeter/data/tensor.hpp"
#include "infermeter/diagnostics/result.hpp"

namespace infermeter {

enum class ProtoKind { tensor, sequence, optional };

// `file` is what errors call it. Data in other files (external_data), segments, sparse tensors and maps are refused.
[[nodiscard]] Result<Value> parse_value(std::span<const std::byte> message, ProtoKind kind, const std::string& file);

// Where nothing says of which kind the message is: a tensor if it can be one, else a sequence.
[[nodiscard]] Result<Value> parse_any_value(std::span<const std::byte> message, const std::string& file);

}  // namespace infermeter
