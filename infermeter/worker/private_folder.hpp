// PrivateFolder: a temporary folder that is deleted with its owner, whatever is in it.
#pragma once

#include <filesystem>

#include "infermeter/diagnostics/result.hpp"

namespace infermeter {

class PrivateFolder {
 public:
  // In $TMPDIR, else /tmp, /var/tmp, /dev/shm: the first in which a folder can be made.
  [[nodiscard]] static Result<PrivateFolder> create();
  PrivateFolder(PrivateFolder&& other) noexcept : path_(std::move(other.path_)) { other.path_.clear(); }
  PrivateFolder& operator=(PrivateFolder&&) = delete;
  ~PrivateFolder();
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  explicit PrivateFolder(std::filesystem::path path) : path_(std::move(path)) {}
  std::filesystem::path path_;
};

}  // namespace infermeter
