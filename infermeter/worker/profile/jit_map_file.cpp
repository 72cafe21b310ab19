#include "infermeter/worker/profile/jit_map_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

namespace infermeter {
namespace {

constexpr std::size_t most_map_bytes = std::size_t{64} << 20U;

FileDescriptor make_new(const std::string& path) {
  return FileDescriptor(open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
}

bool names(const std::string& path, const FileDescriptor& file) {
  struct stat named{}, open{};
  return lstat(path.c_str(), &named) == 0 && fstat(file.get(), &open) == 0 && named.st_dev == open.st_dev &&
         named.st_ino == open.st_ino;
}

}  // namespace

JitMapFile::JitMapFile(pid_t process) : path_(fmt::format("/tmp/perf-{}.map", process)) {
  file_ = make_new(path_);
  if (!file_) path_.clear();
}

JitMapFile::JitMapFile(JitMapFile&& other) noexcept
    : path_(std::exchange(other.path_, {})), file_(std::move(other.file_)) {}

JitMapFile::~JitMapFile() {
  if (!path_.empty() && names(path_, file_)) unlink(path_.c_str());
}

std::string JitMapFile::read() const {
  struct stat status{};
  if (!file_ || fstat(file_.get(), &status) != 0 || status.st_size <= 0) return {};
  std::string text(std::min(static_cast<std::size_t>(status.st_size), most_map_bytes), '\0');
  std::size_t got = 0;
  while (got < text.size()) {
    const ssize_t more = pread(file_.get(), text.data() + got, text.size() - got, static_cast<off_t>(got));
    if (more < 0 && errno == EINTR) continue;
    if (more <= 0) break;
    got += static_cast<std::size_t>(more);
  }
  text.resize(got);
  return text;
}

}  // namespace infermeter
