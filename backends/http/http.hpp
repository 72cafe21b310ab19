// HTTP by libcurl's multi interface: one exchange at a time on a connection of its own, which is kept alive. A queue
// drives any number of them (queue.hpp).
#pragma once

#include <curl/curl.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "http/queue.hpp"

namespace infermeter {

// Once for the process, before anything else here. Throws Failure.
void start_libcurl();

// How all connections to a server are made.
struct HttpPlace {
  std::string url{};        // of the server, without a '/' at its end
  std::string addresses{};  // imb_load.server_addresses; empty: names are resolved here
  std::string token{}, certificates{};
  bool verify = true;
  double timeout_s = 60;
  bool http2 = false;  // HTTP/2 and nothing else: without TLS by prior knowledge, with it by ALPN; otherwise HTTP/1.1
};

// A part of a URL's path: everything but letters, digits and -._~ is escaped.
[[nodiscard]] std::string escaped_part(std::string_view text);

// Takes the body of an answer while it comes.
class BodySink {
 public:
  virtual ~BodySink() = default;
  // Called right after `bytes` were read, which had been received at `moment_ns` (monotonic). What it throws ends the
  // exchange, and `finish` throws it.
  virtual void take(std::string_view bytes, std::int64_t moment_ns) = 0;
};

class HttpExchange final : public QueueMember {
 public:
  // `path` is what follows the server's URL.
  HttpExchange(const HttpPlace& place, const std::string& path);
  HttpExchange(const HttpExchange&) = delete;
  HttpExchange& operator=(const HttpExchange&) = delete;
  ~HttpExchange() override;

  // Makes it a POST. `body` stays where it is until the next one; `headers` are "Name: value".
  void set_post(std::string_view body, const std::vector<std::string>& headers);
  // Of the answer's body; beyond it the exchange fails.
  void set_limit(std::size_t most_bytes);
  // Bodies of answers with status 200 go there; those of others stay in body(). nullptr: all stay there.
  void set_sink(BodySink* sink) { sink_ = sink; }

  // Sends as much as the connection takes without waiting; `queue` tells when the answer is there, nullptr: one of its
  // own. Then `finish` returns when it is. Both throw Failure with a sentence, by IMB_SERVER_… and IMB_BAD_ANSWER:
  // refused, reset, stalled, no HTTP, certificate, too large. Nobody else may use the queue of the last exchange
  // meanwhile, if it was another one.
  void start(std::shared_ptr<HttpQueue> queue = nullptr);
  void finish();
  // The answer is not there yet.
  [[nodiscard]] bool is_running() const override { return is_started_ && !result_; }

  [[nodiscard]] long status() const { return status_; }  // 200; read by `finish`
  [[nodiscard]] std::string_view body() const { return body_; }
  [[nodiscard]] std::optional<std::string> header(const char* name) const;
  // What came behind the body, or among the headers.
  [[nodiscard]] std::optional<std::string> trailer(const char* name) const;
  // Of the last answer: "HTTP/1.1 over TLS, connection kept alive".
  [[nodiscard]] std::string transport() const;

 private:
  // What libcurl calls.
  static int want_events(CURL* easy, curl_socket_t socket, int what, void* self, void* of_socket);
  static int want_time(CURLM* multi, long milliseconds, void* self);
  static int close_socket(void* self, curl_socket_t socket);
  static std::size_t take_body(char* bytes, std::size_t one, std::size_t count, void* self);
  static std::size_t take_header(char* bytes, std::size_t one, std::size_t count, void* self);
  void put_body(std::string_view bytes);
  [[noreturn]] void fail_with(CURLcode code) const;
  [[nodiscard]] long opened_connections() const;  // by the last exchange
  [[nodiscard]] bool announced_close() const;     // the last answer did
  void note_connection();
  [[nodiscard]] std::optional<std::string> field(const char* name, unsigned origin) const;
  void act(int descriptor, std::uint32_t events) override;
  void expire() override { perform(CURL_SOCKET_TIMEOUT, 0); }
  void perform(curl_socket_t socket, int events);
  void set_version();
  void end();
  void set_headers(const std::vector<std::string>& headers);

  const HttpPlace& place_;
  std::shared_ptr<HttpQueue> own_queue_, queue_;  // of exchanges that are waited for alone; of this or the last one
  std::unique_ptr<CURL, void (*)(CURL*)> easy_;
  std::unique_ptr<CURLM, CURLMcode (*)(CURLM*)> multi_;
  std::unique_ptr<curl_slist, void (*)(curl_slist*)> resolved_, headers_;
  std::array<char, CURL_ERROR_SIZE> words_{};  // libcurl's own
  std::string body_;
  BodySink* sink_ = nullptr;
  std::exception_ptr thrown_;  // by the sink
  std::size_t most_bytes_, body_bytes_ = 0, header_bytes_ = 0;
  long status_ = 0;
  bool is_started_ = false, is_too_large_ = false;
  std::optional<CURLcode> result_;  // of this exchange, once it has ended
  CURLMcode multi_result_ = CURLM_OK;
  bool has_connection_ = false;  // that speaks HTTP/2 by prior knowledge, for all that is known
  bool was_to_be_kept_ = false;  // the connection of the last answer, for all that the server said
  int lost_connections_ = 0;     // in a row that were to be kept and were closed
};

}  // namespace infermeter
