// HTTP/2, by libcurl.
#pragma once

#include "http/http.hpp"
#include "http/transfer.hpp"

namespace infermeter {

class Http2Exchange final : public HttpExchange {
 public:
  Http2Exchange(const HttpPlace& place, const std::string& path);

  void set_post(std::string_view body, const std::vector<std::string>& headers) override;
  void set_limit(std::size_t most_bytes) override;
  [[nodiscard]] std::optional<std::string> header(const char* name) const override;
  [[nodiscard]] std::optional<std::string> trailer(const char* name) const override;
  [[nodiscard]] std::string transport() const override;

 private:
  // What libcurl calls.
  static std::size_t take_body(char* bytes, std::size_t one, std::size_t count, void* self);
  static std::size_t take_header(char* bytes, std::size_t one, std::size_t count, void* self);

  void begin() override;
  void release() override;
  void succeed() override;
  [[noreturn]] void refuse(CURLcode code) override;
  void act(int descriptor, std::uint32_t events) override;
  void expire() override;
  void end_if(std::optional<CURLcode> result);
  void set_headers(const std::vector<std::string>& headers);
  void set_version();
  [[nodiscard]] long status_now() const;
  [[nodiscard]] std::optional<std::string> field(const char* name, unsigned origin) const;

  std::unique_ptr<curl_slist, void (*)(curl_slist*)> headers_;
  std::size_t header_bytes_ = 0;
  // That speaks HTTP/2 by prior knowledge, for all that is known; before the last exchange.
  bool has_connection_ = false, had_connection_ = false;
  Transfer transfer_;
};

}  // namespace infermeter
