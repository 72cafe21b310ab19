#include "infermeter/data/images/resize.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "infermeter/diagnostics/check.hpp"

namespace infermeter {
namespace {

constexpr int kFractionBits = 32 - 8 - 2;  // 8-bit values times weights that sum to one, with two bits to spare

// Which source pixels make one output pixel, and how much of each.
struct Window {
  std::size_t first = 0;
  std::vector<std::int32_t> weights;  // in units of 2^-22
};

// The triangle filter, widened by the factor of reduction: that is what makes it antialiased.
Window window_at(std::size_t output, std::size_t source_size, double factor) {
  const double reach = std::max(factor, 1.0);
  const double centre = (static_cast<double>(output) + 0.5) * factor;
  const auto first = static_cast<std::size_t>(std::max(0.0, centre - reach + 0.5));
  const auto end = std::min(source_size, static_cast<std::size_t>(centre + reach + 0.5));
  std::vector<double> weights;
  double sum = 0;
  for (std::size_t i = first; i < end; ++i) {
    const double distance = std::fabs((static_cast<double>(i) - centre + 0.5) * (1.0 / reach));
    weights.push_back(std::max(0.0, 1.0 - distance));
    sum += weights.back();
  }
  Window window{first, {}};
  for (const double weight : weights) {
    const double share = sum == 0 ? weight : weight / sum;
    window.weights.push_back(static_cast<std::int32_t>(share * (1 << kFractionBits) + 0.5));
  }
  return window;
}

std::vector<Window> windows(std::size_t first, std::size_t count, std::size_t source_size, std::size_t size) {
  const double factor = static_cast<double>(source_size) / static_cast<double>(size);
  std::vector<Window> out;
  for (std::size_t i = 0; i < count; ++i) out.push_back(window_at(first + i, source_size, factor));
  return out;
}

// One colour of one output pixel; `step` is the distance between the source pixels' bytes.
std::uint8_t weighted(const std::uint8_t* source, std::size_t step, const std::vector<std::int32_t>& weights) {
  std::int32_t sum = 1 << (kFractionBits - 1);
  for (const std::int32_t weight : weights) {
    sum += *source * weight;
    source += step;
  }
  return static_cast<std::uint8_t>(std::clamp(sum >> kFractionBits, 0, 255));
}

// Rows [top, top + height) of the source, resized in width.
Image resize_rows(const Image& image, const std::vector<Window>& columns, std::size_t top, std::size_t height) {
  Image out{columns.size(), height, std::vector<std::uint8_t>(columns.size() * height * 3)};
  std::uint8_t* target = out.pixels.data();
  for (std::size_t y = 0; y < height; ++y) {
    const std::uint8_t* row = image.pixels.data() + (top + y) * image.width * 3;
    for (const Window& window : columns) {
      for (std::size_t colour = 0; colour < 3; ++colour) {
        *target++ = weighted(row + window.first * 3 + colour, 3, window.weights);
      }
    }
  }
  return out;
}

// `first_row` is the source row that `image` begins with.
Image resize_columns(const Image& image, const std::vector<Window>& rows, std::size_t first_row) {
  Image out{image.width, rows.size(), std::vector<std::uint8_t>(image.width * rows.size() * 3)};
  const std::size_t stride = image.width * 3;
  std::uint8_t* target = out.pixels.data();
  for (const Window& window : rows) {
    const std::uint8_t* source = image.pixels.data() + (window.first - first_row) * stride;
    for (std::size_t i = 0; i < stride; ++i) *target++ = weighted(source + i, stride, window.weights);
  }
  return out;
}

}  // namespace

Image resized(const Image& image, Size size, const Crop& crop) {
  INFERMETER_CHECK(crop.width > 0 && crop.height > 0);
  INFERMETER_CHECK(crop.left + crop.width <= size.width && crop.top + crop.height <= size.height);
  // A direction that keeps its size has windows of one pixel with weight one: the copy is exact.
  const std::vector<Window> columns = windows(crop.left, crop.width, image.width, size.width);
  const std::vector<Window> rows = windows(crop.top, crop.height, image.height, size.height);
  const std::size_t first_row = rows.front().first;
  const std::size_t end_row = rows.back().first + rows.back().weights.size();
  return resize_columns(resize_rows(image, columns, first_row, end_row - first_row), rows, first_row);
}

Size size_with_shorter_side(Size original, std::size_t shorter) {
  const auto longer = [&](std::size_t long_side, std::size_t short_side) { return shorter * long_side / short_side; };
  if (original.width <= original.height) return {shorter, longer(original.height, original.width)};
  return {longer(original.width, original.height), shorter};
}

Crop centre_crop(Size size, Size wanted) {
  const auto corner = [](std::size_t whole, std::size_t part) {
    const std::size_t left_over = whole - part;
    return left_over / 2 + (left_over % 4 == 3 ? 1 : 0);
  };
  INFERMETER_CHECK(wanted.width <= size.width && wanted.height <= size.height);
  return {corner(size.width, wanted.width), corner(size.height, wanted.height), wanted.width, wanted.height};
}

}  // namespace infermeter
