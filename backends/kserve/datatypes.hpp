// Element types: their names in the protocol, and numbers of JSON as elements.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "infermeter_backend.h"

namespace infermeter {

// "FP32"; None: the protocol has no such type.
[[nodiscard]] std::optional<imb_dtype> dtype_from_datatype(std::string_view datatype);
[[nodiscard]] std::optional<std::string_view> datatype_of(imb_dtype dtype);

// Of what a server may tell.
inline constexpr std::size_t most_tensors = 1024, most_dimensions = 16, longest_name = 512;

// A number as it stands in JSON: whole numbers are exact.
struct JsonNumber {
  enum class Kind : std::uint8_t { none, whole, natural, real } kind = Kind::none;
  union {
    std::int64_t whole;
    std::uint64_t natural;
    double real;
  };
};

// Writes one element; false: the number does not fit the type. `kind` none is NaN, which JSON does not have.
[[nodiscard]] bool put_element(imb_dtype dtype, const JsonNumber& number, unsigned char* place);
// Appends one element as JSON. False: it is not finite, which JSON does not have.
[[nodiscard]] bool append_element(imb_dtype dtype, const unsigned char* place, std::string& json);

}  // namespace infermeter
