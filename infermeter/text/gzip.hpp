// What gzip packed.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace infermeter {

// Does it begin as gzip's files do?
[[nodiscard]] bool is_gzip(std::string_view bytes);

// Appends what is in `packed`; of what ends early all that there is. False: it is damaged, or `bytes` has become larger
// than `most`.
[[nodiscard]] bool unpack_gzip(std::string_view packed, std::uint64_t most, std::string& bytes);

}  // namespace infermeter
