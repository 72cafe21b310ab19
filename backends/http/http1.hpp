// HTTP/1.1: connections (TCP and TLS) by libcurl, answers by Boost.Beast. What goes over a connection without TLS is
// written and read here, with as few calls of the kernel as it takes.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "http/http.hpp"
#include "http/http1_answer.hpp"
#include "http/transfer.hpp"

namespace infermeter {

class Http1Exchange final : public HttpExchange, private Http1Answer::Body {
 public:
  Http1Exchange(const HttpPlace& place, const std::string& path);

  void set_post(std::string_view body, const std::vector<std::string>& headers) override;
  [[nodiscard]] std::optional<std::string> header(const char* name) const override { return answer_.header(name); }
  [[nodiscard]] std::optional<std::string> trailer(const char* name) const override { return answer_.trailer(name); }
  [[nodiscard]] std::string transport() const override;

 private:
  void begin() override;
  void succeed() override { is_of_status(answer_.status()); }
  [[noreturn]] void refuse(CURLcode code) override;
  void act(int descriptor, std::uint32_t events) override;
  void expire() override;
  void hung_up(int descriptor) override;
  [[nodiscard]] bool take(std::string_view bytes) override;

  void set_request(const std::string& method, const std::vector<std::string>& headers, std::string_view body);
  void open();
  void opened_with(std::optional<CURLcode> result);
  void close_connection();
  void send_rest();
  void read_answer(int descriptor, std::uint32_t events);
  [[nodiscard]] ssize_t read_some(int descriptor);
  void make_room();
  void parse_read();
  void lost(CURLcode code, const char* words);
  void end(Http1Answer::State state);
  void note_connection();
  void end_badly(CURLcode code, std::string_view words = {});
  [[nodiscard]] bool closes_each() const;  // this one, after each answer

  // Of the request: its head, with the body behind it if that is small; a large body.
  std::string authority_, target_, head_;
  std::string_view large_body_;
  std::size_t sent_ = 0;

  Http1Answer answer_;
  std::vector<char> bytes_;
  std::size_t read_ = 0;                    // so many of bytes_ were read and wait to be parsed
  std::int64_t deadline_ns_ = 0;            // of this exchange
  curl_socket_t socket_ = CURL_SOCKET_BAD;  // of a connection that is open
  bool is_opening_ = false;
  bool is_new_ = false;          // the connection is of this exchange
  bool is_answered_ = false;     // a byte of the answer came
  bool cannot_send_ = false;     // the rest of the request
  bool was_to_be_kept_ = false;  // the connection of the last answer, for all that the server said
  int lost_connections_ = 0;     // in a row that were to be kept and were closed
  std::string words_;            // of how it ended
  Transfer connection_;
};

}  // namespace infermeter
