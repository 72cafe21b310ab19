// The one way to write a file: beside its name, which it takes when it is whole and on the disk. What was there stays
// whole, whatever happens; what is not finished is removed.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>

#include "infermeter/diagnostics/result.hpp"

namespace infermeter {

// Errors are "cannot write 'FILE': why".
class NewFile {
 public:
  [[nodiscard]] static Result<NewFile> beside(const std::filesystem::path& file);
  NewFile(NewFile&& other) noexcept;
  NewFile& operator=(NewFile&&) = delete;
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;
  ~NewFile();

  [[nodiscard]] int descriptor() const { return descriptor_; }
  [[nodiscard]] const std::string& part() const { return part_; }  // where it is written

  [[nodiscard]] Result<Done> write(std::span<const std::byte> bytes);
  // Closes it: on the disk, and readable by all.
  [[nodiscard]] Result<Done> finish();
  // Of a file that is finished. Not `overwrite`: a file that came up meanwhile is kept, which is an error.
  [[nodiscard]] Result<Done> take_name(bool overwrite);

  [[nodiscard]] Error failed(int error) const;

 private:
  NewFile(std::filesystem::path file, std::string part, int descriptor)
      : file_(std::move(file)), part_(std::move(part)), descriptor_(descriptor) {}

  std::filesystem::path file_;
  std::string part_;  // empty: it has its name
  int descriptor_ = -1;
};

// All of it, at once.
[[nodiscard]] Result<Done> write_new_file(const std::filesystem::path& file, std::span<const std::byte> bytes,
                                          bool overwrite);

// Removes what writers of `file` left that were killed; only where nobody else is writing it.
void remove_leftovers(const std::filesystem::path& file);

}  // namespace infermeter
