// A file's bytes, mapped read-only.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string_view>

#include "infermeter/diagnostics/result.hpp"

namespace infermeter {

class MappedFile {
 public:
  // Refuses, naming the file, what is missing, not a regular file (a FIFO is not waited for), or empty.
  [[nodiscard]] static Result<MappedFile> open(const std::filesystem::path& file);

  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;
  ~MappedFile();

  [[nodiscard]] std::string_view bytes() const { return {data_, size_}; }

 private:
  MappedFile(const char* data, std::size_t size) : data_(data), size_(size) {}

  const char* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace infermeter
