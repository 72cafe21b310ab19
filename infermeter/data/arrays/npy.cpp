#include "infermeter/data/arrays/npy.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <memory>

#include "infermeter/data/arrays/npy_header.hpp"
#include "infermeter/data/arrays/npy_text.hpp"
#include "infermeter/data/new_file.hpp"
#include "infermeter/text/quoted.hpp"

namespace infermeter {
namespace {

void reverse_groups(std::span<std::byte> bytes, std::size_t group) {
  if (group == 0) return;
  for (std::size_t i = 0; i + group <= bytes.size(); i += group) {
    std::reverse(bytes.begin() + static_cast<std::ptrdiff_t>(i),
                 bytes.begin() + static_cast<std::ptrdiff_t>(i + group));
  }
}

// The rows [first, first + count) of a header's shape; fewer where it has not so many.
std::int64_t rows_left(std::int64_t rows, std::int64_t first, std::int64_t count) {
  const std::int64_t left = rows - std::clamp<std::int64_t>(first, 0, rows);
  return count > 0 ? std::min(left, count) : left;
}

// Of an array that was read whole: a view of the rows that were asked for.
void cut_rows(Tensor& tensor, const NpyLimits& limits) {
  if (tensor.shape.empty() || tensor.shape[0] == 0) return;
  const auto all = static_cast<std::size_t>(tensor.shape[0]);
  const auto first = static_cast<std::size_t>(std::clamp<std::int64_t>(limits.first_row, 0, tensor.shape[0]));
  tensor.shape[0] = rows_left(tensor.shape[0], limits.first_row, limits.rows);
  const auto count = static_cast<std::size_t>(tensor.shape[0]);
  if (tensor.dtype == DType::string) {
    const std::size_t row = tensor.strings.size() / all;
    const auto begin = tensor.strings.begin() + static_cast<std::ptrdiff_t>(row * first);
    tensor.strings = {begin, begin + static_cast<std::ptrdiff_t>(row * count)};
    return;
  }
  const std::size_t row = tensor.data.size() / all;
  const auto owner = std::make_shared<const Bytes>(tensor.data);
  tensor.data = Bytes::view(tensor.data.span().subspan(row * first, row * count), owner);
}

// Fortran order (the first index runs fastest) → row-major.
void to_row_major(std::span<const std::byte> source, std::span<const std::int64_t> shape, std::size_t item,
                  std::byte* out) {
  std::vector<std::size_t> stride(shape.size());
  std::size_t step = 1;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    stride[d] = step;
    step *= static_cast<std::size_t>(shape[d]);
  }
  std::vector<std::int64_t> index(shape.size(), 0);
  std::size_t from = 0;
  for (std::size_t to = 0; to < step; ++to) {
    std::memcpy(out + to * item, source.data() + from * item, item);
    for (std::size_t d = shape.size(); d-- > 0;) {
      from += stride[d];
      if (++index[d] < shape[d]) break;
      from -= stride[d] * static_cast<std::size_t>(shape[d]);
      index[d] = 0;
    }
  }
}

Result<Bytes> read_bytes(ByteSource& source, const NpyHeader& header, std::uint64_t size) {
  std::byte* writable = nullptr;
  Bytes bytes = Bytes::allocate(static_cast<std::size_t>(size), &writable);
  const std::span<std::byte> all(writable, static_cast<std::size_t>(size));
  INFERMETER_TRY_DONE(source.read(all));
  reverse_groups(all, header.swap_bytes);
  return bytes;
}

Result<std::vector<std::string>> strings_of(const Bytes& bytes, const NpyHeader& header, std::size_t count,
                                            const std::string& file) {
  std::vector<std::string> out;
  out.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    const auto element = bytes.span().subspan(i * header.item_bytes, header.item_bytes);
    if (header.text == NpyHeader::Text::utf32) {
      INFERMETER_TRY(std::string text, utf8_from_utf32(element, file));
      out.push_back(std::move(text));
    } else {
      std::string text(reinterpret_cast<const char*>(element.data()), element.size());
      text.resize(text.find_last_not_of('\0') + 1);
      out.push_back(std::move(text));
    }
  }
  return out;
}

// The size in the file of `count` elements; an error where the file does not have them or they are too many.
Result<std::uint64_t> size_of(const NpyHeader& header, std::size_t count, const std::string& file, ByteSource& source,
                              std::uint64_t most) {
  std::uint64_t size = 0;
  // A string of width 0 takes no bytes in the file, but some in memory.
  const std::uint64_t in_memory =
      header.dtype == DType::string ? sizeof(std::string) + header.item_bytes : header.item_bytes;
  std::uint64_t needed = 0;
  if (__builtin_mul_overflow(count, in_memory, &needed) || needed > most) {
    return io_error(fmt::format("{} holds {} {}, more than the {} bytes that may be read; use --data-limit",
                                in_quotes(file), to_string(header.dtype), to_string(header.shape), most));
  }
  size = count * header.item_bytes;
  if (size > source.remaining()) {
    return io_error(fmt::format("{} is cut short: {} {} needs {} bytes and {} are left", in_quotes(file),
                                to_string(header.dtype), to_string(header.shape), size, source.remaining()));
  }
  return size;
}

Result<Done> skip_rows(ByteSource& source, const NpyHeader& header, std::int64_t rows, const std::string& file) {
  Shape before = header.shape;
  before[0] = rows;
  const auto count = element_count(before);
  std::uint64_t bytes = 0;
  if (!count || __builtin_mul_overflow(*count, std::uint64_t{header.item_bytes}, &bytes) ||
      bytes > source.remaining()) {
    return io_error(fmt::format("{} is cut short: its rows before the {}th are not all there", in_quotes(file), rows));
  }
  return source.skip(bytes);
}

