#include "infermeter/fidelity/ssim.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <span>
#include <vector>

#include <fmt/format.h>

#include "infermeter/fidelity/difference_tally.hpp"
#include "infermeter/fidelity/element_reader.hpp"
#include "infermeter/fidelity/ssim_kernel.hpp"

namespace infermeter {
namespace {

constexpr double gaussian_sigma = 1.5;
constexpr int gaussian_radius = 5;  // 3.5 standard deviations, rounded

// Weights of one axis, whose sum is 1. The window is separable: a pixel's weight is the product over the axes.
std::vector<double> weights_of(const SsimOptions& options) {
  if (options.window == SsimWindow::uniform) {
    return std::vector<double>(static_cast<std::size_t>(options.size), 1.0 / options.size);
  }
  std::vector<double> weights;
  for (int i = -gaussian_radius; i <= gaussian_radius; ++i) {
    weights.push_back(std::exp(-0.5 * i * i / (gaussian_sigma * gaussian_sigma)));
  }
  const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
  for (double& weight : weights) weight /= sum;
  return weights;
}

// How images lie in memory, their axes named in their order; a two-dimensional one has no middle axis. Channels that
// come last are neighbours along the last axis, whose windows then have their numbers `step` apart.
struct WindowLayout {
  std::size_t images = 1, first = 1, middle = 1, last = 1, step = 1;

  [[nodiscard]] std::size_t shortest_side(bool volume) const {
    const std::size_t shortest = std::min(first, last / step);
    return volume ? std::min(shortest, middle) : shortest;
  }
};

WindowLayout layout_of(const Shape& shape, const SsimOptions& options) {
  const std::size_t axes = shape.size() - (options.channels_last ? 1 : 0);
  const auto images = axes - static_cast<std::size_t>(options.dimensions);
  const auto side = [&](std::size_t axis) { return static_cast<std::size_t>(shape[axis]); };
  WindowLayout layout;
  for (std::size_t i = 0; i < images; ++i) layout.images *= side(i);
  layout.first = side(images);
  if (options.dimensions == 3) layout.middle = side(images + 1);
  if (options.channels_last) layout.step = side(axes);
  layout.last = side(axes - 1) * layout.step;
  return layout;
}

Result<Done> check_tensors(const Tensor& reference, const Tensor& candidate) {
  if (reference.dtype != candidate.dtype) {
    return usage_error(fmt::format("SSIM needs two tensors of the same type; these are {} and {}",
                                   to_string(reference.dtype), to_string(candidate.dtype)));
  }
  if (reference.shape != candidate.shape) {
    return usage_error(fmt::format("SSIM needs two tensors of the same shape; these are {} and {}",
                                   to_string(reference.shape), to_string(candidate.shape)));
  }
  const DTypeClass kind = class_of(reference.dtype);
  if (kind != DTypeClass::real && kind != DTypeClass::integer && kind != DTypeClass::boolean) {
    return usage_error(fmt::format("SSIM needs real numbers; these are {}", to_string(reference.dtype)));
  }
  if (!whole(reference) || !whole(candidate)) {
    return usage_error(
        fmt::format("a tensor has a number of values that does not fit its shape {}", to_string(reference.shape)));
  }
  return Done{};
}

Result<Done> check_window(const Shape& shape, const SsimOptions& options) {
  const auto axes = static_cast<std::size_t>(options.dimensions) + (options.channels_last ? 1 : 0);
  if (options.dimensions != 2 && options.dimensions != 3) {
    return usage_error(fmt::format("dimensions: expected 2 or 3, got {}", options.dimensions));
  }
  if (shape.size() < axes) {
    return usage_error(fmt::format("shape {} has no {}-dimensional images{}", to_string(shape), options.dimensions,
                                   options.channels_last ? " with their channels last" : ""));
  }
  if (element_count(shape) == std::size_t{0}) {
    return usage_error(fmt::format("there are no images in shape {}", to_string(shape)));
  }
  const bool uniform = options.window == SsimWindow::uniform;
  if (uniform && (options.size < 3 || options.size % 2 == 0)) {
    return usage_error(fmt::format("size: expected an odd window of at least 3, got {}", options.size));
  }
  const std::size_t shortest = layout_of(shape, options).shortest_side(options.dimensions == 3);
  const int window = uniform ? options.size : 2 * gaussian_radius + 1;
  if (static_cast<std::size_t>(window) > shortest) {
    return usage_error(fmt::format("a window of {} does not fit into images whose shortest side is {}{}", window,
                                   shortest, uniform ? ": give a smaller size" : ""));
  }
  return Done{};
}

// Windows along the last axis that are worked on at a time: their sums stay in the first-level cache.
constexpr std::size_t longest_strip = 512;

// Goes through all windows, a row of them at a time. Beside the images it needs a few rows.
class WindowWalk {
 public:
  WindowWalk(const Tensor& reference, const Tensor& candidate, const SsimOptions& options, double scale,
             const SsimConstants& constants)
      : reference_(reference),
        candidate_(candidate),
        layout_(layout_of(reference.shape, options)),
        weights_(weights_of(options)),
        units_{.scale = scale},
        constants_(constants),
        dtype_(ssim_takes(reference.dtype) ? reference.dtype : DType::float64),
        halo_((weights_.size() - 1) * layout_.step),
        strip_(std::min(longest_strip, layout_.last - halo_)),
        stride_(rounded(strip_ + halo_) + FiveRows::room),
        middle_rows_(options.dimensions == 3 ? weights_.size() : 0),
        sums_((middle_rows_ + 1) * 5 * stride_),
        references_(weights_.size()),
        candidates_(weights_.size()) {}

