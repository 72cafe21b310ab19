// A file from outside, with the bytes that gzip packed into it.
#pragma once

#include <cstdint>
#include <string>

#include "infermeter/diagnostics/result.hpp"

namespace infermeter {

// As it is, or unpacked where it begins as gzip's do; one that ends early gives what there is. Errors, each naming the
// file: it is not there, no regular file, damaged, or larger than `most` bytes.
[[nodiscard]] Result<std::string> read_unpacked(const std::string& path, std::uint64_t most);

}  // namespace infermeter
