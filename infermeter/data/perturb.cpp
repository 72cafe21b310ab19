#include "infermeter/data/perturb.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <span>

#include "infermeter/data/arrays/store_numbers.hpp"
#include "infermeter/data/distribution.hpp"
#include "infermeter/data/synthetic.hpp"

namespace infermeter {
namespace {

// Streams of noise, apart from those that synthetic inputs are drawn from.
constexpr std::uint64_t kNoiseStream = std::uint64_t{1} << 32;
constexpr std::int64_t kMostChannelsBehind = 4;  // red, green, blue, alpha

bool is_complex(DType dtype) { return dtype == DType::complex64 || dtype == DType::complex128; }

std::size_t product(std::span<const std::int64_t> dimensions) { return element_count(dimensions).value_or(0); }

// Every number of the tensor; parts of complex ones in turn.
std::vector<double> numbers_of(const Tensor& tensor) {
  auto all = to_doubles(tensor);
  std::vector<double> numbers = all.ok() ? std::move(all).value() : std::vector<double>{};
  if (!is_complex(tensor.dtype)) return numbers;
  std::vector<double> in_turn(numbers.size());
  const std::size_t half = numbers.size() / 2;
  for (std::size_t i = 0; i < half; ++i) in_turn[2 * i] = numbers[i], in_turn[2 * i + 1] = numbers[half + i];
  return in_turn;
}

struct Channels {
  std::size_t count = 1, inner = 1;
};

Channels channels_of(const Tensor& tensor) {
  const Shape& shape = tensor.shape;
  const std::size_t parts = is_complex(tensor.dtype) ? 2 : 1;
  if (shape.size() < 3 || product(shape) == 0) return {1, parts};
  if (shape.size() > 3 && shape.back() <= kMostChannelsBehind && shape[1] > kMostChannelsBehind) {
    return {static_cast<std::size_t>(shape.back()), parts};
  }
  return {static_cast<std::size_t>(shape[1]), parts * product(std::span(shape).subspan(2))};
}

// A number that is finite in the type that it is stored in, and inside of the range there too.
double stored_value(double value, const ValidRange& range) { return std::clamp(value, range.low, range.high); }

Tensor stored(const Tensor& like, std::span<const double> numbers) {
  std::byte* out = nullptr;
  Tensor tensor{like.dtype, like.shape, Bytes::allocate(like.data.size(), &out), {}};
  if (is_float(like.dtype)) {
    store_floats(like.dtype, numbers, out, 0);
  } else {
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      store_integer(like.dtype, static_cast<std::int64_t>(numbers[i]), out, i);
    }
  }
  return tensor;
}

}  // namespace

bool takes_noise(DType dtype, std::string_view input_name) {
  constexpr std::array<std::string_view, 6> kNames = {"mask", "ids", "token", "segment", "class", "index"};
  const auto is_in_name = [&](std::string_view part) { return input_name.find(part) != std::string_view::npos; };
  switch (dtype) {
    case DType::undefined:
    case DType::string:
    case DType::boolean:
    case DType::int32:
    case DType::uint32:
    case DType::int64:
    case DType::uint64: return false;
    default: return std::none_of(kNames.begin(), kNames.end(), is_in_name);
  }
}

Perturber::Perturber(Tensor base, const PerturbOptions& options) : base_(std::move(base)), options_(options) {
  const Channels channels = channels_of(base_);
  inner_ = channels.inner;
  if (options.range) {
    ranges_.push_back(*options.range);
    return;
  }
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  ranges_.assign(channels.count, {kInfinity, -kInfinity});
  const std::vector<double> numbers = numbers_of(base_);
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    if (!std::isfinite(numbers[i])) continue;
    ValidRange& range = ranges_[channel_of(i)];
    range = {std::min(range.low, numbers[i]), std::max(range.high, numbers[i])};
  }
}

Tensor Perturber::operator()(std::uint64_t item) const {
  std::vector<double> numbers = numbers_of(base_);
  const Distribution standard{.kind = Distribution::Kind::normal, .low = 0, .high = 1};
  const Tensor noise = synthetic_numbers(DType::float32, {static_cast<std::int64_t>(numbers.size())}, standard,
                                         options_.seed, options_.input_index + kNoiseStream, item);
  const std::span<const float> draws = noise.as<float>();
  const bool whole = !is_float(base_.dtype);
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const ValidRange& range = ranges_[channel_of(i)];
    if (!std::isfinite(numbers[i]) || !(range.high > range.low)) continue;
    double deviation = options_.noise * (range.high - range.low);
    if (whole && options_.noise > 0) deviation = std::max(deviation, 0.5);
    const double moved = numbers[i] + deviation * static_cast<double>(draws[i]);
    numbers[i] = stored_value(whole ? std::nearbyint(moved) : moved, range);
  }
  return stored(base_, numbers);
}

}  // namespace infermeter
