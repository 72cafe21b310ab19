#include "infermeter/fidelity/difference_planes.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "infermeter/fidelity/element_reader.hpp"
#include "infermeter/fidelity/ssim.hpp"

namespace infermeter {
namespace {

constexpr double infinite_distance = std::numeric_limits<double>::infinity();

// How far two values are apart; infinite where one of them is no finite number and the other is not the same.
double distance(double reference, double candidate) {
  if (std::isfinite(reference) && std::isfinite(candidate)) return std::abs(candidate - reference);
  const bool is_same = reference == candidate || (std::isnan(reference) && std::isnan(candidate));
  return is_same ? 0 : infinite_distance;
}

// [N, C, H, W] or [N, C, D, H, W], as planes one behind the other.
struct PlaneLayout {
  std::size_t channels = 1, slices = 1, rows = 1, columns = 1, planes = 1;

  explicit PlaneLayout(const Shape& shape) {
    const auto side = [&](std::size_t axis) { return static_cast<std::size_t>(shape[axis]); };
    channels = side(1);
    slices = shape.size() == 5 ? side(2) : 1;
    rows = side(shape.size() - 2);
    columns = side(shape.size() - 1);
    planes = side(0) * channels * slices;
  }
  [[nodiscard]] std::size_t plane_size() const { return rows * columns; }

  [[nodiscard]] std::vector<std::size_t> indices(std::size_t plane, std::size_t rank) const {
    std::vector<std::size_t> at = {plane / (channels * slices), plane / slices % channels};
    if (rank == 5) at.push_back(plane % slices);
    return at;
  }

  // "2 of the batch of 4, channel 0 of 3, slice 12 of 32", without what there is only one of.
  [[nodiscard]] std::vector<std::string> place(std::size_t plane) const {
    std::vector<std::string> parts;
    const std::size_t batch = planes / (channels * slices);
    if (batch > 1) parts.push_back(fmt::format("{} of the batch of {}", plane / (channels * slices), batch));
    if (channels > 1) parts.push_back(fmt::format("channel {} of {}", plane / slices % channels, channels));
    if (slices > 1) parts.push_back(fmt::format("slice {} of {}", plane % slices, slices));
    return parts;
  }
};

// The plane with the largest difference; of two that are equal everywhere, the middle slice.
std::size_t worst_plane(const Tensor& reference, const Tensor& candidate, const PlaneLayout& layout) {
  ElementChunk chunk;
  double largest = 0;
  std::size_t worst = layout.slices / 2;
  const std::size_t values = layout.planes * layout.plane_size();
  for (std::size_t begin = 0; begin < values; begin += chunk_size) {
    read_chunk(reference, candidate, begin, std::min(chunk_size, values - begin), chunk);
    for (std::size_t i = 0; i < chunk.size; ++i) {
      const double apart = distance(chunk.reference[i], chunk.candidate[i]);
      if (apart <= largest) continue;
      largest = apart;
      worst = (begin + i) / layout.plane_size();
    }
  }
  return worst;
}

std::vector<double> plane_of(const Tensor& tensor, const PlaneLayout& layout, std::size_t plane) {
  std::vector<double> values(layout.plane_size());
  read_values(tensor, plane * layout.plane_size(), values);
  return values;
}

std::vector<double> distances(const std::vector<double>& reference, const std::vector<double>& candidate) {
  std::vector<double> apart(reference.size());
  std::ranges::transform(reference, candidate, apart.begin(), distance);
  return apart;
}

// Calls `use` with the values that each pixel of the thinned plane stands for.
template <class Use>
void for_each_pixel(const std::vector<double>& plane, const DifferencePicture& picture, Use use) {
  std::vector<double> block;
  for (std::size_t row = 0; row < picture.rows; ++row) {
    const std::size_t top = row * picture.full_rows / picture.rows;
    const std::size_t bottom = (row + 1) * picture.full_rows / picture.rows;
    for (std::size_t column = 0; column < picture.columns; ++column) {
      const std::size_t left = column * picture.full_columns / picture.columns;
      const std::size_t right = (column + 1) * picture.full_columns / picture.columns;
      block.clear();
      for (std::size_t y = top; y < bottom; ++y) {
        for (std::size_t x = left; x < right; ++x) block.push_back(plane[y * picture.full_columns + x]);
      }
      use(block);
    }
  }
}

// An infinity in it is the mean; NaN only where nothing else is.
double mean_of(const std::vector<double>& block) {
  double sum = 0;
  std::size_t count = 0;
  for (const double value : block) {
    if (std::isnan(value)) continue;
    sum += value;
    ++count;
  }
  return sum / static_cast<double>(count);
}

std::uint16_t level_of(double value, double low, double high) {
  if (std::isnan(value)) return DifferencePicture::kNaN;
  if (std::isinf(value)) return value < 0 ? DifferencePicture::kMinusInfinity : DifferencePicture::kInfinity;
  if (value <= low) return 0;
  // Of halves: the range of two finite numbers may be none.
  const double share = value >= high ? 1 : (value / 2 - low / 2) / (high / 2 - low / 2);
  return static_cast<std::uint16_t>(std::lround(share * DifferencePicture::kHighestLevel));
}

// The higher bytes of all levels, then the lower ones.
class LevelBytes {
 public:
  void add(std::uint16_t level) {
    high_ += static_cast<char>(static_cast<unsigned char>(level >> 8U));
    low_ += static_cast<char>(static_cast<unsigned char>(level & 0xFFU));
  }
  [[nodiscard]] std::string take() { return std::move(high_) + low_; }

