#include <algorithm>
#include <cstring>
#include <protozero/pbf_message.hpp>

#include "infermeter/models/onnx/fields.hpp"
#include "infermeter/models/onnx/tensor.hpp"

namespace infermeter {
namespace {

using protozero::data_view;
using Field = onnx_field::Tensor;

// Elements whose bits, less those of `ignored` (the sign: -0 is 0), are not all 0.
template <class T>
std::uint64_t nonzero_words(data_view bytes, T ignored) {
  std::uint64_t count = 0;
  const T mask = static_cast<T>(~ignored);
  for (std::size_t at = 0; at + sizeof(T) <= bytes.size(); at += sizeof(T)) {
    T word;
    std::memcpy(&word, bytes.data() + at, sizeof word);
    count += (word & mask) != 0 ? 1U : 0U;
  }
  return count;
}

// Two to a byte, the low one first; what is over at the end does not count.
std::uint64_t nonzero_nibbles(data_view bytes, std::uint64_t elements, unsigned mask) {
  std::uint64_t count = 0;
  for (std::uint64_t i = 0; i < elements; ++i) {
    const auto byte = static_cast<unsigned char>(bytes.data()[i / 2]);
    count += ((i % 2 == 0 ? byte : byte >> 4U) & mask) != 0 ? 1U : 0U;
  }
  return count;
}

std::optional<std::uint64_t> count_raw(data_view bytes, const OnnxTensor& facts) {
  const int bits = bits_of(facts.dtype);
  if (bits == 0 || bytes.size() != bytes_of(facts.dtype, facts.elements)) return std::nullopt;
  const bool has_sign = facts.is_float;
  switch (bits) {
    case 4: return nonzero_nibbles(bytes, facts.elements, has_sign ? 7U : 15U);
    case 8: return nonzero_words<std::uint8_t>(bytes, has_sign ? 0x80 : 0);
    case 16: return nonzero_words<std::uint16_t>(bytes, has_sign ? 0x8000 : 0);
    case 32: return nonzero_words<std::uint32_t>(bytes, has_sign ? 0x8000'0000U : 0);
    case 64: return nonzero_words<std::uint64_t>(bytes, has_sign ? std::uint64_t{1} << 63U : 0);
    default: return std::nullopt;
  }
}

struct CountedElements {
  std::uint64_t elements = 0, nonzero = 0;

  void add(bool is_nonzero) {
    ++elements;
    nonzero += is_nonzero ? 1U : 0U;
  }
};

// The typed fields; a number may stand alone or in a packed list.
void count_typed(protozero::pbf_message<Field>& tensor, const OnnxTensor& facts, CountedElements& counted) {
  const bool packed = tensor.wire_type() == protozero::pbf_wire_type::length_delimited;
  // float16 and its like come as the bits of an int32.
  const bool is_sixteen = facts.is_float && bits_of(facts.dtype) == 16;
  const auto add_integer = [&](std::int64_t value) { counted.add((is_sixteen ? value & 0x7fff : value) != 0); };
  switch (tensor.tag()) {
    case Field::float_data:
      if (!packed) return counted.add(tensor.get_float() != 0);
      for (const float value : tensor.get_packed_float()) counted.add(value != 0);
      return;
    case Field::double_data:
      if (!packed) return counted.add(tensor.get_double() != 0);
      for (const double value : tensor.get_packed_double()) counted.add(value != 0);
      return;
    default:
      if (!packed) return add_integer(read_integer(tensor));
      for (const std::int64_t value : tensor.get_packed_int64()) add_integer(value);
  }
}

bool has_wire_type(const protozero::pbf_message<Field>& tensor) {
  using protozero::pbf_wire_type;
  const pbf_wire_type type = tensor.wire_type();
  if (type == pbf_wire_type::length_delimited) return true;
  if (tensor.tag() == Field::float_data) return type == pbf_wire_type::fixed32;
  if (tensor.tag() == Field::double_data) return type == pbf_wire_type::fixed64;
  return type == pbf_wire_type::varint;
}

}  // namespace

std::optional<std::uint64_t> count_nonzero(data_view view, const OnnxTensor& facts) {
  if (facts.external) return std::nullopt;
  CountedElements counted;
  protozero::pbf_message<Field> tensor(view);
  while (tensor.next()) {
    switch (tensor.tag()) {
      case Field::raw_data: return count_raw(read_view(tensor), facts);
      case Field::float_data:
      case Field::double_data:
      case Field::int32_data:
      case Field::int64_data:
        if (!has_wire_type(tensor)) throw protozero::unknown_pbf_wire_type_exception{};
        count_typed(tensor, facts, counted);
        break;
      default: tensor.skip();
    }
  }
  if (counted.elements != facts.elements || bits_of(facts.dtype) < 8) return std::nullopt;
  return counted.nonzero;
}

}  // namespace infermeter
