#include "input_shapes.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

#include "sdk/elements.hpp"
#include "sdk/options.hpp"

namespace infermeter {
namespace {

constexpr std::size_t most_shapes = 256, most_shape_dimensions = 32;

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (;;) {
    const std::size_t end = std::min(text.find(separator), text.size());
    parts.push_back(text.substr(0, end));
    if (end == text.size()) return parts;
    text.remove_prefix(end + 1);
  }
}

imb_dtype parse_dtype(std::string_view name) {
  for (const ElementType& type : element_types) {
    if (type.name == name && type.bits >= 8) return type.dtype;
  }
  throw std::invalid_argument("'" + std::string(name) + "' is not an element type");
}

std::int64_t parse_size(std::string_view text) {
  try {
    return parse_integer<std::int64_t>(text, 1, INT32_MAX);
  } catch (const std::invalid_argument&) {
    throw std::invalid_argument("'" + std::string(text) + "' is not a size; whole numbers from 1 are");
  }
}

InputShape parse_input_shape(std::string_view text) {
  InputShape shape;
  const std::size_t colon = text.find(':');
  if (colon != std::string_view::npos) shape.dtype = parse_dtype(text.substr(colon + 1));
  for (const std::string_view size : split(text.substr(0, colon), 'x')) shape.sizes.push_back(parse_size(size));
  if (shape.sizes.size() > most_shape_dimensions) throw std::invalid_argument("it has too many dimensions");
  return shape;
}

}  // namespace

std::vector<InputShape> parse_input_shapes(std::string_view text) {
  std::vector<InputShape> shapes;
  for (const std::string_view one : split(text, ';')) shapes.push_back(parse_input_shape(one));
  if (shapes.size() > most_shapes) throw std::invalid_argument("it has too many inputs");
  return shapes;
}

}  // namespace infermeter
