// PrivateFolder: a temporary folder that is deleted with its owner, whatever is in it.
#pragma once

#include <filesystem>
#include <optional>

#include "infermeter/diagnostics/result.hpp"
#include "infermeter/worker/wall/file_descriptor.hpp"

namespace infermeter {

class PrivateFolder {
 public:
  // In $TMPDIR, else /tmp, /var/tmp, /dev/shm: the first in which a folder can be made. The first call of a process
  // also deletes what owners that were killed have left there.
  [[nodiscard]] static Result<PrivateFolder> create();
  // In `parent`, which is there; deletes what was left in it.
  [[nodiscard]] static Result<PrivateFolder> create_in(const std::filesystem::path& parent);
  PrivateFolder(PrivateFolder&& other) noexcept : path_(std::move(other.path_)), folder_(std::move(other.folder_)) {
    other.path_.clear();
  }
  PrivateFolder& operator=(PrivateFolder&&) = delete;
  ~PrivateFolder();
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  explicit PrivateFolder(std::filesystem::path path);
  [[nodiscard]] static std::optional<PrivateFolder> make(const std::filesystem::path& parent);

  std::filesystem::path path_;
  FileDescriptor folder_;  // locked as long as the owner lives
};

// Deletes the private folders in `parent` whose owner has ended. A name proves nothing: a private folder is one of this
// user's that holds a marker, a file that names the folder and its inode, made while the folder was locked.
void delete_abandoned_folders(const std::filesystem::path& parent);

}  // namespace infermeter
