#include "infermeter/worker/wire/output_tail.hpp"

#include <unistd.h>

#include <cerrno>

#include "infermeter/text/utf8.hpp"

namespace infermeter {

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

}  // namespace infermeter
