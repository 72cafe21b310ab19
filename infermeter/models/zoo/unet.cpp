// U-Net (Ronneberger et al. 2015, arXiv:1505.04597; Çiçek et al. 2016, arXiv:1606.06650 in three dimensions) with
// padded convolutions and batch normalisation: image in, image of the same size out, as in restoration and denoising.
//
// Names: encoder.I.conv1, .bn1, .conv2, .bn2 for I = 0 … levels-1 (the last one is the bottom), decoder.I.up and the
// same four for I = levels-2 … 0, head.
#include "infermeter/models/zoo/architectures.hpp"

namespace infermeter {
namespace {

constexpr float unet_epsilon = 1e-5F;

class UNet {
 public:
  UNet(const std::string& name, const Graph::Dimensions& size, std::int64_t first_width, int levels)
      : graph_(name, with_channel(size), with_channel(size)),
        rank_(size.size()),
        width_(first_width),
        levels_(levels) {}

  Graph build() {
    std::vector<std::string> skips;
    std::string x = "input";
    for (int i = 0; i < levels_; ++i) {
      const std::string name = "encoder." + std::to_string(i);
      if (i > 0) x = graph_.node("MaxPool", name + ".pool", {x}, {{"kernel_shape", twos()}, {"strides", twos()}});
      x = two_convolutions(name, x, i == 0 ? 1 : channels(i - 1), channels(i));
      skips.push_back(x);
    }
    for (int i = levels_ - 2; i >= 0; --i) x = up(i, x, skips[static_cast<std::size_t>(i)]);
    graph_.finish(head(x));
    return std::move(graph_);
  }

 private:
  static Graph::Dimensions with_channel(Graph::Dimensions size) {
    size.insert(size.begin(), 1);
    return size;
  }
  [[nodiscard]] std::int64_t channels(int level) const { return width_ << level; }
  [[nodiscard]] Graph::Dimensions twos() const { return Graph::Dimensions(rank_, 2); }
  [[nodiscard]] Graph::Dimensions weight_shape(std::int64_t first, std::int64_t second, std::int64_t kernel) const {
    Graph::Dimensions shape(rank_ + 2, kernel);
    shape[0] = first;
    shape[1] = second;
    return shape;
  }
  [[nodiscard]] std::int64_t kernel_volume(std::int64_t kernel) const {
    return rank_ == 2 ? kernel * kernel : kernel * kernel * kernel;
  }

  std::string convolution(const std::string& block, const std::string& number, const std::string& input,
                          std::int64_t in, std::int64_t out) {
    const std::string name = block + ".conv" + number;
    const std::int64_t fan_in = in * kernel_volume(3);
    // The very first sees the image itself: it may look at its level, not only at its edges.
    const std::size_t zero_sum = in == 1 ? 0 : static_cast<std::size_t>(fan_in);
    const auto weight = graph_.weight(name + ".weight", weight_shape(out, in, 3),
                                      {.sd = fan_in_sd(relu_gain, fan_in), .zero_sum_row = zero_sum});
    auto x = graph_.node("Conv", name, {input, weight},
                         {{"kernel_shape", Graph::Dimensions(rank_, 3)}, {"pads", Graph::Dimensions(2 * rank_, 1)}});
    x = graph_.batch_norm(block + ".bn" + number, x, out, 1, unet_epsilon);
    return graph_.node("Relu", block + ".relu" + number, {x});
  }

  std::string two_convolutions(const std::string& block, const std::string& input, std::int64_t in, std::int64_t out) {
    return convolution(block, "2", convolution(block, "1", input, in, out), out, out);
  }

  // Each output of the transposed convolution has one position of each input channel: its fan-in is the channels.
  std::string up(int level, const std::string& below, const std::string& skip) {
    const std::string name = "decoder." + std::to_string(level);
    const std::int64_t in = channels(level + 1);
    const std::int64_t out = channels(level);
    auto x = graph_.node("ConvTranspose", name + ".up",
                         {below, graph_.weight(name + ".up.weight", weight_shape(in, out, 2), {.sd = fan_in_sd(1, in)}),
                          graph_.weight(name + ".up.bias", {out}, {.sd = 0.05})},
                         {{"kernel_shape", twos()}, {"strides", twos()}});
    x = graph_.node("Concat", name + ".concat", {skip, x}, {{"axis", std::int64_t{1}}});
    return two_convolutions(name, x, 2 * out, out);
  }

  std::string head(const std::string& input) {
    const Draw draw{.sd = fan_in_sd(1, width_), .zero_sum_row = static_cast<std::size_t>(width_)};
    return graph_.node("Conv", "head",
                       {input, graph_.weight("head.weight", weight_shape(1, width_, 1), draw),
                        graph_.weight("head.bias", {1}, {.sd = 0.05})},
                       {{"kernel_shape", Graph::Dimensions(rank_, 1)}});
  }

  Graph graph_;
  std::size_t rank_;
  std::int64_t width_;
  int levels_;
};

}  // namespace

Graph make_unet2d() { return UNet("unet2d", {256, 256}, 16, 5).build(); }
Graph make_unet3d() { return UNet("unet3d", {32, 64, 64}, 8, 4).build(); }

}  // namespace infermeter
