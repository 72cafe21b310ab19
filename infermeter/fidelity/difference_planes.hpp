// Planes to look at: of two outputs that are images or volumes, the plane in which they differ most.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "infermeter/data/tensor.hpp"
#include "infermeter/fidelity/kept_differences.hpp"

namespace infermeter {

inline constexpr std::size_t kPlaneSide = 512;  // pixels; larger planes are thinned to it
// Of a plane of all pictures of a document together: where they are more, all are thinned alike.
inline constexpr std::size_t kMostPlanePixels = 4 * kPlaneSide * kPlaneSide;

// Planes of an output that is an image, or of the slice of a volume in which the largest difference lies. Row by row
// the higher bytes of levels of 16 bits, then likewise the lower ones: 0 … kHighestLevel for low … high, and for 0 …
// max_difference; above it what is no finite number. Thinned where it was larger: means, of the difference the largest.
struct DifferencePicture {
  static constexpr std::uint16_t kHighestLevel = 65532, kMinusInfinity = 65533, kInfinity = 65534, kNaN = 65535;

  std::string output, name, where;  // name: of the data item; where: "channel 0 of 3, slice 12 of 32"
  std::size_t item = 0;
  std::size_t rows = 0, columns = 0, full_rows = 0, full_columns = 0;
  double low = 0, high = 0, max_difference = 0;  // of finite values; where only one of two is finite: kInfinity
  std::string reference, candidate, difference;  // 2 * rows * columns bytes each
  std::vector<std::size_t> plane{};              // its indices: those of an element but the last two
  // Row and column of the largest difference, the first of several, in the whole plane; nullopt: there is none.
  std::optional<std::pair<std::size_t, std::size_t>> largest{};
};

// Without `output`, `name` and `item`, with at most `side` rows and columns. nullopt: they are no images (image_like),
// or not of one shape.
[[nodiscard]] std::optional<DifferencePicture> difference_picture(const Tensor& reference, const Tensor& candidate,
                                                                  std::size_t side = kPlaneSide);

// One for every kept item, output by output, the worst first. `outputs` and `items` are what they are called.
[[nodiscard]] std::vector<DifferencePicture> difference_pictures(const KeptDifferences& kept,
                                                                 std::span<const std::string> outputs,
                                                                 std::span<const std::string> items);

}  // namespace infermeter
