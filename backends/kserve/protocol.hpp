// How a server is asked: the same questions as JSON over HTTP/1.1, or as protobuf over gRPC.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "http/http.hpp"
#include "infer_request.hpp"
#include "metadata.hpp"
#include "output_tensor.hpp"
#include "settings.hpp"

namespace infermeter {

// What is the same for all requests of a session.
struct Target {
  const HttpPlace& place;
  std::string model{}, version{};  // as asked for; empty: the server's choice
};

struct InferMessage {
  std::string bytes{};
  std::vector<std::string> headers{};  // "Name: value"
};

struct InferAnswer {
  std::vector<OutputTensor> outputs{};
  std::string model_version{};  // that answered; empty: untold
};

// Each throws Failure with a sentence where the server does not answer, or not as it should.
class Protocol {
 public:
  virtual ~Protocol() = default;
  // Nothing is in it where the server does not report what it is.
  virtual ServerMetadata ask_server() = 0;
  virtual ModelMetadata ask_model() = 0;

  // Of inferences, after the two questions. `names`: of the outputs that are wanted; none: all.
  [[nodiscard]] virtual std::string infer_path() const = 0;
  [[nodiscard]] virtual const char* tensor_form() const = 0;
  [[nodiscard]] virtual EncodedInput encode(const PortFields& port, const imb_value& value) const = 0;
  [[nodiscard]] virtual InferMessage message(std::span<const EncodedInput> inputs,
                                             std::span<const std::string> names) const = 0;
  // Of an exchange that has ended: whether it was a success, and what was answered.
  virtual void check(const HttpExchange& exchange) const = 0;
  [[nodiscard]] virtual InferAnswer read(const HttpExchange& exchange) const = 0;
};

// `target`'s place stays where it is.
[[nodiscard]] std::unique_ptr<Protocol> http_protocol(Target target, TensorForm form);
[[nodiscard]] std::unique_ptr<Protocol> grpc_protocol(Target target);

}  // namespace infermeter
