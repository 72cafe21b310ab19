// OutputTail: the end of what a worker wrote, however much that was.
#pragma once

#include <string>
#include <string_view>

namespace infermeter {

class OutputTail {
 public:
  static constexpr std::size_t limit = 16 * 1024;
  // Reads what is there now, at most 64 KiB; false when the other side has closed.
  [[nodiscard]] bool read_some(int descriptor);
  void append(std::string_view bytes);
  [[nodiscard]] std::string text() const;  // valid UTF-8, at most `limit` bytes before replacement

 private:
  std::string bytes_;
};

}  // namespace infermeter