std::string npy_type(const Tensor& tensor, std::size_t text_width) {
  switch (tensor.dtype) {
    case DType::boolean: return "|b1";
    case DType::int8: return "|i1";
    case DType::uint8: return "|u1";
    case DType::int16: return "<i2";
    case DType::uint16: return "<u2";
    case DType::int32: return "<i4";
    case DType::uint32: return "<u4";
    case DType::int64: return "<i8";
    case DType::uint64: return "<u8";
    case DType::float16: return "<f2";
    case DType::bfloat16: return "<V2";
    case DType::float32: return "<f4";
    case DType::float64: return "<f8";
    case DType::complex64: return "<c8";
    case DType::complex128: return "<c16";
    case DType::string: return fmt::format("<U{}", text_width);
    default: return "";
  }
}

// Version 1.0; magic, version, length and dict together are a multiple of 64 bytes, so that the numbers are aligned.
std::string header_text(const std::string& type, const Shape& shape) {
  std::string dimensions;
  for (const std::int64_t dimension : shape) dimensions += fmt::format("{}, ", dimension);
  if (shape.size() > 1) dimensions.resize(dimensions.size() - 2);
  if (shape.size() == 1) dimensions.pop_back();
  std::string dict = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}), }}", type, dimensions);
  dict.append(63 - (10 + dict.size()) % 64, ' ');
  dict += '\n';
  std::string out = "\x93NUMPY";
  out += '\x01';
  out += '\0';
  out += static_cast<char>(static_cast<unsigned char>(dict.size() & 0xFF));
  out += static_cast<char>(static_cast<unsigned char>(dict.size() >> 8));
  return out + dict;
}

}  // namespace

Result<Tensor> read_npy(ByteSource& source, const std::string& file, const NpyLimits& limits) {
  INFERMETER_TRY(NpyHeader header, read_npy_header(source, file));
  // Rows lie behind each other only in C order; an array in Fortran order is read whole.
  const bool in_rows = !header.shape.empty() && (!header.fortran_order || header.shape.size() == 1);
  std::int64_t skipped = 0;
  if (in_rows) {
    skipped = std::clamp<std::int64_t>(limits.first_row, 0, header.shape[0]);
    header.shape[0] = rows_left(header.shape[0], skipped, limits.rows);
  }
  const auto count = element_count(header.shape);
  if (!count) return io_error(fmt::format("{} has the impossible shape {}", in_quotes(file), to_string(header.shape)));
  if (skipped > 0) INFERMETER_TRY_DONE(skip_rows(source, header, skipped, file));
  INFERMETER_TRY(const std::uint64_t size, size_of(header, *count, file, source, limits.bytes));
  INFERMETER_TRY(Bytes bytes, read_bytes(source, header, size));
  if (header.fortran_order && header.shape.size() > 1) {
    std::byte* writable = nullptr;
    Bytes ordered = Bytes::allocate(bytes.size(), &writable);
    to_row_major(bytes.span(), header.shape, header.item_bytes, writable);
    bytes = ordered;
  }
  Tensor tensor{header.dtype, header.shape, {}, {}};
  if (header.dtype != DType::string) {
    tensor.data = bytes;
    if (!in_rows) cut_rows(tensor, limits);
    return tensor;
  }
  INFERMETER_TRY(tensor.strings, strings_of(bytes, header, *count, file));
  if (!in_rows) cut_rows(tensor, limits);
  return tensor;
}

Result<NpyHeader> npy_header(const std::string& path) {
  INFERMETER_TRY(RegularFile file, RegularFile::open(path));
  return read_npy_header(file, path);
}

Result<Tensor> read_npy(const std::string& path, const NpyLimits& limits) {
  INFERMETER_TRY(RegularFile file, RegularFile::open(path));
  NpyLimits own = limits;
  own.bytes = std::min(limits.bytes, most_memory_for(file.remaining()));
  return read_npy(file, path, own);
}

std::uint64_t most_memory_for(std::uint64_t file_bytes) {
  // A string of one byte takes 33 in memory, one of none 32; a file that says more than this of itself is no array that
  // anybody needs.
  constexpr std::uint64_t small = std::uint64_t{64} << 20, ratio = 64;
  return file_bytes > std::numeric_limits<std::uint64_t>::max() / ratio ? file_bytes
                                                                        : std::max(small, file_bytes * ratio);
}

Result<std::string> npy_bytes(const Tensor& tensor, const std::string& file) {
  std::u32string text;
  std::size_t width = 0;
  if (tensor.dtype == DType::string) {
    INFERMETER_TRY(text, utf32_from_utf8(tensor.strings, width));
  }
  const std::string type = npy_type(tensor, width);
  if (type.empty()) {
    return usage_error(
        fmt::format("{} cannot be written: NumPy has no type {}", in_quotes(file), to_string(tensor.dtype)));
  }
  std::string bytes = header_text(type, tensor.shape);
  bytes.reserve(bytes.size() + tensor.data.size() + text.size() * sizeof(char32_t));
  bytes.append(reinterpret_cast<const char*>(tensor.data.data()), tensor.data.size());
  bytes.append(reinterpret_cast<const char*>(text.data()), text.size() * sizeof(char32_t));
  return bytes;
}

Result<Done> write_npy(const std::string& path, const Tensor& tensor) {
  INFERMETER_TRY(const std::string bytes, npy_bytes(tensor, path));
  return write_new_file(path, std::as_bytes(std::span(bytes)), true);
}

}  // namespace infermeter
