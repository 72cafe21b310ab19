#include "infermeter/data/arrays/write_npz.hpp"

#include <fmt/format.h>
#include <zip.h>

#include <memory>
#include <utility>

#include "infermeter/data/arrays/npy.hpp"
#include "infermeter/data/arrays/npz_archive.hpp"
#include "infermeter/text/quoted.hpp"

namespace infermeter {
namespace {

Error cannot_write(const std::string& path, const char* why) {
  return io_error(fmt::format("cannot write {}: {}", in_quotes(path), why));
}

}  // namespace

Result<Done> write_npz(const std::string& path, const std::vector<std::pair<std::string, Tensor>>& arrays) {
  int code = 0;
  Archive archive(zip_open(path.c_str(), ZIP_CREATE | ZIP_TRUNCATE, &code));
  if (archive == nullptr) return cannot_write(path, "is the disk full, or the folder not there?");
  std::vector<std::string> files;  // until the archive is closed
  files.reserve(arrays.size());
  for (const auto& [name, tensor] : arrays) {
    INFERMETER_TRY(std::string bytes, npy_bytes(tensor, name));
    const std::string& file = files.emplace_back(std::move(bytes));
    zip_source_t* source = zip_source_buffer(archive.get(), file.data(), file.size(), 0);
    const zip_int64_t index = zip_file_add(archive.get(), (name + ".npy").c_str(), source, ZIP_FL_ENC_UTF_8);
    if (index < 0) {
      zip_source_free(source);
      return cannot_write(path, zip_strerror(archive.get()));
    }
    // As numpy.savez does; and the time of day is nobody's business.
    zip_set_file_compression(archive.get(), static_cast<zip_uint64_t>(index), ZIP_CM_STORE, 0);
    zip_file_set_dostime(archive.get(), static_cast<zip_uint64_t>(index), 0, 0x21, 0);
  }
  if (zip_close(archive.get()) != 0) return cannot_write(path, zip_strerror(archive.get()));
  static_cast<void>(archive.release());
  return Done{};
}

}  // namespace infermeter
