#include "datatypes.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>

namespace infermeter {
namespace {

constexpr std::array<std::pair<std::string_view, imb_dtype>, 14> datatypes = {{{"BOOL", IMB_BOOL},
                                                                               {"UINT8", IMB_UINT8},
                                                                               {"UINT16", IMB_UINT16},
                                                                               {"UINT32", IMB_UINT32},
                                                                               {"UINT64", IMB_UINT64},
                                                                               {"INT8", IMB_INT8},
                                                                               {"INT16", IMB_INT16},
                                                                               {"INT32", IMB_INT32},
                                                                               {"INT64", IMB_INT64},
                                                                               {"FP16", IMB_FLOAT16},
                                                                               {"FP32", IMB_FLOAT32},
                                                                               {"FP64", IMB_FLOAT64},
                                                                               {"BF16", IMB_BFLOAT16},
                                                                               {"BYTES", IMB_STRING}}};

double real_of(const JsonNumber& number) {
  switch (number.kind) {
    case JsonNumber::Kind::whole: return static_cast<double>(number.whole);
    case JsonNumber::Kind::natural: return static_cast<double>(number.natural);
    case JsonNumber::Kind::real: return number.real;
    case JsonNumber::Kind::none: break;
  }
  return std::numeric_limits<double>::quiet_NaN();
}

template <class Element>
void put(Element element, unsigned char* place) {
  std::memcpy(place, &element, sizeof element);
}

template <class Element>
Element get(const unsigned char* place) {
  Element element;
  std::memcpy(&element, place, sizeof element);
  return element;
}

template <class Integer>
bool put_integer(const JsonNumber& number, unsigned char* place) {
  if (number.kind == JsonNumber::Kind::real) {     // 3.0 is a whole number all the same
    constexpr double beyond = 9007199254740992.0;  // 2^53
    const double real = number.real;
    if (!(std::abs(real) <= beyond) || std::trunc(real) != real) return false;
    const auto whole = static_cast<std::int64_t>(real);
    if (!std::in_range<Integer>(whole)) return false;
    return put(static_cast<Integer>(whole), place), true;
  }
  if (number.kind == JsonNumber::Kind::natural) {
    if (!std::in_range<Integer>(number.natural)) return false;
    return put(static_cast<Integer>(number.natural), place), true;
  }
  if (number.kind != JsonNumber::Kind::whole || !std::in_range<Integer>(number.whole)) return false;
  return put(static_cast<Integer>(number.whole), place), true;
}

// To the nearest, ties to even; too large ones become infinite.
std::uint16_t half_from(double value) {
  const auto sign = static_cast<std::uint16_t>(std::signbit(value) ? 0x8000U : 0U);
  const double size = std::abs(value);
  if (std::isnan(value)) return 0x7E00;
  if (size >= 65520) return static_cast<std::uint16_t>(sign | 0x7C00U);
  int exponent = 0;
  std::frexp(size, &exponent);                                      // size = f * 2^exponent, f in [0.5, 1)
  const int scale = size == 0 ? -14 : std::max(exponent - 1, -14);  // of the last place: 2^(scale - 10)
  const auto places = static_cast<unsigned>(std::nearbyint(std::ldexp(size, 10 - scale)));  // 0 … 2048
  // A normal number has its leading one at place 10, which counts one up in the exponent's field.
  return static_cast<std::uint16_t>(sign + ((static_cast<unsigned>(scale + 14) << 10U) + places));
}

double half_to(std::uint16_t half) {
  const double sign = (half & 0x8000U) != 0 ? -1 : 1;
  const unsigned exponent = (half >> 10U) & 0x1FU, places = half & 0x3FFU;
  if (exponent == 0x1F) return places != 0 ? std::numeric_limits<double>::quiet_NaN() : sign * HUGE_VAL;
  if (exponent == 0) return sign * std::ldexp(places, -24);
  return sign * std::ldexp(places + 1024U, static_cast<int>(exponent) - 25);
}

std::uint16_t bfloat_from(double value) {
  const auto single = static_cast<float>(value);
  const auto bits = std::bit_cast<std::uint32_t>(single);
  if (std::isnan(single)) return 0x7FC0;
  return static_cast<std::uint16_t>((bits + 0x7FFFU + ((bits >> 16U) & 1U)) >> 16U);
}

float bfloat_to(std::uint16_t bfloat) { return std::bit_cast<float>(std::uint32_t{bfloat} << 16U); }

template <class Number>
bool append_number(Number number, std::string& json) {
  if constexpr (std::is_floating_point_v<Number>) {
    if (!std::isfinite(number)) return false;
    if (number == 0 && std::signbit(number)) return json += "-0.0", true;  // "-0" is a whole number
  }
  std::array<char, 32> text{};
  const auto [end, error] = std::to_chars(text.data(), text.data() + text.size(), number);
  json.append(text.data(), end);
  return error == std::errc{};
}

}  // namespace

std::optional<imb_dtype> dtype_from_datatype(std::string_view datatype) {
  for (const auto& [name, dtype] : datatypes)
    if (name == datatype) return dtype;
  return std::nullopt;
}

std::optional<std::string_view> datatype_of(imb_dtype dtype) {
  for (const auto& [name, known] : datatypes)
    if (known == dtype) return name;
  return std::nullopt;
}

bool put_element(imb_dtype dtype, const JsonNumber& number, unsigned char* place) {
  switch (dtype) {
    case IMB_BOOL: {
      std::uint8_t truth = 0;
      if (!put_integer<std::uint8_t>(number, &truth) || truth > 1) return false;
      return put(truth, place), true;
    }
    case IMB_UINT8: return put_integer<std::uint8_t>(number, place);
    case IMB_UINT16: return put_integer<std::uint16_t>(number, place);
    case IMB_UINT32: return put_integer<std::uint32_t>(number, place);
    case IMB_UINT64: return put_integer<std::uint64_t>(number, place);
    case IMB_INT8: return put_integer<std::int8_t>(number, place);
    case IMB_INT16: return put_integer<std::int16_t>(number, place);
    case IMB_INT32: return put_integer<std::int32_t>(number, place);
    case IMB_INT64: return put_integer<std::int64_t>(number, place);
    case IMB_FLOAT16: return put(half_from(real_of(number)), place), true;
    case IMB_BFLOAT16: return put(bfloat_from(real_of(number)), place), true;
    case IMB_FLOAT32: return put(static_cast<float>(real_of(number)), place), true;
    case IMB_FLOAT64: return put(real_of(number), place), true;
    default: return false;
  }
}

bool append_element(imb_dtype dtype, const unsigned char* place, std::string& json) {
  switch (dtype) {
    case IMB_BOOL: return json += *place != 0 ? "true" : "false", true;
    case IMB_UINT8: return append_number(get<std::uint8_t>(place), json);
    case IMB_UINT16: return append_number(get<std::uint16_t>(place), json);
    case IMB_UINT32: return append_number(get<std::uint32_t>(place), json);
    case IMB_UINT64: return append_number(get<std::uint64_t>(place), json);
    case IMB_INT8: return append_number(get<std::int8_t>(place), json);
    case IMB_INT16: return append_number(get<std::int16_t>(place), json);
    case IMB_INT32: return append_number(get<std::int32_t>(place), json);
    case IMB_INT64: return append_number(get<std::int64_t>(place), json);
    case IMB_FLOAT16: return append_number(half_to(get<std::uint16_t>(place)), json);
    case IMB_BFLOAT16: return append_number(bfloat_to(get<std::uint16_t>(place)), json);
    case IMB_FLOAT32: return append_number(get<float>(place), json);
    case IMB_FLOAT64: return append_number(get<double>(place), json);
    default: return false;
  }
}

}  // namespace infermeter