  double mean() {
    double sum = 0;
    const std::size_t windows = layout_.last - halo_;
    for (std::size_t image = 0; image < layout_.images; ++image) {
      for (std::size_t first = 0; first + weights_.size() <= layout_.first; ++first) {
        for (std::size_t begin = 0; begin < windows; begin += strip_) {
          const std::size_t count = std::min(strip_, windows - begin);
          shift_to(image, first, begin, count);
          sum += middle_rows_ > 0 ? of_volume(image, first, begin, count)
                                  : of_row(image, first, 0, begin, count, sums_at(0));
        }
      }
    }
    const std::size_t middles = middle_rows_ > 0 ? layout_.middle - middle_rows_ + 1 : 1;
    return sum / static_cast<double>(layout_.images * (layout_.first - weights_.size() + 1) * middles * windows);
  }

 private:
  static std::size_t rounded(std::size_t count) {
    return (count + FiveRows::room - 1) / FiveRows::room * FiveRows::room;
  }

  FiveRows sums_at(std::size_t index) { return {sums_.data() + index * 5 * stride_, stride_}; }

  // Takes the middle one of three pixels among these from all of them: variances must not lose their digits to a mean
  // that is large beside them, nor to one pixel that is.
  void shift_to(std::size_t image, std::size_t first, std::size_t begin, std::size_t count) {
    const std::size_t row = (image * layout_.first + first) * layout_.middle + layout_.middle / 2;
    const auto middle_one = [&](const Tensor& tensor) {
      std::array<double, 3> pixels;
      for (std::size_t i = 0; i < 3; ++i) {
        read_values(tensor, row * layout_.last + begin + i * (count - 1) / 2, std::span(pixels).subspan(i, 1));
      }
      std::ranges::sort(pixels);
      return pixels[1] * units_.scale;
    };
    constants_.mean_reference = units_.shift_reference = middle_one(reference_);
    constants_.mean_candidate = units_.shift_candidate = middle_one(candidate_);
  }

  // The sums over the first axis, for the windows' numbers from `begin` on.
  void weigh(std::size_t image, std::size_t first, std::size_t middle, std::size_t begin, std::size_t numbers,
             FiveRows into) {
    for (std::size_t k = 0; k < weights_.size(); ++k) {
      const std::size_t row = (image * layout_.first + first + k) * layout_.middle + middle;
      references_[k] = row_of(reference_, row * layout_.last + begin, 2 * k, numbers);
      candidates_[k] = row_of(candidate_, row * layout_.last + begin, 2 * k + 1, numbers);
    }
    weigh_rows(dtype_, references_, candidates_, weights_, numbers, units_, into);
  }

