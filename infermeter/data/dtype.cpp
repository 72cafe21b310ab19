#include "infermeter/data/dtype.hpp"

#include <array>

namespace infermeter {
namespace {

struct Entry {
  std::string_view name;
  int bits;
};

// Indexed by the number of the type.
constexpr std::array<Entry, 24> kTypes{{
    {"undefined", 0},      {"float32", 32},  {"uint8", 8},        {"int8", 8},           {"uint16", 16},
    {"int16", 16},         {"int32", 32},    {"int64", 64},       {"string", 0},         {"bool", 8},
    {"float16", 16},       {"float64", 64},  {"uint32", 32},      {"uint64", 64},        {"complex64", 64},
    {"complex128", 128},   {"bfloat16", 16}, {"float8e4m3fn", 8}, {"float8e4m3fnuz", 8}, {"float8e5m2", 8},
    {"float8e5m2fnuz", 8}, {"uint4", 4},     {"int4", 4},         {"float4e2m1", 4},
}};

bool known(DType dtype) {
  const auto number = static_cast<std::int32_t>(dtype);
  return number >= 0 && static_cast<std::size_t>(number) < kTypes.size();
}

const Entry& entry(DType dtype) { return kTypes[known(dtype) ? static_cast<std::size_t>(dtype) : 0]; }

}  // namespace

std::string_view to_string(DType dtype) { return entry(dtype).name; }

std::optional<DType> dtype_from_string(std::string_view name) {
  for (std::size_t i = 1; i < kTypes.size(); ++i) {
    if (kTypes[i].name == name) return static_cast<DType>(i);
  }
  return std::nullopt;
}

int bits_of(DType dtype) { return entry(dtype).bits; }

std::size_t bytes_of(DType dtype, std::size_t count) {
  const auto bits = static_cast<std::size_t>(bits_of(dtype));
  if (bits >= 8) return count * (bits / 8);
  return count / 8 * bits + (count % 8 * bits + 7) / 8;  // in this order it cannot overflow
}

}  // namespace infermeter
