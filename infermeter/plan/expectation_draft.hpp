// An expectation as it stands in a file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "infermeter/diagnostics/result.hpp"

namespace infermeter {

// A text and where it stands, so that what is wrong in it can be pointed at.
struct PlacedText {
  std::string text{};
  std::string file{};
  std::int64_t line = 0, column = 0;  // of the string; of its first character if `verbatim`
  bool verbatim = false;              // its characters stand in the file as they are, so that they can be counted

  // "gate.toml:4:11: …", of the character at this byte of the text.
  [[nodiscard]] Error error(std::size_t offset, std::string_view message) const;
};

struct ExpectationDraft {
  PlacedText that{};
  std::optional<PlacedText> subject{};  // a label; nullopt: every subject
};

}  // namespace infermeter
