// Photographs: JPEG and PNG files as 8-bit RGB.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "infermeter/diagnostics/result.hpp"

namespace infermeter {

class RegularFile;

// Rows from the top, three bytes (red, green, blue) per pixel, no padding.
struct Image {
  std::size_t width = 0;
  std::size_t height = 0;
  std::vector<std::uint8_t> pixels;
};

inline constexpr std::uint64_t kMostPixels = std::uint64_t{1} << 28;

// By what the bytes are, not by the file's name. Grey levels and palettes become RGB, transparency is dropped,
// 16-bit PNGs keep their upper byte, orientation tags are not applied: as Pillow's convert("RGB").
[[nodiscard]] Result<Image> decode_image(std::span<const std::byte> file);
[[nodiscard]] Result<Image> decode_image_file(RegularFile& file);
[[nodiscard]] Result<Image> read_image(const std::string& path);

// Reads a picture as an input of width x height takes it (prepared, images/image_data.hpp).
using ReadPicture = std::function<Result<Image>(const std::string& path, std::size_t width, std::size_t height)>;
// Called by each thread that reads pictures; what it returns is used by that thread alone.
using OpenPictures = std::function<ReadPicture()>;

}  // namespace infermeter
