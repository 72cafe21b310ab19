#include "infermeter/data/images/image.hpp"

#include <fmt/format.h>
#include <spng.h>
#include <turbojpeg.h>
#include <zlib.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <string_view>

#include "infermeter/data/regular_file.hpp"
#include "infermeter/text/quoted.hpp"

namespace infermeter {
namespace {

constexpr std::uint64_t kLargestFile = std::uint64_t{1} << 30;

// No honest encoder packs more: deflate reaches 1032 bytes per byte; a JPEG block of 64 pixels takes at least about two
// bits. A few bytes that declare a huge picture are refused before memory is taken for it.
constexpr std::uint64_t kMostPngBytesPerByte = 1040;
constexpr std::uint64_t kMostJpegPixelsPerByte = 1024;
constexpr std::uint64_t kSmallImage = 1 << 20;

const unsigned char* bytes_of_file(std::span<const std::byte> file) {
  return reinterpret_cast<const unsigned char*>(file.data());
}

Result<Image> blank(std::uint64_t width, std::uint64_t height) {
  constexpr std::uint64_t kLongestSide = 1'000'000;
  const bool fits = width > 0 && height > 0 && std::max(width, height) <= kLongestSide && width <= kMostPixels / height;
  if (!fits) {
    return io_error(fmt::format("{} x {} pixels are too many (at most 2^28, and 1,000,000 a side)", width, height));
  }
  return Image{static_cast<std::size_t>(width), static_cast<std::size_t>(height), {}};
}

struct DestroyJpeg {
  void operator()(void* handle) const { tjDestroy(handle); }
};
using JpegHandle = std::unique_ptr<void, DestroyJpeg>;

// A progressive JPEG is gone through once per scan, with all of its coefficients in memory. Encoders write about ten.
constexpr std::uint64_t kMostScans = 100;
constexpr std::uint64_t kMostProgressivePixels = std::uint64_t{1} << 26;
constexpr std::uint64_t kMostPixelsOfScans = std::uint64_t{1} << 31;  // some seconds

struct Scans {
  std::uint64_t count = 0;
  bool is_progressive = false;
};

// Markers lie between the scans' data, in which a byte 0xFF is followed by 0 or by a restart's number.
Scans scans_of(std::span<const std::byte> file) {
  Scans scans;
  for (std::size_t i = 0; i + 1 < file.size(); ++i) {
    if (file[i] != std::byte{0xFF}) continue;
    const auto marker = std::to_integer<unsigned>(file[i + 1]);
    scans.is_progressive |= marker == 0xC2;
    scans.count += marker == 0xDA ? 1 : 0;
    const bool has_length = marker >= 0xC0 && marker != 0xFF && (marker < 0xD0 || marker > 0xD9);
    if (has_length && i + 3 < file.size())
      i += 1 + (std::to_integer<std::size_t>(file[i + 2]) << 8U | std::to_integer<std::size_t>(file[i + 3]));
  }
  return scans;
}

Result<Done> check_scans(std::span<const std::byte> file, std::uint64_t pixels) {
  const Scans scans = scans_of(file);
  const bool fits = scans.count <= kMostScans && (!scans.is_progressive || pixels <= kMostProgressivePixels) &&
                    scans.count * pixels <= kMostPixelsOfScans;
  if (fits || (!scans.is_progressive && scans.count <= 4)) return Done{};
  return io_error(
      fmt::format("{} scans of {} pixels take too long to decode: save it as a baseline JPEG", scans.count, pixels));
}

// What real photographs contain and every viewer forgives.
bool forgivable(std::string_view warning) { return warning.find("extraneous bytes") != std::string_view::npos; }

Result<Done> decompress(tjhandle handle, std::span<const std::byte> file, Image& image) {
  constexpr int kFlags = TJFLAG_ACCURATEDCT | TJFLAG_LIMITSCANS;
  const auto run = [&](int flags) {
    return tjDecompress2(handle, bytes_of_file(file), static_cast<unsigned long>(file.size()), image.pixels.data(),
                         static_cast<int>(image.width), 0, static_cast<int>(image.height), TJPF_RGB, flags);
  };
  if (run(kFlags | TJFLAG_STOPONWARNING) == 0) return Done{};
  const std::string why = tjGetErrorStr2(handle);
  const bool whole = forgivable(why) && (run(kFlags) == 0 || tjGetErrorCode(handle) == TJERR_WARNING);
  if (!whole) return io_error(why);
  return Done{};
}

Result<Image> decode_jpeg(std::span<const std::byte> file) {
  const JpegHandle handle(tjInitDecompress());
  if (!handle) return internal_error("the JPEG decoder cannot be started");
  int width = 0;
  int height = 0;
  int subsampling = 0;
  int colours = 0;
  if (tjDecompressHeader3(handle.get(), bytes_of_file(file), static_cast<unsigned long>(file.size()), &width, &height,
                          &subsampling, &colours) != 0) {
    return io_error(tjGetErrorStr2(handle.get()));
  }
  if (colours == TJCS_CMYK || colours == TJCS_YCCK) return io_error("it is a CMYK image; convert it to RGB");
  INFERMETER_TRY(Image image, blank(static_cast<std::uint64_t>(width), static_cast<std::uint64_t>(height)));
  const std::uint64_t pixels = std::uint64_t{image.width} * image.height;
  if (pixels > kSmallImage && pixels / kMostJpegPixelsPerByte > file.size()) {
    return io_error(fmt::format("{} x {} pixels cannot be in {} bytes", width, height, file.size()));
  }
  INFERMETER_TRY_DONE(check_scans(file, pixels));
  image.pixels.resize(image.width * image.height * 3);
  INFERMETER_TRY_DONE(decompress(handle.get(), file, image));
  return image;
}

struct FreePng {
  void operator()(spng_ctx* context) const { spng_ctx_free(context); }
};
using PngContext = std::unique_ptr<spng_ctx, FreePng>;

std::uint64_t packed_bytes(const spng_ihdr& header) {
  const std::uint64_t channels = header.color_type == SPNG_COLOR_TYPE_TRUECOLOR         ? 3
                                 : header.color_type == SPNG_COLOR_TYPE_TRUECOLOR_ALPHA ? 4
                                 : header.color_type == SPNG_COLOR_TYPE_GRAYSCALE_ALPHA ? 2
                                                                                        : 1;
  return (std::uint64_t{header.width} * channels * header.bit_depth + 7) / 8 * header.height;
}

// Of every chunk: libspng does not come to the checksum of the last one that it takes pixels from.
bool checksums_fit(std::span<const std::byte> file) {
  const auto number_at = [&](std::size_t at) {
    std::size_t number = 0;
    for (std::size_t i = 0; i < 4; ++i) number = number << 8U | std::to_integer<std::size_t>(file[at + i]);
    return number;
  };
  constexpr std::size_t signature = 8, around = 12;  // of a chunk's contents: length, type, checksum
  for (std::size_t at = signature; file.size() >= around && at <= file.size() - around;) {
    const std::size_t size = number_at(at);
    if (size > file.size() - around - at) break;  // cut off: the decoder says so
    const auto* const type = reinterpret_cast<const Bytef*>(file.data() + at + 4);
    if (crc32_z(0, type, size + 4) != number_at(at + 8 + size)) return false;
    at += around + size;
  }
  return true;
}

Result<Image> decode_png(std::span<const std::byte> file) {
  const PngContext context(spng_ctx_new(0));
  if (!context) return internal_error("the PNG decoder cannot be started");
  constexpr std::size_t kLargestChunk = 64 << 20;
  spng_set_image_limits(context.get(), 1u << 28, 1u << 28);
  spng_set_chunk_limits(context.get(), kLargestChunk, kLargestChunk);
  spng_ihdr header{};
  int status = spng_set_png_buffer(context.get(), file.data(), file.size());
  if (status == SPNG_OK) status = spng_get_ihdr(context.get(), &header);
  if (status != SPNG_OK) return io_error(spng_strerror(status));
  INFERMETER_TRY(Image image, blank(header.width, header.height));
  if (std::uint64_t{image.width} * image.height > kSmallImage &&
      packed_bytes(header) / kMostPngBytesPerByte > file.size()) {
    return io_error(fmt::format("{} x {} pixels cannot be in {} bytes", header.width, header.height, file.size()));
  }
  image.pixels.resize(image.width * image.height * 3);
  if (!checksums_fit(file)) return io_error("a CRC-32 in it is not that of its contents: it is damaged");
  status = spng_decode_image(context.get(), image.pixels.data(), image.pixels.size(), SPNG_FMT_RGB8, 0);
  if (status != SPNG_OK) return io_error(spng_strerror(status));
  return image;
}

bool begins_with(std::span<const std::byte> file, std::string_view magic) {
  return file.size() >= magic.size() && std::memcmp(file.data(), magic.data(), magic.size()) == 0;
}

}  // namespace

Result<Image> decode_image(std::span<const std::byte> file) {
  if (begins_with(file, "\xFF\xD8")) return decode_jpeg(file);
  if (begins_with(file, "\x89PNG")) return decode_png(file);
  return io_error("it is neither JPEG nor PNG");
}

Result<Image> decode_image_file(RegularFile& file) {
  INFERMETER_TRY(const std::vector<std::byte> bytes, read_file(file, kLargestFile));
  return decode_image(bytes);
}

Result<Image> read_image(const std::string& path) {
  INFERMETER_TRY(RegularFile file, RegularFile::open(path));
  auto image = decode_image_file(file);
  if (image.ok()) return image;
  return io_error(fmt::format("the image {} cannot be read: {}", in_quotes(path), image.error().message));
}

}  // namespace infermeter
