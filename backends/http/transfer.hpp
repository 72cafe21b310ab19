// Transfer: a handle of libcurl, driven by a queue's epoll for one of its members.
#pragma once

#include <curl/curl.h>

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "http/http.hpp"
#include "sdk/abi_edge.hpp"

namespace infermeter {

[[nodiscard]] bool is_encrypted(const HttpPlace& place);
// "host:port", without the port that a URL of its kind has anyway; "/path?query". Throw Failure where it is no URL.
[[nodiscard]] std::string authority_of(const std::string& url);
[[nodiscard]] std::string target_of(const std::string& url);

class Transfer {
 public:
  Transfer(const HttpPlace& place, const std::string& url, QueueMember& member);
  Transfer(const Transfer&) = delete;
  Transfer& operator=(const Transfer&) = delete;
  ~Transfer();

  template <class Value>
  void set(CURLoption option, Value value) {
    if (const CURLcode code = curl_easy_setopt(easy_.get(), option, value); code != CURLE_OK)
      fail(IMB_RUN_ERROR, std::string("libcurl does not take an option: ") + curl_easy_strerror(code));
  }
  [[nodiscard]] CURL* easy() const { return easy_.get(); }

  // Where its sockets are watched from here on.
  void use(HttpQueue& queue) { queue_ = &queue; }
  // All three: its result, once it has ended. Goes on because of events of epoll at `socket`, or because its time has
  // come.
  [[nodiscard]] std::optional<CURLcode> begin();
  [[nodiscard]] std::optional<CURLcode> act(curl_socket_t socket, std::uint32_t events);
  [[nodiscard]] std::optional<CURLcode> expire() { return perform(CURL_SOCKET_TIMEOUT, 0); }
  void end();

  [[nodiscard]] std::string_view words() const { return words_.data(); }  // libcurl's own, of how it ended
  [[nodiscard]] long system_error() const;
  [[nodiscard]] long opened_connections() const;  // by it

 private:
  static int want_events(CURL* easy, curl_socket_t socket, int what, void* self, void* of_socket);
  static int want_time(CURLM* multi, long milliseconds, void* self);
  static int close_socket(void* self, curl_socket_t socket);
  [[nodiscard]] std::optional<CURLcode> perform(curl_socket_t socket, int events);
  [[nodiscard]] CURLcode failed(CURLMcode code);

  QueueMember& member_;
  HttpQueue* queue_ = nullptr;
  std::array<char, CURL_ERROR_SIZE> words_{};
  std::unique_ptr<curl_slist, void (*)(curl_slist*)> resolved_;
  std::unique_ptr<CURL, void (*)(CURL*)> easy_;
  std::unique_ptr<CURLM, CURLMcode (*)(CURLM*)> multi_;
  bool has_begun_ = false;
};

// "a: b", appended; `list` may be nullptr. Throws std::bad_alloc.
[[nodiscard]] curl_slist* appended(curl_slist* list, const std::string& text);

}  // namespace infermeter
