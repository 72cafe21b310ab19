#include "outputs.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <random>

namespace infermeter {
namespace {

// FNV-1a over 8 bytes at a time: any change of a byte changes the outputs. Constants:
// http://www.isthe.com/chongo/tech/comp/fnv
std::uint64_t hash_bytes(std::uint64_t hash, InputBytes bytes) {
  constexpr std::uint64_t prime = 0x100000001B3;
  while (!bytes.empty()) {
    std::uint64_t word = 0;
    const std::size_t size = std::min(bytes.size(), sizeof word);
    std::memcpy(&word, bytes.data(), size);
    hash = (hash ^ word) * prime;
    hash ^= hash >> 29;
    bytes = bytes.subspan(size);
  }
  return hash;
}

InputBytes share(InputBytes bytes, std::size_t item, std::size_t batch) {
  if (batch == 0 || bytes.size() % batch != 0) return bytes;
  return bytes.subspan(item * (bytes.size() / batch), bytes.size() / batch);
}

// Uniform in [-1, 1).
float unit_float(std::uint64_t bits) { return static_cast<float>(static_cast<double>(bits >> 11) * 0x1p-52 - 1.0); }

void fill_item(std::span<float> row, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  for (float& value : row) value = unit_float(random());
}

void spoil(std::span<float> values, OutputKind kind) {
  using Limits = std::numeric_limits<float>;
  if (values.empty()) return;
  if (kind == OutputKind::nan) values[0] = Limits::quiet_NaN();
  if (kind == OutputKind::inf) values[0] = Limits::infinity();
  if (kind == OutputKind::permuted) std::reverse(values.begin(), values.end());
}

float disturbed(float value, const Outputs& outputs) {
  return static_cast<float>(value + outputs.error * (outputs.error_is_relative ? value : 1.0f));
}

}  // namespace

void OutputBuffer::fill(const Outputs& outputs, std::span<const InputBytes> inputs, std::int64_t batch) {
  const OutputKind kind = outputs.kind;
  const auto items = static_cast<std::size_t>(std::max<std::int64_t>(batch, 0));
  const auto width = static_cast<std::size_t>(outputs_per_item - (kind == OutputKind::wrong_shape ? 1 : 0));
  shape_ = {batch, static_cast<std::int64_t>(width)};
  floats_.assign(items * width, kind == OutputKind::ones ? 1.0f : kind == OutputKind::negative_zero ? -0.0f : 0.0f);
  const bool constant = kind == OutputKind::zeros || kind == OutputKind::ones || kind == OutputKind::negative_zero;
  for (std::size_t item = 0; item < items && !constant; ++item) {
    std::uint64_t seed = 0xCBF29CE484222325;
    for (const InputBytes& input : inputs) seed = hash_bytes(seed, share(input, item, items));
    if (kind == OutputKind::random) seed = std::random_device{}();
    fill_item(std::span(floats_).subspan(item * width, width), seed);
  }
  if (outputs.error != 0) {
    for (float& value : floats_) value = disturbed(value, outputs);
  }
  spoil(floats_, kind);
  doubles_.clear();
  if (kind == OutputKind::wrong_dtype) doubles_.assign(floats_.begin(), floats_.end());
}

imb_value OutputBuffer::view() const {
  imb_value value{};
  value.kind = IMB_TENSOR;
  value.rank = shape_.size();
  value.shape = shape_.data();
  value.dtype = doubles_.empty() ? IMB_FLOAT32 : IMB_FLOAT64;
  value.data = doubles_.empty() ? static_cast<const void*>(floats_.data()) : doubles_.data();
  value.size_bytes = doubles_.empty() ? floats_.size() * sizeof(float) : doubles_.size() * sizeof(double);
  return value;
}

}  // namespace infermeter
