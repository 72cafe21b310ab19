#include "infermeter/data/distribution.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "infermeter/text/quoted.hpp"

namespace infermeter {
namespace {

using DistributionKind = Distribution::Kind;

template <class T>
std::optional<T> number(std::string_view text) {
  T out{};
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), out);
  if (status != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return out;
}

// "A:B" as two numbers.
template <class T>
std::optional<std::pair<T, T>> two_numbers(std::string_view text) {
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos) return std::nullopt;
  const auto first = number<T>(text.substr(0, colon));
  const auto second = number<T>(text.substr(colon + 1));
  if (!first || !second) return std::nullopt;
  return std::pair{*first, *second};
}

Error refused(std::string_view text, std::string_view why) {
  return usage_error(fmt::format(
      "the distribution {} {}; allowed are uniform:LOW:HIGH, normal:MEAN:SD, integers:LOW:HIGH, zeros and ones",
      in_quotes(text), why));
}

Result<Distribution> parse_real(std::string_view text, DistributionKind kind, std::string_view arguments) {
  const auto pair = two_numbers<double>(arguments);
  if (!pair || !std::isfinite(pair->first) || !std::isfinite(pair->second)) {
    return refused(text, "does not have two numbers");
  }
  if (kind == DistributionKind::uniform && !(pair->first < pair->second)) return refused(text, "needs LOW below HIGH");
  if (kind == DistributionKind::uniform && !std::isfinite(pair->second - pair->first))
    return refused(text, "is too wide");
  if (kind == DistributionKind::normal && !(pair->second > 0)) return refused(text, "needs SD above 0");
  return Distribution{.kind = kind, .low = pair->first, .high = pair->second};
}

Result<Distribution> parse_integers(std::string_view text, std::string_view arguments) {
  const auto pair = two_numbers<std::int64_t>(arguments);
  if (!pair) return refused(text, "does not have two whole numbers");
  if (pair->first > pair->second) return refused(text, "needs LOW not above HIGH");
  return Distribution{.kind = DistributionKind::integers, .lowest = pair->first, .highest = pair->second};
}

Distribution integers(std::int64_t lowest, std::int64_t highest) {
  return {.kind = DistributionKind::integers, .lowest = lowest, .highest = highest};
}

struct IntegerRange {
  std::int64_t lowest;
  std::int64_t highest;
};

IntegerRange range_of(DType dtype) {
  const int bits = bits_of(dtype);
  switch (dtype) {
    case DType::boolean: return {0, 1};
    case DType::uint64: return {0, std::numeric_limits<std::int64_t>::max()};
    case DType::uint4:
    case DType::uint8:
    case DType::uint16:
    case DType::uint32: return {0, (std::int64_t{1} << bits) - 1};
    case DType::int64: return {std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max()};
    default: return {-(std::int64_t{1} << (bits - 1)), (std::int64_t{1} << (bits - 1)) - 1};
  }
}

double largest_of(DType dtype) {
  switch (dtype) {
    case DType::float16: return 65504;
    case DType::bfloat16: return 3.3895313892515355e38;
    case DType::float64:
    case DType::complex128: return std::numeric_limits<double>::max();
    case DType::float8e4m3fn: return 448;
    case DType::float8e4m3fnuz: return 240;
    case DType::float8e5m2:
    case DType::float8e5m2fnuz: return 57344;
    case DType::float4e2m1: return 6;
    default: return static_cast<double>(std::numeric_limits<float>::max());
  }
}

bool float_range_fits(const Distribution& distribution, double largest) {
  switch (distribution.kind) {
    case DistributionKind::uniform: return distribution.low >= -largest && distribution.high <= largest;
    // No draw is farther out than 16.1 standard deviations (synthetic.cpp).
    case DistributionKind::normal: return std::fabs(distribution.low) + 17 * distribution.high <= largest;
    case DistributionKind::integers:
      return static_cast<double>(distribution.lowest) >= -largest &&
             static_cast<double>(distribution.highest) <= largest;
    default: return true;
  }
}

bool contains(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

}  // namespace

Result<Distribution> parse_distribution(std::string_view text) {
  const std::size_t colon = text.find(':');
  const std::string_view name = text.substr(0, colon);
  const std::string_view arguments = colon == std::string_view::npos ? std::string_view{} : text.substr(colon + 1);
  if (name == "uniform") return parse_real(text, DistributionKind::uniform, arguments);
  if (name == "normal") return parse_real(text, DistributionKind::normal, arguments);
  if (name == "integers") return parse_integers(text, arguments);
  if (text == "zeros") return Distribution{.kind = DistributionKind::zeros};
  if (text == "ones") return Distribution{.kind = DistributionKind::ones};
  return refused(text, "is not known");
}

Distribution default_distribution(DType dtype, std::string_view input_name) {
  if (dtype == DType::boolean) return integers(0, 1);
  if (dtype == DType::int4) return integers(0, 7);
  if (!is_integer(dtype)) return {};
  if (dtype != DType::int64 && dtype != DType::int32) return integers(0, 9);
  // An embedding has only so many rows: two for segments; a mask of zeros would switch everything off.
  if (contains(input_name, "type_ids") || contains(input_name, "segment")) return integers(0, 1);
  if (contains(input_name, "attention_mask")) return {.kind = DistributionKind::ones};
  const bool token_ids = contains(input_name, "_ids") || contains(input_name, "token");
  return token_ids && dtype == DType::int64 ? integers(0, 999) : integers(0, 9);
}

bool is_float(DType dtype) {
  switch (dtype) {
    case DType::float32:
    case DType::float64:
    case DType::float16:
    case DType::bfloat16:
    case DType::complex64:
    case DType::complex128:
    case DType::float8e4m3fn:
    case DType::float8e4m3fnuz:
    case DType::float8e5m2:
    case DType::float8e5m2fnuz:
    case DType::float4e2m1: return true;
    default: return false;
  }
}

bool is_integer(DType dtype) { return !is_float(dtype) && dtype != DType::string && dtype != DType::undefined; }

bool suits(const Distribution& distribution, DType dtype) {
  if (is_float(dtype)) return true;
  return is_integer(dtype) && distribution.kind != DistributionKind::uniform &&
         distribution.kind != DistributionKind::normal;
}

Result<Done> check_range(const Distribution& distribution, DType dtype) {
  bool fits = true;
  if (is_float(dtype)) {
    fits = float_range_fits(distribution, largest_of(dtype));
  } else if (distribution.kind == DistributionKind::integers) {
    const IntegerRange range = range_of(dtype);
    fits = distribution.lowest >= range.lowest && distribution.highest <= range.highest;
  }
  if (!fits) return usage_error(fmt::format("the distribution's range does not fit the type {}", to_string(dtype)));
  return Done{};
}

}  // namespace infermeter
