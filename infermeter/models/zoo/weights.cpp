#include "infermeter/models/zoo/weights.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <vector>

#include "infermeter/diagnostics/check.hpp"
#include "infermeter/text/hash.hpp"

namespace infermeter {
namespace {

static_assert(std::endian::native == std::endian::little, "raw_data of ONNX is little-endian");
static_assert(sizeof(float) == 4);

constexpr std::uint64_t zoo_seed = 0x696e6665726d6574;  // "infermet"
constexpr std::size_t block_elements = 4096;
constexpr std::size_t tile = 64;

std::uint64_t seed_of(std::string_view name) {
  Fnv1a hash(Fnv1a::kBasis ^ zoo_seed);
  hash.add(name);
  return hash.value();
}

// SplitMix64 at position `index` of its stream.
std::uint64_t hash_at(std::uint64_t seed, std::uint64_t index) { return split_mix(seed + (index + 1) * kSplitMixStep); }

// The sum of four uniform integers of 0 … 65535, centred: mean 0, variance 4 · (65536² - 1) / 12.
std::int32_t centred_sum(std::uint64_t bits) {
  const std::uint64_t sum = (bits & 0xffff) + ((bits >> 16) & 0xffff) + ((bits >> 32) & 0xffff) + (bits >> 48);
  return static_cast<std::int32_t>(sum) - 2 * 65535;
}
const double sum_sd = std::sqrt((65536.0 * 65536.0 - 1.0) / 3.0);

void take_out_row_means(std::span<std::int32_t> integers, std::size_t row) {
  for (std::size_t begin = 0; begin + row <= integers.size(); begin += row) {
    const auto part = integers.subspan(begin, row);
    std::int64_t sum = 0;
    for (const auto value : part) sum += value;
    const auto mean = static_cast<std::int32_t>(sum / static_cast<std::int64_t>(row));
    for (auto& value : part) value -= mean;
  }
}

// Integers of magnitude below 2^24 are exact as float: one rounding, in the multiplication.
void write_scaled(std::span<const std::int32_t> integers, std::int32_t offset, float scale, char* bytes) {
  for (std::size_t i = 0; i < integers.size(); ++i) {
    const float value = static_cast<float>(integers[i] + offset) * scale;
    std::memcpy(bytes + i * sizeof value, &value, sizeof value);
  }
}

}  // namespace

std::string draw_weights(std::string_view tensor, std::size_t count, const Draw& draw) {
  const std::uint64_t seed = seed_of(tensor);
  const double unit = draw.sd / sum_sd;
  const auto offset = static_cast<std::int32_t>(draw.mean / unit);
  INFERMETER_CHECK(std::abs(offset) < (1 << 23));
  const std::size_t row = draw.zero_sum_row;
  INFERMETER_CHECK(row == 0 || count % row == 0);
  const std::size_t block = row == 0 ? block_elements : std::max<std::size_t>(1, block_elements / row) * row;
  std::string bytes(count * sizeof(float), '\0');
  std::vector<std::int32_t> integers;
  for (std::size_t begin = 0; begin < count; begin += block) {
    integers.resize(std::min(block, count - begin));
    for (std::size_t i = 0; i < integers.size(); ++i) integers[i] = centred_sum(hash_at(seed, begin + i));
    if (row != 0) take_out_row_means(integers, row);
    write_scaled(integers, offset, static_cast<float>(unit), bytes.data() + begin * sizeof(float));
  }
  return bytes;
}

std::string transposed(std::string_view matrix, std::size_t rows, std::size_t columns) {
  constexpr std::size_t size = sizeof(float);
  INFERMETER_CHECK(matrix.size() == rows * columns * size);
  std::string result(matrix.size(), '\0');
  for (std::size_t r0 = 0; r0 < rows; r0 += tile) {
    for (std::size_t c0 = 0; c0 < columns; c0 += tile) {
      for (std::size_t r = r0; r < std::min(r0 + tile, rows); ++r) {
        for (std::size_t c = c0; c < std::min(c0 + tile, columns); ++c) {
          std::memcpy(result.data() + (c * rows + r) * size, matrix.data() + (r * columns + c) * size, size);
        }
      }
    }
  }
  return result;
}

}  // namespace infermeter
