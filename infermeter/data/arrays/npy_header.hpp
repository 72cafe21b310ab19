// The header of NumPy's .npy format, versions 1 to 3: a Python dict literal, of which only plain values are accepted.
// Source: numpy.lib.format.
#pragma once

#include <string_view>

#include "infermeter/data/regular_file.hpp"
#include "infermeter/data/tensor.hpp"

namespace infermeter {

struct NpyHeader {
  enum class Text { none, bytes, utf32 };
  DType dtype = DType::undefined;
  Text text = Text::none;      // of strings: how they are stored
  std::size_t item_bytes = 0;  // of one element in the file
  std::size_t swap_bytes = 0;  // big-endian: reverse groups of so many bytes; 0: nothing to reverse
  bool fortran_order = false;
  Shape shape;
};

// Reads up to where the numbers begin.
[[nodiscard]] Result<NpyHeader> read_npy_header(ByteSource& source, const std::string& file);

// The dict alone: "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }".
[[nodiscard]] Result<NpyHeader> parse_npy_dict(std::string_view text, const std::string& file);

}  // namespace infermeter
