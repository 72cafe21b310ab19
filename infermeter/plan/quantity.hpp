// Quantities as people write them: "30s", "250ms", "2GB", "512MiB", "0-3,8". Messages say what was wanted and what was
// got, without the name of the option: the caller knows it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "infermeter/diagnostics/result.hpp"

namespace infermeter {

// Seconds, not negative: a number with ns, us, ms, s, m (or min), h; without a unit it is seconds.
[[nodiscard]] Result<double> seconds_from_string(std::string_view text);

// Bytes: a number with B, kB (or KB), MB, GB, TB (powers of 1000), KiB, MiB, GiB, TiB (powers of 1024), or without a
// unit.
[[nodiscard]] Result<std::uint64_t> bytes_from_string(std::string_view text);

// The unit in which a size that somebody wrote is the shortest whole number: 512 MiB, 1500 kB; MB if there is none.
struct ByteUnit {
  std::string_view name;
  std::uint64_t bytes;
};
[[nodiscard]] ByteUnit unit_of_size(std::uint64_t bytes);
// The size in that unit.
[[nodiscard]] std::string size_to_string(std::uint64_t bytes);

// A share: "1%" or "1 %" is 0.01, and so is "0.01". Not negative.
[[nodiscard]] Result<double> share_from_string(std::string_view text);

// A whole number within [low, high].
[[nodiscard]] Result<std::int64_t> integer_from_string(std::string_view text, std::int64_t low, std::int64_t high);

// Processors: "0-3,8". In the order given, each once.
[[nodiscard]] Result<std::vector<int>> processors_from_string(std::string_view text);

// "name=value"; `what` names the pair in the message: "an option".
[[nodiscard]] Result<std::pair<std::string, std::string>> pair_from_string(std::string_view text,
                                                                           std::string_view what);

[[nodiscard]] bool is_utf8(std::string_view text);

}  // namespace infermeter
