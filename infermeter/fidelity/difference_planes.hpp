// Planes to look at: of two outputs that are images or volumes, the plane in which they differ most, as grey values.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "infermeter/data/tensor.hpp"
#include "infermeter/fidelity/kept_differences.hpp"

namespace infermeter {

inline constexpr std::size_t kPlaneSide = 192;  // pixels; larger planes are thinned to it

// Planes of an output that is an image, or of the slice of a volume in which the largest difference lies. Row by row,
// 0 … 255 for low … high, and 0 … max_difference. Thinned where it was larger: means, of the difference the largest.
struct DifferencePicture {
  std::string output, name, where;  // name: of the data item; where: "channel 0 of 3, slice 12 of 32"
  std::size_t item = 0;
  std::size_t rows = 0, columns = 0, full_rows = 0, full_columns = 0;
  double low = 0, high = 0, max_difference = 0;  // of finite values; where only one of two is finite: 255
  std::string reference, candidate, difference;  // rows * columns bytes each
};

// Without `output`, `name` and `item`. nullopt: they are no images (image_like), or not of one shape.
[[nodiscard]] std::optional<DifferencePicture> difference_picture(const Tensor& reference, const Tensor& candidate);

// One for every kept item, output by output, the worst first. `outputs` and `items` are what they are called.
[[nodiscard]] std::vector<DifferencePicture> difference_pictures(const KeptDifferences& kept,
                                                                 std::span<const std::string> outputs,
                                                                 std::span<const std::string> items);

}  // namespace infermeter
