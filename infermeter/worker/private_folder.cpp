#include "infermeter/worker/private_folder.hpp"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <mutex>
#include <string>
#include <system_error>
#include <vector>

#include "infermeter/trial/clock.hpp"

namespace infermeter {
namespace {

constexpr std::string_view prefix = "infermeter-";
// Between a folder's making and its locking it looks abandoned.
constexpr double least_age_s = 60;

FileDescriptor open_folder(const std::filesystem::path& path) {
  return FileDescriptor(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
}

bool is_abandoned(const FileDescriptor& folder, double age_s) {
  struct stat status{};
  return folder && fstat(folder.get(), &status) == 0 && status.st_uid == geteuid() &&
         wall_clock_s() - static_cast<double>(status.st_mtime) >= age_s && flock(folder.get(), LOCK_EX | LOCK_NB) == 0;
}

std::vector<std::string> temporary_folders() {
  std::vector<std::string> parents = {"/tmp", "/var/tmp", "/dev/shm"};
  const char* const asked = getenv("TMPDIR");
  if (asked != nullptr && asked[0] == '/') parents.insert(parents.begin(), asked);
  return parents;
}

}  // namespace

PrivateFolder::PrivateFolder(std::filesystem::path path) : path_(std::move(path)), lock_(open_folder(path_)) {
  if (lock_) flock(lock_.get(), LOCK_EX | LOCK_NB);
}

Result<PrivateFolder> PrivateFolder::create() {
  static std::once_flag cleaned;
  for (const std::string& parent : temporary_folders()) {
    std::string name = parent + '/' + std::string(prefix) + "XXXXXX";
    if (mkdtemp(name.data()) == nullptr) continue;
    std::call_once(cleaned, [&] { delete_abandoned_folders(parent, least_age_s); });
    return PrivateFolder(name);
  }
  return io_error(
      "no temporary folder can be made in $TMPDIR, /tmp, /var/tmp or /dev/shm; set TMPDIR to a folder with room");
}

PrivateFolder::~PrivateFolder() {
  std::error_code ignored;
  if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
}

void delete_abandoned_folders(const std::filesystem::path& parent, double age_s) {
  std::error_code error;
  std::vector<std::filesystem::path> candidates;
  for (std::filesystem::directory_iterator entry(parent, error), end; !error && entry != end; entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    if (name.size() == prefix.size() + 6 && name.starts_with(prefix)) candidates.push_back(entry->path());
  }
  for (const auto& path : candidates) {
    const FileDescriptor folder = open_folder(path);
    if (is_abandoned(folder, age_s)) std::filesystem::remove_all(path, error);
  }
}

}  // namespace infermeter
