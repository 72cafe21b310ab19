#include "grpc_answer.hpp"

#include <strings.h>
#include <array>
#include <cstdint>

#include "http/json_text.hpp"
#include "http/place.hpp"
#include "output_tensor.hpp"
#include "sdk/abi_edge.hpp"
#include "sdk/options.hpp"

namespace infermeter {
namespace {

struct Status {
  const char* name;
  imb_status failure;
};

// By number. The class is that of the HTTP status which google/rpc/code.proto gives each.
constexpr std::array<Status, 17> statuses = {{{"OK", IMB_OK},
                                              {"CANCELLED", IMB_SERVER_STATUS_4XX},
                                              {"UNKNOWN", IMB_SERVER_STATUS_5XX},
                                              {"INVALID_ARGUMENT", IMB_SERVER_STATUS_4XX},
                                              {"DEADLINE_EXCEEDED", IMB_SERVER_TIMEOUT},
                                              {"NOT_FOUND", IMB_SERVER_STATUS_4XX},
                                              {"ALREADY_EXISTS", IMB_SERVER_STATUS_4XX},
                                              {"PERMISSION_DENIED", IMB_SERVER_STATUS_4XX},
                                              {"RESOURCE_EXHAUSTED", IMB_SERVER_STATUS_4XX},
                                              {"FAILED_PRECONDITION", IMB_SERVER_STATUS_4XX},
                                              {"ABORTED", IMB_SERVER_STATUS_4XX},
                                              {"OUT_OF_RANGE", IMB_SERVER_STATUS_4XX},
                                              {"UNIMPLEMENTED", IMB_SERVER_STATUS_5XX},
                                              {"INTERNAL", IMB_SERVER_STATUS_5XX},
                                              {"UNAVAILABLE", IMB_SERVER_STATUS_5XX},
                                              {"DATA_LOSS", IMB_SERVER_STATUS_5XX},
                                              {"UNAUTHENTICATED", IMB_SERVER_STATUS_4XX}}};

bool is_known(int status) { return status >= 0 && static_cast<std::size_t>(status) < statuses.size(); }

int hex_digit(char digit) {
  if (digit >= '0' && digit <= '9') return digit - '0';
  const char small = static_cast<char>(digit | 0x20);
  return small >= 'a' && small <= 'f' ? small - 'a' + 10 : -1;
}

// grpc-message is percent-encoded; what is no escape stays as it is.
std::string without_percents(std::string_view text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool is_escape =
        text[i] == '%' && i + 2 < text.size() && hex_digit(text[i + 1]) >= 0 && hex_digit(text[i + 2]) >= 0;
    plain += is_escape ? static_cast<char>(hex_digit(text[i + 1]) * 16 + hex_digit(text[i + 2])) : text[i];
    if (is_escape) i += 2;
  }
  return plain;
}

}  // namespace

void set_frame(std::string& body) {
  const std::size_t size = body.size() - frame_size;
  if (size > UINT32_MAX) fail(IMB_INVALID_ARGUMENT, "the request is larger than gRPC's 4 GiB");
  body[0] = 0;
  for (std::size_t i = 0; i < 4; ++i) body[1 + i] = static_cast<char>((size >> (8 * (3 - i))) & 0xFFU);
}

std::vector<std::string> grpc_headers() { return {"Content-Type: application/grpc", "TE: trailers"}; }

GrpcEnd end_of(const HttpExchange& exchange) {
  if (exchange.status() != 200) refuse_status(exchange);
  constexpr std::string_view type = "application/grpc";
  const std::string declared = exchange.header("Content-Type").value_or("");
  if (strncasecmp(declared.c_str(), type.data(), type.size()) != 0)
    refuse_answer("its Content-Type is " + shown(declared, 80) + ", which is not gRPC's");
  const auto status = exchange.trailer("grpc-status");
  if (!status) refuse_answer("it ended without a grpc-status");
  try {
    return {parse_integer<int>(*status, 0, INT32_MAX), without_percents(exchange.trailer("grpc-message").value_or(""))};
  } catch (const std::invalid_argument&) {
    refuse_answer("its grpc-status is " + shown(*status, 40));
  }
}

std::string refusal_in(const GrpcEnd& end) {
  const std::string name =
      is_known(end.status) ? statuses[static_cast<std::size_t>(end.status)].name : std::to_string(end.status);
  return "the server answered with gRPC status " + name + "; " +
         (end.message.empty() ? "it said nothing else" : "it said " + shown(end.message));
}

void refuse_end(const GrpcEnd& end) {
  fail(is_known(end.status) ? statuses[static_cast<std::size_t>(end.status)].failure : IMB_BAD_ANSWER, refusal_in(end));
}

std::string_view message_in(std::string_view body) {
  if (body.size() < frame_size) refuse_answer("it contains no message");
  if (body[0] != 0) refuse_answer("its message is compressed, which was not asked for");
  std::size_t size = 0;
  for (std::size_t i = 1; i < frame_size; ++i) size = size << 8U | static_cast<unsigned char>(body[i]);
  body.remove_prefix(frame_size);
  if (body.size() != size)
    refuse_answer("its message is said to have " + std::to_string(size) + " bytes, and " + std::to_string(body.size()) +
                  " came");
  return body;
}

}  // namespace infermeter
