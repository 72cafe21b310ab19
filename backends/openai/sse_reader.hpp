// Server-sent events out of bytes as they come (WHATWG HTML, 9.2.6), however they are cut into reads.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace infermeter {

class SseReader {
 public:
  static constexpr std::size_t longest_event = std::size_t{1} << 20;  // bytes

  // Calls take(std::string_view data) for each event that is complete with `bytes`: its lines "data:" put together.
  // Comments and other fields are passed over. Throws Failure(IMB_BAD_ANSWER): an event is longer than that.
  template <class Take>
  void feed(std::string_view bytes, Take&& take) {
    while (true) {
      bytes.remove_prefix(take_text(bytes));
      if (bytes.empty()) return;
      if (ends_event(bytes.front())) give(take);
      bytes.remove_prefix(1);
    }
  }
  // The stream is over: an event whose blank line is missing counts as well.
  template <class Take>
  void end(Take&& take) {
    if (ends_event('\n') || ends_event('\n')) give(take);
  }

 private:
  // Up to the end of a line, or to that of `bytes`: how much it is.
  [[nodiscard]] std::size_t take_text(std::string_view bytes);
  [[nodiscard]] bool ends_event(char end_of_line);
  [[nodiscard]] bool ends_event_with_line();
  template <class Take>
  void give(Take&& take) {
    has_data_ = false;
    take(std::string_view(data_));
    data_.clear();
  }

  std::string line_, data_;
  bool has_data_ = false, is_after_cr_ = false, is_first_line_ = true;
};

}  // namespace infermeter
