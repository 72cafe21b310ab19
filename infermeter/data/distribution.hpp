// What synthetic numbers are drawn from.
#pragma once

#include <cstdint>
#include <string_view>

#include "infermeter/data/dtype.hpp"
#include "infermeter/diagnostics/result.hpp"

namespace infermeter {

struct Distribution {
  enum class Kind { uniform, normal, integers, zeros, ones };
  Kind kind = Kind::uniform;
  double low = -1;  // normal: the mean
  double high = 1;  // normal: the standard deviation
  std::int64_t lowest = 0;
  std::int64_t highest = 0;  // integers: inclusive
};

// "uniform:LOW:HIGH", "normal:MEAN:SD", "integers:LOW:HIGH", "zeros" or "ones".
[[nodiscard]] Result<Distribution> parse_distribution(std::string_view text);

// What an input gets that was given none. Token ids, segment ids and masks are known by their names.
[[nodiscard]] Distribution default_distribution(DType dtype, std::string_view input_name);

[[nodiscard]] bool is_float(DType dtype);    // complex ones too
[[nodiscard]] bool is_integer(DType dtype);  // bool too

// Whether numbers of that distribution can be of this type at all: no uniform or normal integers, no strings.
[[nodiscard]] bool suits(const Distribution& distribution, DType dtype);

// An error where the range has values that the type has not: integers:0:300 as uint8, uniform:0:1e6 as float16.
[[nodiscard]] Result<Done> check_range(const Distribution& distribution, DType dtype);

}  // namespace infermeter
