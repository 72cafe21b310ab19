#include "infermeter/data/regular_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "infermeter/text/quoted.hpp"

namespace infermeter {
namespace {

Error failed(std::string_view what, const std::string& path, int error) {
  return io_error(fmt::format("cannot {} {}: {}", what, in_quotes(path), std::strerror(error)));
}

// The kernel moves at most about 2 GiB in one call.
constexpr std::size_t kMostPerCall = std::size_t{1} << 30;

}  // namespace

Result<Done> ByteSource::skip(std::uint64_t count) {
  std::vector<std::byte> passed(static_cast<std::size_t>(std::min<std::uint64_t>(count, std::uint64_t{1} << 20)));
  while (count > 0) {
    const auto step = static_cast<std::size_t>(std::min<std::uint64_t>(count, passed.size()));
    INFERMETER_TRY_DONE(read(std::span(passed).first(step)));
    count -= step;
  }
  return Done{};
}

Result<RegularFile> RegularFile::open(const std::string& path) {
  if (path.find('\0') != std::string::npos) return io_error(fmt::format("{} is not a path", in_quotes(path)));
  // Not blocking: opening a pipe would wait for a writer.
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) return failed("read", path, errno);
  return of(descriptor, path);
}

Result<RegularFile> RegularFile::of(int descriptor, std::string name) {
  struct stat status{};
  if (::fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode) || ::lseek(descriptor, 0, SEEK_SET) != 0) {
    ::close(descriptor);
    return io_error(fmt::format("{} is not a regular file", in_quotes(name)));
  }
  return RegularFile(std::move(name), descriptor, static_cast<std::uint64_t>(status.st_size));
}

RegularFile::RegularFile(RegularFile&& other) noexcept
    : path_(std::move(other.path_)),
      descriptor_(std::exchange(other.descriptor_, -1)),
      remaining_(std::exchange(other.remaining_, 0)) {}

RegularFile& RegularFile::operator=(RegularFile&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(descriptor_, other.descriptor_);
  std::swap(remaining_, other.remaining_);
  return *this;
}

RegularFile::~RegularFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

Result<Done> RegularFile::read(std::span<std::byte> out) {
  while (!out.empty()) {
    const ssize_t got = ::read(descriptor_, out.data(), std::min(out.size(), kMostPerCall));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return failed("read", path_, errno);
    if (got == 0) return io_error(fmt::format("{} ends too early", in_quotes(path_)));
    out = out.subspan(static_cast<std::size_t>(got));
    remaining_ -= std::min(remaining_, static_cast<std::uint64_t>(got));
  }
  return Done{};
}

Result<Done> RegularFile::skip(std::uint64_t count) {
  if (count > remaining_) return io_error(fmt::format("{} ends too early", in_quotes(path_)));
  if (::lseek(descriptor_, static_cast<off_t>(count), SEEK_CUR) < 0) return failed("read", path_, errno);
  remaining_ -= count;
  return Done{};
}

Result<std::vector<std::byte>> read_file(const std::string& path, std::uint64_t most) {
  INFERMETER_TRY(RegularFile file, RegularFile::open(path));
  return read_file(file, most);
}

Result<std::vector<std::byte>> read_file(RegularFile& file, std::uint64_t most) {
  if (file.remaining() > most) {
    return io_error(
        fmt::format("{} has {} bytes, at most {} can be read", in_quotes(file.path()), file.remaining(), most));
  }
  std::vector<std::byte> bytes(static_cast<std::size_t>(file.remaining()));
  INFERMETER_TRY_DONE(file.read(bytes));
  return bytes;
}

}  // namespace infermeter
