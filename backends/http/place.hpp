// Where a server is and how it is reached: options that all back ends of models on servers have.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "http/http.hpp"
#include "sdk/options.hpp"

namespace infermeter {

// `token_file` and `token_variable` are the host's to act on: it hands the token over.
struct ServerOptions {
  std::string url{};  // without a '/' at its end
  double timeout_s = 60;
  std::string certificates{};  // a file; empty: the system's
  bool verify = true;
};

[[nodiscard]] double parse_seconds(std::string_view text);  // 0.001 to 86400
[[nodiscard]] std::string without_last_slashes(std::string_view text);

// `url`, then a back end's own rows, then the others. `Settings` has a ServerOptions `server`.
template <class Settings>
std::vector<OptionRow<Settings>> rows_with_server(const char* url_form, const std::vector<OptionRow<Settings>>& own) {
  using Text = std::string_view;
  std::vector<OptionRow<Settings>> rows = {{{"url", url_form, "where the server is; https, too"},
                                            [](Settings& s, Text v) { s.server.url = without_last_slashes(v); }}};
  rows.insert(rows.end(), own.begin(), own.end());
  const OptionRow<Settings> others[] = {
      {{"timeout", "SECONDS", "for one answer, with the connection; default 60"},
       [](Settings& s, Text v) { s.server.timeout_s = parse_seconds(v); }},
      {{"token_file", "FILE", "holds a token that goes with each request (Authorization: Bearer)"},
       [](Settings&, Text) {}},
      {{"token_variable", "NAME", "the environment variable that contains the token"}, [](Settings&, Text) {}},
      {{"ca", "FILE", "certificates (PEM) to trust; default: the system's"},
       [](Settings& s, Text v) { s.server.certificates = v; }},
      {{"verify", "true or false", "check the server's certificate; default true"},
       [](Settings& s, Text v) { s.server.verify = parse_bool(v); }}};
  rows.insert(rows.end(), std::begin(others), std::end(others));
  return rows;
}

// Refuses a load that is not for a server: no url, another device than "server", another dtype than "float32".
[[nodiscard]] HttpPlace place_of(const imb_load& load, const ServerOptions& options, const std::string& backend);

// What is said of an answer that is no success: its status, and the server's own words.
[[nodiscard]] std::string refusal_in(const HttpExchange& exchange);
// Throws it as a Failure of its class: 4xx, 5xx, or IMB_BAD_ANSWER.
[[noreturn]] void refuse_status(const HttpExchange& exchange);

}  // namespace infermeter
