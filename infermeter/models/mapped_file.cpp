#include "infermeter/models/mapped_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "infermeter/data/quoted.hpp"

namespace infermeter {
namespace {

Error cannot_read(const std::filesystem::path& file, int error) {
  return usage_error(fmt::format("cannot read the model file {}: {}", in_quotes(file.string()), std::strerror(error)));
}

}  // namespace

Result<MappedFile> MappedFile::open(const std::filesystem::path& file) {
  const int descriptor = ::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (descriptor < 0) return cannot_read(file, errno);
  struct stat status{};
  void* data = MAP_FAILED;
  int error = ::fstat(descriptor, &status) == 0 ? 0 : errno;
  const bool is_regular = S_ISREG(status.st_mode);
  const auto size = static_cast<std::size_t>(status.st_size);
  if (error == 0 && is_regular && size > 0) {
    data = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, descriptor, 0);
    if (data == MAP_FAILED) error = errno;
  }
  ::close(descriptor);
  if (error != 0) return cannot_read(file, error);
  if (!is_regular) return usage_error(fmt::format("the model {} is not a regular file", in_quotes(file.string())));
  if (size == 0) return model_error(fmt::format("the model file {} is empty", in_quotes(file.string())));
  return MappedFile(static_cast<const char*>(data), size);
}

MappedFile::MappedFile(MappedFile&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  return *this;
}

MappedFile::~MappedFile() {
  if (data_ != nullptr) ::munmap(const_cast<char*>(data_), size_);
}

}  // namespace infermeter
