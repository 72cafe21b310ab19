// Which size a dynamic dimension of an input gets: by its place ("input.2"), by its name ("height"), or, if it is the
// batch, the batch size; in that order. Which one is the batch, the host says.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "infermeter_backend.h"
#include "sdk/abi_edge.hpp"
#include "sdk/onnx_declaration.hpp"
#include "sdk/options.hpp"
#include "sdk/port.hpp"

namespace infermeter {

inline std::string place_of(const std::string& input, std::size_t axis) { return input + "." + std::to_string(axis); }

inline std::int64_t size_from(const imb_pair& dimension) {
  try {
    return parse_integer<std::int64_t>(dimension.value, 1, INT32_MAX);
  } catch (const std::invalid_argument&) {
    fail(IMB_INVALID_ARGUMENT, "dimension " + std::string(dimension.key) + "=" + dimension.value +
                                   " is not a size; give a whole number of at least 1");
  }
}

inline std::optional<std::int64_t> asked_size(const imb_load& load, const std::string& key) {
  for (std::size_t i = 0; i < load.dimension_count && !key.empty(); ++i) {
    if (key == load.dimensions[i].key) return size_from(load.dimensions[i]);
  }
  return std::nullopt;
}

// The batch axis of each input; -1: it has none.
inline std::vector<std::int64_t> batch_axes(const imb_load& load, std::span<const DeclaredInput> inputs) {
  constexpr std::size_t size_with_axes = offsetof(imb_load, batch_axes_user) + sizeof(load.batch_axes_user);
  std::vector<std::int64_t> axes(inputs.size(), -1);
  if (load.struct_size < size_with_axes || load.batch_axes == nullptr) {
    for (std::size_t i = 0; i < inputs.size(); ++i) axes[i] = inputs[i].dimensions.empty() ? -1 : 0;
    return axes;
  }
  std::vector<std::unique_ptr<Port>> ports;
  std::vector<const imb_port*> views;
  for (const DeclaredInput& input : inputs) {
    PortFields fields{
        .name = input.name, .kind = input.kind, .rank_known = input.rank_known, .shape = {}, .dimension_names = {}};
    for (const DeclaredDimension& dimension : input.dimensions) {
      fields.shape.push_back(dimension.value);
      fields.dimension_names.push_back(dimension.name);
    }
    views.push_back(ports.emplace_back(std::make_unique<Port>(std::move(fields)))->view());
  }
  std::array<char, 1024> words{};
  const imb_status status = load.batch_axes(load.batch_axes_user, views.size(), views.data(), axes.data(),
                                            imb_message{words.data(), words.size()});
  if (status != IMB_OK) fail(status, words.data());
  return axes;
}

// None: it stays dynamic. `name` may be empty.
inline std::optional<std::int64_t> size_of(const imb_load& load, const std::string& input, std::size_t axis,
                                           const std::string& name, std::int64_t batch_axis) {
  if (const auto size = asked_size(load, place_of(input, axis))) return size;
  if (const auto size = asked_size(load, name)) return size;
  const bool is_batch = static_cast<std::int64_t>(axis) == batch_axis && load.batch > 0;
  return is_batch ? std::optional(load.batch) : std::nullopt;
}

// Gives the port's dynamic dimensions the sizes that were asked for; whether one got a size.
inline bool fix_dimensions(PortFields& port, const imb_load& load, std::int64_t batch_axis) {
  bool changed = false;
  for (std::size_t axis = 0; axis < port.shape.size(); ++axis) {
    if (port.shape[axis] >= 0) continue;
    const auto size = size_of(load, port.name, axis, port.dimension_names[axis], batch_axis);
    if (size) port.shape[axis] = *size;
    changed = changed || size.has_value();
  }
  return changed;
}

inline DeclaredInput declared(const PortFields& port) {
  DeclaredInput input{.name = port.name, .dimensions = {}, .kind = port.kind, .rank_known = port.rank_known};
  for (std::size_t axis = 0; axis < port.shape.size(); ++axis) {
    input.dimensions.push_back({port.shape[axis], port.dimension_names[axis]});
  }
  return input;
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
