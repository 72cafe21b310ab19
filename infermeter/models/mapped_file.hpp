// A file's bytes, mapped read-only. Where another program cuts the file meanwhile they become zeros, instead of SIGBUS.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>

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
  // To be asked when they have been read: an error if the file was cut.
  [[nodiscard]] Result<Done> check_whole() const;

 private:
  MappedFile(std::string name, const char* data, std::size_t size) : name_(std::move(name)), data_(data), size_(size) {}

  std::string name_;
  const char* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace infermeter
