#include "infermeter/fidelity/ssim.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include <fmt/format.h>

#include "infermeter/fidelity/difference_tally.hpp"
#include "infermeter/fidelity/element_reader.hpp"

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

// Sides of one image, as depth, height and width, and how many images there are.
struct Layout {
  std::size_t depth = 1, height = 1, width = 1;
  std::size_t images = 1, channels = 1;  // channels: those behind the image's axes
};

Layout layout_of(const Shape& shape, const SsimOptions& options) {
  const std::size_t last = shape.size() - (options.channels_last ? 1 : 0);
  const auto side = [&](std::size_t from_last) { return static_cast<std::size_t>(shape[last - from_last]); };
  Layout layout{.height = side(2), .width = side(1)};
  if (options.dimensions == 3) layout.depth = side(3);
  if (options.channels_last) layout.channels = static_cast<std::size_t>(shape.back());
  for (std::size_t i = 0; i + static_cast<std::size_t>(options.dimensions) < last; ++i) {
    layout.images *= static_cast<std::size_t>(shape[i]);
  }
  return layout;
}

Result<Done> check_tensors(const Tensor& reference, const Tensor& candidate) {
  if (reference.dtype != candidate.dtype) {
    return usage_error(fmt::format("structural similarity is of two tensors of one type, not of {} and {}",
                                   to_string(reference.dtype), to_string(candidate.dtype)));
  }
  if (reference.shape != candidate.shape) {
    return usage_error(fmt::format("structural similarity is of two tensors of one shape, not of {} and {}",
                                   to_string(reference.shape), to_string(candidate.shape)));
  }
  const DTypeClass kind = class_of(reference.dtype);
  if (kind != DTypeClass::real && kind != DTypeClass::integer && kind != DTypeClass::boolean) {
    return usage_error(fmt::format("structural similarity is of real numbers, not of {}", to_string(reference.dtype)));
  }
  if (!whole(reference) || !whole(candidate)) {
    return usage_error(fmt::format("a tensor does not hold what its shape {} says", to_string(reference.shape)));
  }
  return Done{};
}

Result<Done> check_window(const Shape& shape, const SsimOptions& options) {
  const auto axes = static_cast<std::size_t>(options.dimensions) + (options.channels_last ? 1 : 0);
  if (options.dimensions != 2 && options.dimensions != 3) {
    return usage_error(fmt::format("dimensions: wanted 2 or 3, got {}", options.dimensions));
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
    return usage_error(fmt::format("size: wanted an odd window of at least 3, got {}", options.size));
  }
  const Layout layout = layout_of(shape, options);
  const std::size_t plane = std::min(layout.height, layout.width);
  const std::size_t shortest = options.dimensions == 3 ? std::min(plane, layout.depth) : plane;
  const int window = uniform ? options.size : 2 * gaussian_radius + 1;
  if (static_cast<std::size_t>(window) > shortest) {
    return usage_error(fmt::format("a window of {} does not fit into images whose shortest side is {}{}", window,
                                   shortest, uniform ? ": give a smaller size" : ""));
  }
  return Done{};
}

// The image `image` of channel `channel` in units of the data range, so that its squares stay in range.
std::vector<double> pixels(const Tensor& tensor, const Layout& layout, std::size_t image, std::size_t channel,
                           double unit) {
  const std::size_t count = layout.depth * layout.height * layout.width;
  std::vector<double> all(count * layout.channels), own(count);
  read_values(tensor, image * all.size(), all);
  for (std::size_t i = 0; i < count; ++i) own[i] = all[i * layout.channels + channel] / unit;
  return own;
}

struct Constants {
  double c1, c2;  // (k1 range)² and (k2 range)², where range is 1
  double sample;  // n / (n - 1), or 1
};

// Equation 13 of the paper.
double similarity(double mean_r, double mean_c, double var_r, double var_c, double covariance, const Constants& k) {
  return (2 * mean_r * mean_c + k.c1) * (2 * covariance + k.c2) /
         ((mean_r * mean_r + mean_c * mean_c + k.c1) * (var_r + var_c + k.c2));
}

class OneImage {
 public:
  OneImage(const Layout& layout, const std::vector<double>& weights, const Constants& constants, bool volume)
      : layout_(layout), weights_(weights), constants_(constants), depth_(volume ? weights.size() : 1) {}

  double mean(const std::vector<double>& r, const std::vector<double>& c) const {
    double sum = 0;
    std::size_t windows = 0;
    for (std::size_t z = 0; z + depth_ <= layout_.depth; ++z) {
      for (std::size_t y = 0; y + weights_.size() <= layout_.height; ++y) {
        for (std::size_t x = 0; x + weights_.size() <= layout_.width; ++x, ++windows) sum += at(r, c, z, y, x);
      }
    }
    return sum / static_cast<double>(windows);
  }

 private:
  template <class Use>
  void each(std::size_t z, std::size_t y, std::size_t x, Use use) const {
    for (std::size_t k = 0; k < depth_; ++k) {
      for (std::size_t j = 0; j < weights_.size(); ++j) {
        for (std::size_t i = 0; i < weights_.size(); ++i) {
          const double weight = (depth_ > 1 ? weights_[k] : 1) * weights_[j] * weights_[i];
          use(weight, ((z + k) * layout_.height + y + j) * layout_.width + x + i);
        }
      }
    }
  }

  double at(const std::vector<double>& r, const std::vector<double>& c, std::size_t z, std::size_t y,
            std::size_t x) const {
    double mean_r = 0, mean_c = 0, var_r = 0, var_c = 0, covariance = 0;
    each(z, y, x, [&](double weight, std::size_t i) { mean_r += weight * r[i], mean_c += weight * c[i]; });
    each(z, y, x, [&](double weight, std::size_t i) {
      const double step_r = r[i] - mean_r, step_c = c[i] - mean_c;
      var_r += weight * step_r * step_r;
      var_c += weight * step_c * step_c;
      covariance += weight * step_r * step_c;
    });
    const double sample = constants_.sample;
    return similarity(mean_r, mean_c, sample * var_r, sample * var_c, sample * covariance, constants_);
  }

  Layout layout_;
  const std::vector<double>& weights_;
  Constants constants_;
  std::size_t depth_;
};

double mean_similarity(const Tensor& reference, const Tensor& candidate, const SsimOptions& options, double range) {
  const Layout layout = layout_of(reference.shape, options);
  const std::vector<double> weights = weights_of(options);
  const double n = std::pow(static_cast<double>(weights.size()), options.dimensions);
  const Constants constants{options.k1 * options.k1, options.k2 * options.k2,
                            options.sample_covariance ? n / (n - 1) : 1};
  const OneImage one(layout, weights, constants, options.dimensions == 3);
  double sum = 0;
  for (std::size_t image = 0; image < layout.images; ++image) {
    for (std::size_t channel = 0; channel < layout.channels; ++channel) {
      sum +=
          one.mean(pixels(reference, layout, image, channel, range), pixels(candidate, layout, image, channel, range));
    }
  }
  return sum / static_cast<double>(layout.images * layout.channels);
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
                           ? fmt::format("data range: wanted a number above 0, got {}", range)
                           : std::string("the reference is constant and has no data range: give the largest value that "
                                         "there can be less the smallest"));
  }
  return mean_similarity(reference, candidate, options, range);
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
