// Structural similarity of two images or volumes (Wang, Bovik, Sheikh & Simoncelli 2004, "Image quality assessment:
// from error visibility to structural similarity", IEEE Trans. Image Process. 13(4)).
#pragma once

#include <optional>

#include "infermeter/data/tensor.hpp"
#include "infermeter/diagnostics/result.hpp"

namespace infermeter {

enum class SsimWindow {
  uniform,   // a square or cube of `size` (7)
  gaussian,  // standard deviation 1.5, cut at 3.5 of them: 11 wide, as in the paper
};

struct SsimOptions {
  int dimensions = 2;  // of one image: 2, or 3 for volumes; the last ones of the shape, less the channels
  // Are the channels the last axis, behind the image's? Otherwise whatever axes stand before the image's are images of
  // their own (batch, channels), and the result is the mean over them.
  bool channels_last = false;
  SsimWindow window = SsimWindow::uniform;
  int size = 7;  // of the uniform window: odd, at least 3, at most the image's shortest side
  // The largest value that there can be less the smallest; nullopt: of the reference, over the whole tensor.
  std::optional<double> data_range{};
  // n - 1 instead of n below variances: as scikit-image does by default. The paper has n.
  bool sample_covariance = true;
  double k1 = 0.01, k2 = 0.03;
};

// Mean over all windows that lie inside of the image, over images and channels; in [-1, 1]. 1 for equal images,
// constant ones included. NaN where a NaN or an infinity is in either. Errors (usage): shapes or types that differ,
// fewer axes than `dimensions`, a window that is larger than the image or even, a data range that is not positive while
// they differ, complex numbers, text.
[[nodiscard]] Result<double> structural_similarity(const Tensor& reference, const Tensor& candidate,
                                                   const SsimOptions& options);

// How an output's shape is read as images where nobody says: [N, C, H, W] two-dimensional, [N, C, D, H, W]
// three-dimensional, of floating-point numbers, all sides at least 7; nullopt: it is no image.
[[nodiscard]] std::optional<SsimOptions> image_like(DType dtype, const Shape& shape);

}  // namespace infermeter
