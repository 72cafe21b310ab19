// Resizing as Pillow does it, to the grey level: antialiased bilinear, 8-bit fixed point, rows before columns.
#pragma once

#include "infermeter/data/images/image.hpp"

namespace infermeter {

// The part of the resized image that is wanted.
struct Crop {
  std::size_t left = 0;
  std::size_t top = 0;
  std::size_t width = 0;
  std::size_t height = 0;
};

struct Size {
  std::size_t width = 0;
  std::size_t height = 0;
};

// As PIL.Image.resize(size, BILINEAR).crop(…), without the pixels that are not wanted. The crop lies within `size`.
[[nodiscard]] Image resized(const Image& image, Size size, const Crop& crop);

// What torchvision's Resize and CenterCrop choose: the shorter side becomes `shorter`, the longer one in proportion,
// rounded down; the crop's corner is half of what is left, halves to the even number.
[[nodiscard]] Size size_with_shorter_side(Size original, std::size_t shorter);
[[nodiscard]] Crop centre_crop(Size size, Size wanted);

}  // namespace infermeter
