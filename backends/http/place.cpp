#include "http/place.hpp"

#include <cmath>
#include <cstddef>
#include <cstdlib>

#include "http/json_text.hpp"

namespace infermeter {
namespace {

std::string_view text_of(const imb_load& load, const char* const imb_load::* field, std::size_t end) {
  return load.struct_size >= end && load.*field != nullptr ? std::string_view(load.*field) : std::string_view();
}

}  // namespace

double parse_seconds(std::string_view text) {
  const std::string copy(text);
  char* end = nullptr;
  const double seconds = std::strtod(copy.c_str(), &end);
  if (copy.empty() || *end != '\0') throw std::invalid_argument("");
  if (!std::isfinite(seconds) || seconds < 0.001 || seconds > 86400) {
    throw std::invalid_argument("it must be 0.001 to 86400");
  }
  return seconds;
}

std::string without_last_slashes(std::string_view text) {
  while (text.ends_with('/')) text.remove_suffix(1);
  return std::string(text);
}

HttpPlace place_of(const imb_load& load, const ServerOptions& options, const std::string& backend) {
  if (std::string_view(load.device) != "server")
    fail(IMB_UNSUPPORTED,
         backend + " has no device " + load.device + "; it has server: what that computes on is its own");
  if (std::string_view(load.dtype) != "float32")
    fail(IMB_UNSUPPORTED,
         backend + " cannot ask for " + load.dtype + "; it has float32: a server executes its model as it is");
  if (options.url.empty())
    fail(IMB_INVALID_ARGUMENT,
         backend + " measures a model that a server has: say where that is, url=http://HOST:PORT");
  constexpr auto end_of_addresses = offsetof(imb_load, server_addresses) + sizeof load.server_addresses;
  constexpr auto end_of_token = offsetof(imb_load, server_token) + sizeof load.server_token;
  return {.url = options.url,
          .addresses = std::string(text_of(load, &imb_load::server_addresses, end_of_addresses)),
          .token = std::string(text_of(load, &imb_load::server_token, end_of_token)),
          .certificates = options.certificates,
          .verify = options.verify,
          .timeout_s = options.timeout_s};
}

std::string refusal_in(const HttpExchange& exchange) {
  return "the server answered with status " + std::to_string(exchange.status()) + "; " + error_text(exchange.body());
}

void refuse_status(const HttpExchange& exchange) {
  const long hundreds = exchange.status() / 100;
  fail(hundreds == 4   ? IMB_SERVER_STATUS_4XX
       : hundreds == 5 ? IMB_SERVER_STATUS_5XX
                       : IMB_BAD_ANSWER,
       refusal_in(exchange));
}

}  // namespace infermeter