 private:
  std::string high_, low_;
};

std::string thinned_means(const std::vector<double>& plane, const DifferencePicture& picture) {
  LevelBytes bytes;
  for_each_pixel(plane, picture,
                 [&](const auto& block) { bytes.add(level_of(mean_of(block), picture.low, picture.high)); });
  return bytes.take();
}

std::string thinned_largest(const std::vector<double>& plane, const DifferencePicture& picture) {
  LevelBytes bytes;
  for_each_pixel(plane, picture, [&](const auto& block) {
    bytes.add(level_of(*std::ranges::max_element(block), 0, picture.max_difference));
  });
  return bytes.take();
}

void set_scale(DifferencePicture& picture, const std::vector<double>& reference, const std::vector<double>& candidate) {
  double low = infinite_distance, high = -infinite_distance;
  for (const auto* plane : {&reference, &candidate}) {
    for (const double value : *plane) {
      if (!std::isfinite(value)) continue;
      low = std::min(low, value);
      high = std::max(high, value);
    }
  }
  picture.low = low <= high ? low : 0;
  picture.high = low <= high ? high : 0;
}

std::size_t not_finite(const std::vector<double>& plane) {
  return static_cast<std::size_t>(std::ranges::count_if(plane, [](double value) { return !std::isfinite(value); }));
}

bool are_images(const Tensor& reference, const Tensor& candidate) {
  return reference.shape == candidate.shape && image_like(reference.dtype, reference.shape) &&
         image_like(candidate.dtype, candidate.shape) && whole(reference) && whole(candidate);
}

// The largest at which all pictures together have no more than kMostPlanePixels.
std::size_t side_for_all(const KeptDifferences& kept) {
  std::vector<PlaneLayout> layouts;
  for (const auto& [index, output] : kept.outputs()) {
    for (const KeptItem& item : output.worst) {
      if (are_images(item.reference, item.candidate)) layouts.emplace_back(item.reference.shape);
    }
  }
  const auto pixels = [&](std::size_t side) {
    std::size_t sum = 0;
    for (const PlaneLayout& each : layouts) sum += std::min(each.rows, side) * std::min(each.columns, side);
    return sum;
  };
  std::size_t side = kPlaneSide;
  while (side > 1 && pixels(side) > kMostPlanePixels) --side;
  return side;
}

}  // namespace

std::optional<DifferencePicture> difference_picture(const Tensor& reference, const Tensor& candidate,
                                                    std::size_t side) {
  if (!are_images(reference, candidate)) return std::nullopt;
  const PlaneLayout layout(reference.shape);
  const std::size_t plane = worst_plane(reference, candidate, layout);
  const auto expected = plane_of(reference, layout, plane), got = plane_of(candidate, layout, plane);
  const auto apart = distances(expected, got);

  DifferencePicture picture;
  picture.full_rows = layout.rows;
  picture.full_columns = layout.columns;
  picture.rows = std::min(layout.rows, side);
  picture.columns = std::min(layout.columns, side);
  set_scale(picture, expected, got);
  for (const double value : apart) {
    if (std::isfinite(value)) picture.max_difference = std::max(picture.max_difference, value);
  }
  picture.plane = layout.indices(plane, reference.shape.size());
  const auto largest = static_cast<std::size_t>(std::ranges::max_element(apart) - apart.begin());
  if (apart[largest] > 0) picture.largest = {largest / layout.columns, largest % layout.columns};
  auto parts = layout.place(plane);
  const std::size_t strange = not_finite(expected) + not_finite(got);
  if (strange > 0) parts.push_back(fmt::format("{} NaN or infinite", strange));
  picture.where = fmt::format("{}", fmt::join(parts, ", "));
  picture.reference = thinned_means(expected, picture);
  picture.candidate = thinned_means(got, picture);
  picture.difference = thinned_largest(apart, picture);
  return picture;
}

std::vector<DifferencePicture> difference_pictures(const KeptDifferences& kept, std::span<const std::string> outputs,
                                                   std::span<const std::string> items) {
  const auto name_at = [](std::span<const std::string> names, std::size_t index, const char* what) {
    return index < names.size() ? names[index] : fmt::format("{} {}", what, index);
  };
  const std::size_t side = side_for_all(kept);
  std::vector<DifferencePicture> pictures;
  for (const auto& [index, output] : kept.outputs()) {
    for (const KeptItem& item : output.worst) {
      auto picture = difference_picture(item.reference, item.candidate, side);
      if (!picture) continue;
      picture->output = name_at(outputs, index, "output");
      picture->name = name_at(items, item.item, "item");
      picture->item = item.item;
      pictures.push_back(std::move(*picture));
    }
  }
  return pictures;
}

}  // namespace infermeter
