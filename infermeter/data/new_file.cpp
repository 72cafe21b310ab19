#include "infermeter/data/new_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <system_error>
#include <utility>

#include "infermeter/text/quoted.hpp"

namespace infermeter {
namespace {

namespace fs = std::filesystem;

constexpr mode_t readable_by_all = 0644;
constexpr std::size_t longest_stem = 100;                    // names of files have at most 255 bytes
constexpr std::size_t most_per_call = std::size_t{1} << 30;  // the kernel moves about 2 GiB at most

std::string part_prefix(const fs::path& file) {
  return "." + file.filename().string().substr(0, longest_stem) + ".part-";
}

Error writing_failed(const fs::path& file, int error) {
  return io_error(fmt::format("cannot write {}: {}", in_quotes(file.string()), std::strerror(error)));
}

// The name itself is on disk only when its folder is.
int sync_folder(const fs::path& folder) {
  const int descriptor = ::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return errno;
  const int error = ::fsync(descriptor) == 0 || errno == EINVAL ? 0 : errno;
  ::close(descriptor);
  return error;
}

}  // namespace

Result<NewFile> NewFile::beside(const fs::path& file) {
  std::string part = (file.parent_path() / (part_prefix(file) + "XXXXXX")).string();
  const int descriptor = ::mkostemp(part.data(), O_CLOEXEC);
  if (descriptor < 0) return writing_failed(file, errno);
  return NewFile(file, std::move(part), descriptor);
}

NewFile::NewFile(NewFile&& other) noexcept
    : file_(std::move(other.file_)),
      part_(std::exchange(other.part_, {})),
      descriptor_(std::exchange(other.descriptor_, -1)) {}

NewFile::~NewFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
  if (!part_.empty()) ::unlink(part_.c_str());
}

Error NewFile::failed(int error) const { return writing_failed(file_, error); }

Result<Done> NewFile::write(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor_, bytes.data(), std::min(bytes.size(), most_per_call));
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return failed(errno);
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
  return Done{};
}

Result<Done> NewFile::finish() {
  int error = ::fchmod(descriptor_, readable_by_all) != 0 || ::fsync(descriptor_) != 0 ? errno : 0;
  if (::close(std::exchange(descriptor_, -1)) != 0 && error == 0) error = errno;
  if (error != 0) return failed(error);
  return Done{};
}

// Where nothing may be written over, link refuses and rename would not.
Result<Done> NewFile::take_name(bool overwrite) {
  if (overwrite) {
    if (std::rename(part_.c_str(), file_.c_str()) != 0) return failed(errno);
    part_.clear();
  } else if (::link(part_.c_str(), file_.c_str()) != 0) {
    return failed(errno);
  }
  if (const int error = sync_folder(file_.parent_path()); error != 0) return failed(error);
  return Done{};
}

Result<Done> write_new_file(const fs::path& file, std::span<const std::byte> bytes, bool overwrite) {
  INFERMETER_TRY(NewFile made, NewFile::beside(file));
  INFERMETER_TRY_DONE(made.write(bytes));
  INFERMETER_TRY_DONE(made.finish());
  return made.take_name(overwrite);
}

void remove_leftovers(const fs::path& file) {
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(file.parent_path(), error)) {
    const bool is_leftover = entry.path().filename().string().starts_with(part_prefix(file));
    if (is_leftover) fs::remove(entry.path(), error);
  }
}

}  // namespace infermeter
