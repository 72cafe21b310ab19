#include "infermeter/worker/output_tail.hpp"

#include <unistd.h>

#include <cerrno>

namespace infermeter {
namespace {

// Bytes of the well-formed sequence at the beginning, or 0.
std::size_t sequence_length(std::string_view bytes) {
  const auto at = [&](std::size_t i) { return i < bytes.size() ? static_cast<unsigned char>(bytes[i]) : 0U; };
  const auto continues = [&](std::size_t i) { return (at(i) & 0xc0U) == 0x80U; };
  const unsigned first = at(0), second = at(1);
  if (first < 0x80U) return 1;
  if (first >= 0xc2U && first <= 0xdfU) return continues(1) ? 2 : 0;
  if ((first & 0xf0U) == 0xe0U) {
    const bool overlong = first == 0xe0U && second < 0xa0U, surrogate = first == 0xedU && second > 0x9fU;
    return !overlong && !surrogate && continues(1) && continues(2) ? 3 : 0;
  }
  if (first >= 0xf0U && first <= 0xf4U) {
    const bool overlong = first == 0xf0U && second < 0x90U, too_high = first == 0xf4U && second > 0x8fU;
    return !overlong && !too_high && continues(1) && continues(2) && continues(3) ? 4 : 0;
  }
  return 0;
}

}  // namespace

bool OutputTail::read_some(int descriptor) {
  char buffer[64 * 1024];
  const ssize_t got = read(descriptor, buffer, sizeof buffer);
  if (got > 0) append({buffer, static_cast<std::size_t>(got)});
  return got > 0 || (got < 0 && (errno == EAGAIN || errno == EINTR));
}

void OutputTail::append(std::string_view bytes) {
  if (bytes.size() > limit) bytes.remove_prefix(bytes.size() - limit);
  bytes_ += bytes;
  if (bytes_.size() > 2 * limit) bytes_.erase(0, bytes_.size() - limit);
}

std::string OutputTail::text() const {
  std::string_view tail = bytes_;
  if (tail.size() > limit) tail.remove_prefix(tail.size() - limit);
  return valid_utf8(tail);
}

std::string last_line(std::string_view text) {
  while (text.ends_with('\n')) text.remove_suffix(1);
  return std::string(text.substr(text.rfind('\n') + 1));
}

std::string valid_utf8(std::string_view bytes) {
  std::string text;
  while (!bytes.empty()) {
    const std::size_t length = sequence_length(bytes);
    if (length == 0)
      text += "\xef\xbf\xbd";
    else
      text += bytes.substr(0, length);
    bytes.remove_prefix(length == 0 ? 1 : length);
  }
  return text;
}

}  // namespace infermeter
