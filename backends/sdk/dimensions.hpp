// Which size a dynamic dimension of an input gets: by its place ("input.2"), by its name ("height"), or, if it is the
// first, the batch size; in that order.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <stdexcept>
#include <string>

#include "infermeter_backend.h"
#include "sdk/abi_edge.hpp"
#include "sdk/onnx_declaration.hpp"
#include "sdk/options.hpp"

namespace infermeter {

inline std::string place_of(const std::string& input, std::size_t axis) { return input + "." + std::to_string(axis); }

inline std::int64_t size_from(const imb_pair& dimension) {
  try {
    return parse_integer<std::int64_t>(dimension.value, 1, INT32_MAX);
  } catch (const std::invalid_argument&) {
    fail(IMB_INVALID_ARGUMENT, "dimension " + std::string(dimension.key) + "=" + dimension.value +
                                   " is no size; give a whole number of at least 1");
  }
}

inline std::optional<std::int64_t> asked_size(const imb_load& load, const std::string& key) {
  for (std::size_t i = 0; i < load.dimension_count && !key.empty(); ++i) {
    if (key == load.dimensions[i].key) return size_from(load.dimensions[i]);
  }
  return std::nullopt;
}

// None: it stays dynamic. `name` may be empty.
inline std::optional<std::int64_t> size_of(const imb_load& load, const std::string& input, std::size_t axis,
                                           const std::string& name) {
  if (const auto size = asked_size(load, place_of(input, axis))) return size;
  if (const auto size = asked_size(load, name)) return size;
  return axis == 0 && load.batch > 0 ? std::optional(load.batch) : std::nullopt;
}

// Refuses sizes for dimensions that the inputs do not have, and says which they have.
inline void check_dimensions(const imb_load& load, std::span<const DeclaredInput> inputs) {
  std::set<std::string> known, listed;
  for (const DeclaredInput& input : inputs) {
    for (std::size_t axis = 0; axis < input.dimensions.size(); ++axis) {
      const DeclaredDimension& dimension = input.dimensions[axis];
      if (dimension.value >= 0) continue;
      known.insert({place_of(input.name, axis), dimension.name});
      listed.insert(dimension.name.empty() ? place_of(input.name, axis) : dimension.name);
    }
  }
  std::string text;
  for (const std::string& name : listed) text += (text.empty() ? "" : ", ") + name;
  for (std::size_t i = 0; i < load.dimension_count; ++i) {
    const std::string key = load.dimensions[i].key;
    if (!key.empty() && known.contains(key)) continue;
    fail(IMB_INVALID_ARGUMENT,
         "the model has no dynamic dimension '" + key + "'; it has " + (text.empty() ? "none" : text));
  }
}

}  // namespace infermeter
