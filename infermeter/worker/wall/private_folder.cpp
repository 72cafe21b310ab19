#include "infermeter/worker/wall/private_folder.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <cerrno>
#include <memory>
#include <mutex>
#include <string>
#include <system_error>
#include <vector>

namespace infermeter {
namespace {

constexpr std::string_view prefix = "infermeter-";
constexpr const char* marker_name = ".infermeter-private-folder";

FileDescriptor open_folder(int parent, const char* name) {
  return FileDescriptor(openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
}

FileDescriptor open_folder(const std::filesystem::path& path) { return open_folder(AT_FDCWD, path.c_str()); }

std::string marker_of(const std::string& name, const struct stat& folder) {
  return fmt::format("infermeter private folder: deleted with its owner\nname {}\ninode {}\nuser {}\n", name,
                     folder.st_ino, folder.st_uid);
}

void write_marker(const FileDescriptor& folder, const std::string& name) {
  struct stat status{};
  if (fstat(folder.get(), &status) != 0) return;
  const std::string text = marker_of(name, status);
  const FileDescriptor file(
      openat(folder.get(), marker_name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, S_IRUSR | S_IWUSR));
  if (file) static_cast<void>(!write(file.get(), text.data(), text.size()));
}

bool has_marker(const FileDescriptor& folder, const std::string& name) {
  struct stat status{}, of_file{};
  if (!folder || fstat(folder.get(), &status) != 0 || status.st_uid != geteuid()) return false;
  const FileDescriptor file(openat(folder.get(), marker_name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (!file || fstat(file.get(), &of_file) != 0 || !S_ISREG(of_file.st_mode) || of_file.st_uid != status.st_uid)
    return false;
  const std::string expected = marker_of(name, status);
  std::string text(expected.size() + 1, '\0');
  const ssize_t got = read(file.get(), text.data(), text.size());
  return got == static_cast<ssize_t>(expected.size()) && text.starts_with(expected);
}

// Deletes what is in an open folder, by descriptors: no path is walked, no link followed, no other file system entered.
class Emptying {
 public:
  explicit Emptying(int top) : top_(top) {
    struct stat status{};
    if (fstat(top, &status) == 0) device_ = status.st_dev;
  }

  void operator()() {
    do {
      moved_ = 0;
      empty(top_, 0);
    } while (moved_ > 0);
  }

 private:
  // A tree deeper than there are descriptors is cut: its lower part is moved to the top.
  static constexpr int deepest = 32;

  void empty(int folder, int depth) {
    for (const std::string& name : names_in(folder)) {
      if (folder == top_ && name == marker_name && is_file(folder, name)) continue;
      if (unlinkat(folder, name.c_str(), 0) == 0) continue;
      struct stat status{};
      if (fstatat(folder, name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) continue;
      if (!S_ISDIR(status.st_mode) || status.st_dev != device_) continue;
      if (depth == deepest) {
        constexpr int most_tries = 1000;  // names that are there
        for (int i = 0; i < most_tries; ++i)
          if (renameat(folder, name.c_str(), top_, fmt::format(".{}", serial_++).c_str()) == 0) {
            ++moved_;
            break;
          }
        continue;
      }
      [[maybe_unused]] const int changed = fchmodat(folder, name.c_str(), S_IRWXU, AT_SYMLINK_NOFOLLOW);
      if (const FileDescriptor inner = open_folder(folder, name.c_str())) empty(inner.get(), depth + 1);
      unlinkat(folder, name.c_str(), AT_REMOVEDIR);
    }
  }

  // Who writes there may have put something else in its place.
  static bool is_file(int folder, const std::string& name) {
    struct stat status{};
    return fstatat(folder, name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(status.st_mode);
  }

  static std::vector<std::string> names_in(int folder) {
    std::vector<std::string> names;
    FileDescriptor reading = open_folder(folder, ".");
    if (!reading) return names;
    const std::unique_ptr<DIR, int (*)(DIR*)> stream(fdopendir(reading.get()), closedir);
    if (stream == nullptr) return names;
    static_cast<void>(reading.release());
    while (const dirent* const entry = readdir(stream.get())) {
      const std::string_view name = entry->d_name;
      if (name != "." && name != "..") names.emplace_back(name);
    }
    return names;
  }

  int top_;
  dev_t device_ = 0;
  int moved_ = 0;
  std::size_t serial_ = 0;
};

bool is_same_file(const struct stat& a, const struct stat& b) { return a.st_dev == b.st_dev && a.st_ino == b.st_ino; }

// The marker goes last: what an interrupted deletion leaves is still known as ours.
void delete_folder(const std::filesystem::path& path, const FileDescriptor& folder) {
  Emptying{folder.get()}();
  struct stat open{}, named{};
  if (fstat(folder.get(), &open) != 0 || lstat(path.c_str(), &named) != 0 || !is_same_file(open, named)) return;
  unlinkat(folder.get(), marker_name, 0);
  rmdir(path.c_str());
}

std::vector<std::string> temporary_folders() {
  std::vector<std::string> parents = {"/tmp", "/var/tmp", "/dev/shm"};
  const char* const asked = getenv("TMPDIR");
  if (asked != nullptr && asked[0] == '/') parents.insert(parents.begin(), asked);
  return parents;
}

}  // namespace

// Marked only when locked: what has a marker and no lock has no owner.
PrivateFolder::PrivateFolder(std::filesystem::path path) : path_(std::move(path)), folder_(open_folder(path_)) {
  if (folder_ && flock(folder_.get(), LOCK_EX | LOCK_NB) == 0) write_marker(folder_, path_.filename().string());
}

std::optional<PrivateFolder> PrivateFolder::make(const std::filesystem::path& parent) {
  std::string name = (parent / fmt::format("{}XXXXXX", prefix)).string();
  if (mkdtemp(name.data()) == nullptr) return std::nullopt;
  PrivateFolder made(name);
  if (made.folder_) return made;
  const int error = errno;  // no descriptor was left
  rmdir(name.c_str());
  errno = error;
  return std::nullopt;
}

Result<PrivateFolder> PrivateFolder::create() {
  static std::once_flag cleaned;
  for (const std::string& parent : temporary_folders()) {
    std::optional<PrivateFolder> made = make(parent);
    if (!made) continue;
    std::call_once(cleaned, [&] { delete_abandoned_folders(parent); });
    return std::move(*made);
  }
  return io_error(fmt::format(
      "no temporary folder can be made in $TMPDIR, /tmp, /var/tmp or /dev/shm ({}); set TMPDIR to a folder with room",
      std::system_category().message(errno)));
}

Result<PrivateFolder> PrivateFolder::create_in(const std::filesystem::path& parent) {
  std::optional<PrivateFolder> made = make(parent);
  if (!made) return io_error(std::system_category().message(errno));
  delete_abandoned_folders(parent);
  return std::move(*made);
}

PrivateFolder::~PrivateFolder() {
  if (!path_.empty() && folder_) delete_folder(path_, folder_);
}

void delete_abandoned_folders(const std::filesystem::path& parent) {
  std::error_code error;
  std::vector<std::filesystem::path> candidates;
  for (std::filesystem::directory_iterator entry(parent, error), end; !error && entry != end; entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    if (name.size() == prefix.size() + 6 && name.starts_with(prefix)) candidates.push_back(entry->path());
  }
  for (const auto& path : candidates) {
    const FileDescriptor folder = open_folder(path);
    if (has_marker(folder, path.filename().string()) && flock(folder.get(), LOCK_EX | LOCK_NB) == 0)
      delete_folder(path, folder);
  }
}

}  // namespace infermeter
