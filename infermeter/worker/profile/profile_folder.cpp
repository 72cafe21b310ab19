#include "infermeter/worker/profile/profile_folder.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <system_error>

#include "infermeter/worker/wall/file_descriptor.hpp"

namespace infermeter {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t most_profile_bytes = std::size_t{512} << 20U;

constexpr std::size_t most_profile_files = 4096;

// The worker may be hostile: no link is followed, and nothing that is no regular file is opened for reading.
std::string read_regular(int folder, const char* name, std::size_t limit) {
  const FileDescriptor descriptor(openat(folder, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK));
  struct stat status{};
  if (!descriptor || fstat(descriptor.get(), &status) != 0 || !S_ISREG(status.st_mode)) return {};
  if (static_cast<std::uint64_t>(status.st_size) > limit) return {};
  std::string bytes(static_cast<std::size_t>(status.st_size), '\0');
  std::size_t got = 0;
  while (got < bytes.size()) {
    const ssize_t more = read(descriptor.get(), bytes.data() + got, bytes.size() - got);
    if (more < 0 && errno == EINTR) continue;
    if (more <= 0) break;
    got += static_cast<std::size_t>(more);
  }
  bytes.resize(got);
  return bytes;
}

}  // namespace

Result<std::string> make_profile_folder(const fs::path& worker_folder) {
  const fs::path folder = worker_folder / "profile";
  std::error_code error;
  if (fs::create_directory(folder, error)) return folder.string();
  return io_error(fmt::format("a folder for the profile cannot be made: {}", error.message()));
}

std::vector<ProfileFile> read_profile_folder(const fs::path& folder) {
  std::vector<ProfileFile> files;
  FileDescriptor opened(open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  const int descriptor = opened.get();
  const std::unique_ptr<DIR, int (*)(DIR*)> stream(opened ? fdopendir(descriptor) : nullptr, closedir);
  if (stream == nullptr) return files;
  static_cast<void>(opened.release());
  std::size_t left = most_profile_bytes;
  for (std::size_t i = 0; i < most_profile_files; ++i) {
    const dirent* const entry = readdir(stream.get());
    if (entry == nullptr) break;
    std::string bytes = read_regular(descriptor, entry->d_name, left);
    if (bytes.empty()) continue;
    left -= bytes.size();
    files.push_back({.name = entry->d_name, .bytes = std::move(bytes)});
  }
  std::ranges::sort(files, {}, &ProfileFile::name);
  return files;
}

}  // namespace infermeter
