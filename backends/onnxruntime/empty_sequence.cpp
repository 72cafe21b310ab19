#include "empty_sequence.hpp"

namespace infermeter {
namespace {

// Protocol buffers' wire format, enough of it to write a model of one node (field numbers: onnx.proto).
std::string varint(std::uint64_t value) {
  std::string bytes;
  for (; value >= 0x80; value >>= 7) bytes += static_cast<char>(value | 0x80);
  bytes += static_cast<char>(value);
  return bytes;
}
std::string number(std::uint64_t field, std::uint64_t value) { return varint(field << 3) + varint(value); }
std::string bytes(std::uint64_t field, const std::string& value) {
  return varint(field << 3 | 2) + varint(value.size()) + value;
}

// TypeProto
std::string tensor_type(imb_dtype dtype) { return bytes(1, number(1, static_cast<std::uint64_t>(dtype))); }
std::string sequence_of(const std::string& type) { return bytes(4, bytes(1, type)); }

// ModelProto with one node that has no input, one attribute, and the output "value" of `type`.
std::string model_of(const std::string& op, const std::string& attribute, const std::string& type) {
  const std::string node = bytes(2, "value") + bytes(4, op) + bytes(5, attribute);
  const std::string output = bytes(1, "value") + bytes(2, type);
  const std::string graph = bytes(1, node) + bytes(2, "graph") + bytes(12, output);
  return number(1, 8) + bytes(7, graph) + bytes(8, bytes(1, "") + number(2, 15));
}

Owned<OrtValue> output_of(const OrtApi& api, const OrtEnv* environment, const std::string& model,
                          const std::string& input) {
  const auto must = [&](OrtStatus* status) {
    check(api, status, IMB_UNSUPPORTED, "ONNX Runtime could not make an empty sequence for input '" + input + "'");
  };
  OrtSessionOptions* options = nullptr;
  must(api.CreateSessionOptions(&options));
  const auto options_owner = owned(options, api.ReleaseSessionOptions);
  must(api.SetIntraOpNumThreads(options, 1));
  OrtSession* session = nullptr;
  must(api.CreateSessionFromArray(environment, model.data(), model.size(), options, &session));
  const auto session_owner = owned(session, api.ReleaseSession);
  const char* name = "value";
  OrtValue* value = nullptr;
  must(api.Run(session, nullptr, nullptr, nullptr, 0, &name, 1, &value));
  return owned(value, api.ReleaseValue);
}

}  // namespace

Owned<OrtValue> make_empty_sequence(const OrtApi& api, const OrtEnv* environment, const PortFields& port) {
  // AttributeProto: name = 1, i = 3, type = 20 (INT = 2)
  const std::string dtype = bytes(1, "dtype") + number(3, static_cast<std::uint64_t>(port.dtype)) + number(20, 2);
  return output_of(api, environment, model_of("SequenceEmpty", dtype, sequence_of(tensor_type(port.dtype))), port.name);
}

}  // namespace infermeter
