#include "sse_reader.hpp"

#include <algorithm>

#include "sdk/abi_edge.hpp"

namespace infermeter {

std::size_t SseReader::take_text(std::string_view bytes) {
  const auto ends_line = [](char byte) { return byte == '\n' || byte == '\r'; };
  const std::string_view text(bytes.begin(), std::ranges::find_if(bytes, ends_line));
  if (text.empty()) return 0;
  is_after_cr_ = false;
  if (line_.size() + data_.size() + text.size() > longest_event)
    fail(IMB_BAD_ANSWER, "the server's stream has an event of more than " + std::to_string(longest_event) + " bytes");
  line_ += text;
  return text.size();
}

// Lines end with CR, LF, or both.
bool SseReader::ends_event(char end_of_line) {
  const bool is_after_cr = is_after_cr_;
  is_after_cr_ = end_of_line == '\r';
  return !(end_of_line == '\n' && is_after_cr) && ends_event_with_line();
}

bool SseReader::ends_event_with_line() {
  constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF", data_field = "data";
  std::string_view line = line_;
  if (is_first_line_ && line.starts_with(byte_order_mark)) line.remove_prefix(byte_order_mark.size());
  is_first_line_ = false;
  if (line.empty()) {
    line_.clear();
    return has_data_;
  }
  const std::size_t colon = line.find(':');
  if (line.substr(0, colon) == data_field) {
    std::string_view value = colon == std::string_view::npos ? std::string_view() : line.substr(colon + 1);
    if (value.starts_with(' ')) value.remove_prefix(1);
    if (has_data_) data_ += '\n';
    data_ += value;
    has_data_ = true;
  }
  line_.clear();
  return false;
}

}  // namespace infermeter
