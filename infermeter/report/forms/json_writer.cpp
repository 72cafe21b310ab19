#include "infermeter/report/forms/json_writer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "infermeter/text/terminal.hpp"

namespace infermeter {
namespace {

std::string escaped_code(char32_t code) {
  const auto unit = [](char32_t value) { return fmt::format("\\u{:04x}", static_cast<std::uint32_t>(value)); };
  if (code < 0x10000) return unit(code);
  return unit(0xd800 + ((code - 0x10000) >> 10)) + unit(0xdc00 + ((code - 0x10000) & 0x3ff));
}

}  // namespace

void JsonWriter::open(char bracket) {
  separate();
  text_ += bracket;
  ++depth_;
  first_ = true;
}

void JsonWriter::close(char bracket) {
  --depth_;
  if (!first_) break_line();
  text_ += bracket;
  first_ = false;
}

void JsonWriter::separate() {
  if (std::exchange(after_key_, false) || depth_ == 0) return;
  if (!first_) text_ += ',';
  break_line();
  first_ = false;
}

void JsonWriter::break_line() {
  if (compact_) return;
  text_ += '\n';
  text_.append(static_cast<std::size_t>(depth_) * 2, ' ');
}

void JsonWriter::key(std::string_view name) {
  separate();
  quote(name);
  text_ += compact_ ? ":" : ": ";
  after_key_ = true;
}

void JsonWriter::value(std::string_view text) {
  separate();
  quote(text);
}

void JsonWriter::value(double number) {
  separate();
  number_text(number);
}

void JsonWriter::value(bool truth) {
  separate();
  text_ += truth ? "true" : "false";
}

void JsonWriter::value(std::int64_t number) {
  separate();
  fmt::format_to(std::back_inserter(text_), "{}", number);
}

void JsonWriter::value(std::uint64_t number) {
  separate();
  fmt::format_to(std::back_inserter(text_), "{}", number);
}

void JsonWriter::value(std::nullptr_t) {
  separate();
  text_ += "null";
}

void JsonWriter::numbers(std::string_view name, const std::vector<double>& content) {
  key(name);
  after_key_ = false;
  text_ += '[';
  for (std::size_t i = 0; i < content.size(); ++i) {
    if (i != 0) text_ += compact_ ? "," : ", ";
    number_text(content[i]);
  }
  text_ += ']';
}

void JsonWriter::embed(std::string_view json) {
  separate();
  text_ += json;
}

void JsonWriter::strings(std::string_view name, const std::vector<std::string>& content) {
  key(name);
  begin_array();
  for (const auto& text : content) value(text);
  end_array();
}

void JsonWriter::object(std::string_view name, const std::vector<std::pair<std::string, std::string>>& content) {
  key(name);
  begin_object();
  for (auto pair = content.begin(); pair != content.end(); ++pair) {
    const bool seen =
        std::any_of(content.begin(), pair, [&](const auto& earlier) { return earlier.first == pair->first; });
    if (!seen) member(pair->first, pair->second);
  }
  end_object();
}

void JsonWriter::number_text(double number) {
  if (!std::isfinite(number)) {
    text_ += "null";
    return;
  }
  char buffer[32];
  const auto result = std::to_chars(buffer, buffer + sizeof buffer, number);
  text_.append(buffer, result.ptr);
}

// Beyond what JSON asks for, '<' is escaped, so that the text can stand in an HTML script element, and whatever would
// steer a terminal.
void JsonWriter::quote(std::string_view text) {
  text_ += '"';
  while (!text.empty()) {
    const Character character = next_character(text);
    if (!character.valid) {
      text_ += "\xef\xbf\xbd";  // U+FFFD
    } else if (character.code == '"' || character.code == '\\') {
      text_ += '\\';
      text_ += static_cast<char>(character.code);
    } else if (character.code == '\n') {
      text_ += "\\n";
    } else if (character.code == '\t') {
      text_ += "\\t";
    } else if (character.code == '<' || steers_display(character.code)) {
      text_ += escaped_code(character.code);
    } else {
      text_ += text.substr(0, character.size);
    }
    text.remove_prefix(character.size);
  }
  text_ += '"';
}

}  // namespace infermeter
