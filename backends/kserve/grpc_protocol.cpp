// Protobuf over gRPC: unary calls, each on a connection of its own.
#include "grpc_answer.hpp"
#include "grpc_messages.hpp"
#include "http/json_text.hpp"
#include "protocol.hpp"

namespace infermeter {
namespace {

constexpr const char* service = "/inference.GRPCInferenceService/";

class GrpcProtocol final : public Protocol {
 public:
  explicit GrpcProtocol(Target target) : target_(std::move(target)) {}

  ServerMetadata ask_server() override {
    const auto reported = got("ServerMetadata", {}, true, "the server does not say what it is");
    return reported ? server_metadata_in(*reported) : ServerMetadata();
  }

  ModelMetadata ask_model() override {
    const auto reported = got("ModelMetadata", model_metadata_request(target_.model, target_.version), false,
                              "the server does not give model " + shown(target_.model, 200));
    return model_metadata_in(*reported);
  }

  [[nodiscard]] std::string infer_path() const override { return std::string(service) + "ModelInfer"; }
  [[nodiscard]] const char* tensor_form() const override { return "binary"; }

  [[nodiscard]] EncodedInput encode(const PortFields& port, const imb_value& value) const override {
    EncodedInput encoded = encode_input(port, value, true);
    encoded.head = input_tensor(port, {value.shape, value.rank});
    return encoded;
  }

  [[nodiscard]] InferMessage message(std::span<const EncodedInput> inputs,
                                     std::span<const std::string> names) const override {
    std::vector<GrpcInput> tensors;
    for (const EncodedInput& input : inputs) tensors.push_back({input.head, input.bytes});
    InferMessage message{.bytes = std::string(frame_size, '\0'), .headers = grpc_headers()};
    append_infer_request(message.bytes, target_.model, target_.version, tensors, names);
    set_frame(message.bytes);
    return message;
  }

  void check(const HttpExchange& exchange) const override {
    if (const GrpcEnd end = end_of(exchange); end.status != 0) refuse_end(end);
  }

  [[nodiscard]] InferAnswer read(const HttpExchange& exchange) const override {
    InferAnswer answer;
    answer.outputs = outputs_in(message_in(exchange.body()), &answer.model_version);
    return answer;
  }

 private:
  // nullopt: the server does not have the method.
  [[nodiscard]] std::optional<std::string> got(const char* method, const std::string& request, bool may_lack,
                                               const std::string& otherwise) const {
    std::string body(frame_size, '\0');
    body += request;
    set_frame(body);
    const auto exchange = make_exchange(target_.place, std::string(service) + method);
    exchange->set_post(body, grpc_headers());
    exchange->start();
    exchange->finish();
    const GrpcEnd end = end_of(*exchange);
    if (end.status == 0) return std::string(message_in(exchange->body()));
    constexpr int unimplemented = 12;
    if (may_lack && end.status == unimplemented) return std::nullopt;
    fail(IMB_MODEL_ERROR, otherwise + ": " + refusal_in(end));
  }

  Target target_;
};

}  // namespace

std::unique_ptr<Protocol> grpc_protocol(Target target) { return std::make_unique<GrpcProtocol>(std::move(target)); }

}  // namespace infermeter
