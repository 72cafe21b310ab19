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

constexpr std::size_t most_profile_files = 4096;

// The worker may be hostile: no link is followed, and nothing that is no regular file is opened for reading.
ProfileFile read_regular(int folder, const char* name, std::size_t limit) {
  ProfileFile file{.name = name, .bytes = {}};
  const FileDescriptor descriptor(openat(folder, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK));
  struct stat status{};
  if (!descriptor || fstat(descriptor.get(), &status) != 0 || !S_ISREG(status.st_mode)) return file;
  file.too_large = static_cast<std::uint64_t>(status.st_size) > limit;
  if (file.too_large) return file;
  std::string& bytes = file.bytes;
  bytes.resize(static_cast<std::size_t>(status.st_size));
  std::size_t got = 0;
  while (got < bytes.size()) {
    const ssize_t more = read(descriptor.get(), bytes.data() + got, bytes.size() - got);
    if (more < 0 && errno == EINTR) continue;
    if (more <= 0) break;
    got += static_cast<std::size_t>(more);
  }
  bytes.resize(got);
  return file;
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
  std::size_t left = kMostFolderBytes;
  for (std::size_t i = 0; i < most_profile_files; ++i) {
    const dirent* const entry = readdir(stream.get());
    if (entry == nullptr) break;
    ProfileFile file = read_regular(descriptor, entry->d_name, left);
    if (file.bytes.empty() && !file.too_large) continue;
    left -= file.bytes.size();
    files.push_back(std::move(file));
  }
  std::ranges::sort(files, {}, &ProfileFile::name);
  return files;
}

}  // namespace infermeter
