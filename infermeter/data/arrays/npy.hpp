// NumPy's .npy files.
#pragma once

#include <cstdint>
#include <string>

#include "infermeter/data/arrays/npy_header.hpp"
#include "infermeter/data/regular_file.hpp"
#include "infermeter/data/tensor.hpp"

namespace infermeter {

// What is read at most.
struct NpyLimits {
  std::int64_t rows = 0;  // of the first dimension; 0: all
  std::uint64_t bytes = std::uint64_t{64} << 30;
  std::int64_t first_row = 0;  // those before it are left out
};

// What the array is, without reading its numbers.
[[nodiscard]] Result<NpyHeader> npy_header(const std::string& path);

// Any byte order, C or Fortran order, versions 1 to 3; numbers, bool, bytes and Unicode strings; never Python objects.
[[nodiscard]] Result<Tensor> read_npy(const std::string& path, const NpyLimits& limits = {});

// Memory that an array may take: its file's size bounds it, whatever its header says.
[[nodiscard]] std::uint64_t most_memory_for(std::uint64_t file_bytes);

// The same from any source; `file` is what errors call it.
[[nodiscard]] Result<Tensor> read_npy(ByteSource& source, const std::string& file, const NpyLimits& limits);

// What a .npy file of the tensor holds. Little-endian, C order; bfloat16 as NumPy's "V2". An error for types that NumPy
// cannot hold (float8…, 4-bit), which calls it `file`.
[[nodiscard]] Result<std::string> npy_bytes(const Tensor& tensor, const std::string& file);
[[nodiscard]] Result<Done> write_npy(const std::string& path, const Tensor& tensor);

}  // namespace infermeter
