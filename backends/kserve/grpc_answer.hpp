// A unary call of gRPC as HTTP/2 carries it: a message with a frame in front of it, and how the call ended behind it
// (https://github.com/grpc/grpc/blob/master/doc/PROTOCOL-HTTP2.md).
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "http/http.hpp"

namespace infermeter {

// The frame: 0 (not compressed) and the message's size, of which `set_frame` writes the latter where the message is
// whole. Throws Failure(IMB_INVALID_ARGUMENT) for a message of 4 GiB.
inline constexpr std::size_t frame_size = 5;
void set_frame(std::string& body);

[[nodiscard]] std::vector<std::string> grpc_headers();

// How a call ended: the status of gRPC by its name ("NOT_FOUND") and number, and what the server said of it.
struct GrpcEnd {
  int status = 0;
  std::string message{};
};
// Throws Failure: the HTTP status by its class, and IMB_BAD_ANSWER for what is no answer of gRPC.
[[nodiscard]] GrpcEnd end_of(const HttpExchange& exchange);
// "the server answered with gRPC status NOT_FOUND; it said …"
[[nodiscard]] std::string refusal_in(const GrpcEnd& end);
// Throws it as a Failure, of the class that gRPC's table of statuses gives it in HTTP: 4xx, 5xx, or a timeout.
[[noreturn]] void refuse_end(const GrpcEnd& end);

// The one message in a body. Throws Failure(IMB_BAD_ANSWER).
[[nodiscard]] std::string_view message_in(std::string_view body);

}  // namespace infermeter
