// JSON over HTTP/1.1, with tensors in it or behind it.
#include <optional>

#include "http/json_text.hpp"
#include "http/place.hpp"
#include "infer_answer.hpp"
#include "protocol.hpp"
#include "sdk/options.hpp"

namespace infermeter {
namespace {

std::optional<std::size_t> json_size_of(const HttpExchange& exchange) {
  const auto text = exchange.header("Inference-Header-Content-Length");
  if (!text) return std::nullopt;
  try {
    return parse_integer<std::size_t>(*text, 0, SIZE_MAX);
  } catch (const std::invalid_argument&) {
    refuse_answer("its Inference-Header-Content-Length is " + shown(*text, 40));
  }
}

class HttpProtocol final : public Protocol {
 public:
  HttpProtocol(Target target, TensorForm form)
      : target_(std::move(target)), form_(form), path_("/v2/models/" + escaped_part(target_.model)) {
    if (!target_.version.empty()) path_ += "/versions/" + escaped_part(target_.version);
  }

  ServerMetadata ask_server() override {
    const std::string server = got("/v2", true, "the server does not say what it is");
    ServerMetadata metadata;
    if (!server.empty()) metadata = server_metadata_from(server);
    binary_ = form_ == TensorForm::automatic ? metadata.takes_binary_tensors : form_ == TensorForm::binary;
    return metadata;
  }

  ModelMetadata ask_model() override {
    return model_metadata_from(got(path_, false, "the server does not give model " + shown(target_.model, 200)));
  }

  [[nodiscard]] std::string infer_path() const override { return path_ + "/infer"; }
  [[nodiscard]] const char* tensor_form() const override { return binary_ ? "binary" : "json"; }

  [[nodiscard]] EncodedInput encode(const PortFields& port, const imb_value& value) const override {
    return encode_input(port, value, binary_);
  }

  [[nodiscard]] InferMessage message(std::span<const EncodedInput> inputs,
                                     std::span<const std::string> names) const override {
    RequestBody body = request_body(inputs, binary_ ? names : std::span<const std::string>(), binary_);
    InferMessage message{.bytes = std::move(body.bytes)};
    if (!binary_) {
      message.headers = {"Content-Type: application/json"};
    } else {
      message.headers = {"Content-Type: application/octet-stream",
                         "Inference-Header-Content-Length: " + std::to_string(body.json_size)};
    }
    return message;
  }

  void check(const HttpExchange& exchange) const override {
    if (exchange.status() != 200) refuse_status(exchange);
  }

  [[nodiscard]] InferAnswer read(const HttpExchange& exchange) const override {
    InferAnswer answer;
    answer.outputs = outputs_from(exchange.body(), json_size_of(exchange), &answer.model_version);
    return answer;
  }

 private:
  [[nodiscard]] std::string got(const std::string& path, bool may_lack, const std::string& otherwise) const {
    const auto exchange = make_exchange(target_.place, path);
    exchange->start();
    exchange->finish();
    if (exchange->status() == 200) return std::string(exchange->body());
    if (may_lack && exchange->status() == 404) return {};
    fail(IMB_MODEL_ERROR, otherwise + ": " + refusal_in(*exchange));
  }

  Target target_;
  TensorForm form_;
  std::string path_;
  bool binary_ = false;
};

}  // namespace

std::unique_ptr<Protocol> http_protocol(Target target, TensorForm form) {
  return std::make_unique<HttpProtocol>(std::move(target), form);
}

}  // namespace infermeter
