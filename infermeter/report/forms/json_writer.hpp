// JSON written straight into one buffer: keys in the order in which they are given, numbers as the shortest text that
// reads back as the same double, no NaN and no infinity ever (null), valid UTF-8 whatever the strings hold.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace infermeter {

// compact: on one line and without spaces, for programs alone.
enum class JsonLayout { indented, compact };

class JsonWriter {
 public:
  explicit JsonWriter(JsonLayout layout = JsonLayout::indented) : compact_(layout == JsonLayout::compact) {}

  void begin_object() { open('{'); }
  void end_object() { close('}'); }
  void begin_array() { open('['); }
  void end_array() { close(']'); }
  void key(std::string_view name);

  void value(std::string_view text);
  void value(const std::string& text) { value(std::string_view(text)); }
  void value(const char* text) { value(std::string_view(text)); }
  void value(double number);
  void value(bool truth);
  void value(std::int64_t number);
  void value(std::uint64_t number);
  void value(int number) { value(std::int64_t{number}); }
  void value(std::nullptr_t);
  template <class T>
  void value(const std::optional<T>& maybe) {
    if (maybe) {
      value(*maybe);
    } else {
      value(nullptr);
    }
  }

  template <class T>
  void member(std::string_view name, const T& content) {
    key(name);
    value(content);
  }
  // Many numbers on one line: one million take a tenth of a second.
  void numbers(std::string_view name, const std::vector<double>& content);
  void strings(std::string_view name, const std::vector<std::string>& content);
  // Pairs as an object; of keys that come twice the first counts, as JSON cannot say both.
  void object(std::string_view name, const std::vector<std::pair<std::string, std::string>>& content);

  // A value that is JSON already, as it is.
  void embed(std::string_view json);

  void reserve(std::size_t bytes) { text_.reserve(bytes); }
  [[nodiscard]] std::string take() { return std::move(text_); }

 private:
  void open(char bracket);
  void close(char bracket);
  void separate();
  void break_line();
  void number_text(double number);
  void quote(std::string_view text);

  std::string text_;
  bool compact_ = false;
  int depth_ = 0;
  bool first_ = true;  // nothing in the innermost bracket yet
  bool after_key_ = false;
};

}  // namespace infermeter
