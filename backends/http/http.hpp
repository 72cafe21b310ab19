// HTTP: one exchange at a time on a connection of its own, which is kept alive. A queue drives any number of them
// (queue.hpp). HTTP/1.1 is libcurl's connections and Boost.Beast's parser (http1.cpp), HTTP/2 all libcurl (http2.cpp).
#pragma once

#include <curl/curl.h>

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

class HttpExchange : public QueueMember {
 public:
  HttpExchange(const HttpExchange&) = delete;
  HttpExchange& operator=(const HttpExchange&) = delete;
  ~HttpExchange() override;

  // Makes it a POST. `body` stays where it is, and as it is, until the next one; `headers` are "Name: value".
  virtual void set_post(std::string_view body, const std::vector<std::string>& headers) = 0;
  // Of the answer's body; beyond it the exchange fails.
  virtual void set_limit(std::size_t most_bytes) { most_bytes_ = most_bytes; }
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
  [[nodiscard]] virtual std::optional<std::string> header(const char* name) const = 0;
  // What came behind the body, or among the headers.
  [[nodiscard]] virtual std::optional<std::string> trailer(const char* name) const = 0;
  // Of the last answer: "HTTP/1.1 over TLS, connection kept alive".
  [[nodiscard]] virtual std::string transport() const = 0;

 protected:
  static constexpr std::size_t most_headers = std::size_t{64} << 10;

  explicit HttpExchange(const HttpPlace& place) : place_(place) {}

  [[nodiscard]] const HttpPlace& place() const { return place_; }
  [[nodiscard]] HttpQueue& queue() const { return *queue_; }
  [[nodiscard]] std::size_t most_bytes() const { return most_bytes_; }
  [[nodiscard]] bool is_started() const { return is_started_; }
  // A part of an answer's body. False: it is too large, or not to be had; the exchange ends.
  [[nodiscard]] bool put_body(std::string_view bytes, long status);
  void is_of_status(long status) { status_ = status; }
  void is_too_large() { is_too_large_ = true; }
  void has_too_many_headers() { has_too_many_headers_ = true; }
  // It has: with CURLE_OK, or with what it is called in libcurl. Nothing more comes.
  void end_with(CURLcode code);
  [[noreturn]] void fail_with(CURLcode code, std::string_view words, long system_error) const;

 private:
  // Sends as much as the connection takes.
  virtual void begin() = 0;
  // What `finish` does first; then, by how it ended, one of the others. Those throw Failure.
  virtual void release() {}
  virtual void succeed() = 0;
  [[noreturn]] virtual void refuse(CURLcode code) = 0;

  const HttpPlace& place_;
  std::shared_ptr<HttpQueue> own_queue_, queue_;  // of exchanges that are waited for alone; of this or the last one
  std::string body_;
  BodySink* sink_ = nullptr;
  std::exception_ptr thrown_;  // by the sink
  std::size_t most_bytes_ = std::size_t{4} << 20, body_bytes_ = 0;
  long status_ = 0;
  bool is_started_ = false, is_too_large_ = false, has_too_many_headers_ = false;
  std::optional<CURLcode> result_;  // of this exchange, once it has ended
};

// `path` is what follows the server's URL. `place` has to outlive it.
[[nodiscard]] std::unique_ptr<HttpExchange> make_exchange(const HttpPlace& place, const std::string& path);

}  // namespace infermeter
