// Text from outside, made fit for a line of ours.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace infermeter {

// Safe to print on one line: control characters, escapes, bidi overrides and invalid UTF-8 are shown as \xNN or
// \u{NNNN}; longer than `limit` bytes is cut with "…".
[[nodiscard]] std::string printable(std::string_view text, std::size_t limit = 300);

// 'name', printable, at most 200 bytes of it.
[[nodiscard]] std::string in_quotes(std::string_view name);

}  // namespace infermeter
