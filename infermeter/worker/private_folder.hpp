// PrivateFolder: a temporary folder that is deleted with its owner, whatever is in it.
#pragma once

#include <filesystem>

#include "infermeter/diagnostics/result.hpp"
#include "infermeter/worker/file_descriptor.hpp"

namespace infermeter {

class PrivateFolder {
 public:
  // In $TMPDIR, else /tmp, /var/tmp, /dev/shm: the first in which a folder can be made. The first call of a process
  // also deletes what owners that were killed have left there.
  [[nodiscard]] static Result<PrivateFolder> create();
  PrivateFolder(PrivateFolder&& other) noexcept : path_(std::move(other.path_)), lock_(std::move(other.lock_)) {
    other.path_.clear();
  }
  PrivateFolder& operator=(PrivateFolder&&) = delete;
  ~PrivateFolder();
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  explicit PrivateFolder(std::filesystem::path path);
  std::filesystem::path path_;
  FileDescriptor lock_;  // held as long as the owner lives
};

// Deletes folders of ours in `parent` that nobody holds and that are older than `age_s`.
void delete_abandoned_folders(const std::filesystem::path& parent, double age_s);

}  // namespace infermeter