  // In the tensor, or converted into the place `index` of the converted rows.
  const std::byte* row_of(const Tensor& tensor, std::size_t begin, std::size_t index, std::size_t numbers) {
    if (dtype_ == tensor.dtype) return tensor.data.data() + bytes_of(dtype_, begin);
    converted_.resize(2 * weights_.size() * stride_);
    const std::span<double> row = std::span(converted_).subspan(index * stride_, numbers);
    read_values(tensor, begin, row);
    return std::as_bytes(row).data();
  }

  double of_row(std::size_t image, std::size_t first, std::size_t middle, std::size_t begin, std::size_t count,
                FiveRows sums) {
    weigh(image, first, middle, begin, count + halo_, sums);
    return sum_similarity(sums, weights_, layout_.step, count, constants_);
  }

  // The last rows of the middle axis are kept, each in the place of the one that is no longer needed.
  double of_volume(std::size_t image, std::size_t first, std::size_t begin, std::size_t count) {
    double sum = 0;
    std::vector<const double*> rows(middle_rows_);
    for (std::size_t middle = 0; middle < layout_.middle; ++middle) {
      weigh(image, first, middle, begin, count + halo_, sums_at(middle % middle_rows_));
      if (middle + 1 < middle_rows_) continue;
      for (std::size_t k = 0; k < middle_rows_; ++k) rows[k] = sums_at((middle + 1 + k) % middle_rows_).values;
      weigh_sums(rows, weights_, sums_at(middle_rows_));
      sum += sum_similarity(sums_at(middle_rows_), weights_, layout_.step, count, constants_);
    }
    return sum;
  }

  const Tensor& reference_;
  const Tensor& candidate_;
  WindowLayout layout_;
  std::vector<double> weights_;
  SsimUnits units_;
  SsimConstants constants_;
  DType dtype_;       // of the rows that are summed
  std::size_t halo_;  // numbers that a row needs beside those at which windows begin
  std::size_t strip_, stride_;
  std::size_t middle_rows_;
  std::vector<double> sums_, converted_;
  std::vector<const std::byte*> references_, candidates_;
};

double mean_similarity(const Tensor& reference, const Tensor& candidate, const SsimOptions& options,
                       const DifferenceTally& tally, double range) {
  // Similarity does not depend on the unit. In one of about the range, or of the pixels where those are far larger,
  // products of four pixels stay in the range of doubles.
  const double largest = tally.largest_reference * 1e-60 + tally.max_absolute * 1e-60;
  const double unit = std::clamp(std::max(range, largest), 1e-300, 1e300);
  const double n = std::pow(static_cast<double>(weights_of(options).size()), options.dimensions);
  const SsimConstants constants{.c1 = std::pow(options.k1 * (range / unit), 2),
                                .c2 = std::pow(options.k2 * (range / unit), 2),
                                .sample = options.sample_covariance ? n / (n - 1) : 1};
  return WindowWalk(reference, candidate, options, 1 / unit, constants).mean();
}

}  // namespace

Result<double> structural_similarity(const Tensor& reference, const Tensor& candidate, const SsimOptions& options) {
  INFERMETER_TRY_DONE(check_tensors(reference, candidate));
  INFERMETER_TRY_DONE(check_window(reference.shape, options));
  DifferenceTally tally;
  tally.add(reference, candidate, 0);
  if (tally.finite < tally.count) return std::numeric_limits<double>::quiet_NaN();
  if (tally.max_absolute == 0) return 1.0;
  const double range = options.data_range ? *options.data_range : tally.data_range().value_or(0);
  if (!(range > 0) || !std::isfinite(range)) {
    return usage_error(options.data_range
                           ? fmt::format("data range: expected a number above 0, got {}", range)
                           : std::string("the reference is constant and has no data range: give the largest value that "
                                         "there can be less the smallest"));
  }
  return mean_similarity(reference, candidate, options, tally, range);
}

std::optional<SsimOptions> image_like(DType dtype, const Shape& shape) {
  if (class_of(dtype) != DTypeClass::real || (shape.size() != 4 && shape.size() != 5)) return std::nullopt;
  if (shape[0] < 1 || shape[1] < 1) return std::nullopt;
  const SsimOptions options{.dimensions = static_cast<int>(shape.size()) - 2};
  const bool fits =
      std::all_of(shape.begin() + 2, shape.end(), [&](std::int64_t side) { return side >= options.size; });
  return fits ? std::optional(options) : std::nullopt;
}

}  // namespace infermeter
