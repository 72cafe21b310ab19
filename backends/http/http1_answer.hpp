// Http1Answer: one answer of HTTP/1.1, parsed by Boost.Beast while it comes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace infermeter {

class Http1Answer {
 public:
  // Takes a body. False: no more of it.
  class Body {
   public:
    virtual ~Body() = default;
    [[nodiscard]] virtual bool take(std::string_view bytes) = 0;
  };
  enum class State { needs_more, done, too_many_headers, too_large, stopped, broken };

  explicit Http1Answer(Body& body);
  Http1Answer(const Http1Answer&) = delete;
  Http1Answer& operator=(const Http1Answer&) = delete;
  ~Http1Answer();

  // Of the next answer, which may have so many bytes of headers and of body.
  void begin(std::size_t most_headers, std::uint64_t most_body);
  // Takes from the front of `bytes` what can be taken; the rest comes again, with more behind it. Interim answers (1xx)
  // are passed over.
  State parse(std::string_view& bytes);
  // The connection has ended. Done, if that is how the answer ends.
  State end();

  [[nodiscard]] long status() const;  // 0: not known yet
  [[nodiscard]] bool keeps_connection() const;
  [[nodiscard]] std::string_view words() const;  // why it is broken
  // By any spelling; the first of that name.
  [[nodiscard]] std::optional<std::string> header(std::string_view name) const;
  [[nodiscard]] std::optional<std::string> trailer(std::string_view name) const;  // or header

 private:
  class Parser;
  std::unique_ptr<Parser> parser_;
};

}  // namespace infermeter
