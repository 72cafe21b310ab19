#include "infermeter/data/write_npz.hpp"

#include <fmt/format.h>
#include <zip.h>

#include <algorithm>
#include <memory>

#include "infermeter/data/quoted.hpp"

namespace infermeter {
namespace {

struct DiscardArchive {
  void operator()(zip_t* archive) const { zip_discard(archive); }
};
using Archive = std::unique_ptr<zip_t, DiscardArchive>;

std::string_view numpy_type(DType dtype) {
  switch (dtype) {
    case DType::boolean: return "|b1";
    case DType::int8: return "|i1";
    case DType::int16: return "<i2";
    case DType::int32: return "<i4";
    case DType::int64: return "<i8";
    case DType::uint8: return "|u1";
    case DType::uint16: return "<u2";
    case DType::uint32: return "<u4";
    case DType::uint64: return "<u8";
    case DType::float16: return "<f2";
    case DType::float32: return "<f4";
    case DType::float64: return "<f8";
    case DType::complex64: return "<c8";
    case DType::complex128: return "<c16";
    default: return "";
  }
}

// Version 1.0 of the format (numpy.lib.format): the numbers begin at a multiple of 64 bytes.
std::string npy_header(std::string_view type, const Shape& shape) {
  std::string dimensions;
  for (const std::int64_t size : shape) dimensions += fmt::format("{},", size);
  std::string dict = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}), }}", type, dimensions);
  constexpr std::size_t head = 10, alignment = 64;
  dict.append(alignment - 1 - (head + dict.size()) % alignment, ' ');
  dict += '\n';
  std::string text("\x93NUMPY\x01\x00", 8);
  text += static_cast<char>(dict.size() & 0xff);
  text += static_cast<char>(dict.size() >> 8);
  return text + dict;
}

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
    const std::string_view type = numpy_type(tensor.dtype);
    if (type.empty()) {
      return usage_error(fmt::format("values of {} cannot be written for NumPy", to_string(tensor.dtype)));
    }
    std::string& file = files.emplace_back(npy_header(type, tensor.shape));
    file.append(reinterpret_cast<const char*>(tensor.data.data()), tensor.data.size());
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
