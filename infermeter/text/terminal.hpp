// Text on a terminal: what may be shown, how wide it is, where lines break.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "infermeter/text/utf8.hpp"

namespace infermeter {

// Columns that text takes: 0 for combining marks, 2 for East Asian wide characters and emoji.
[[nodiscard]] std::size_t display_width(std::string_view text);

// Cut to `width` columns, the last of them "…" where something was cut.
[[nodiscard]] std::string fitted(std::string_view text, std::size_t width);
// Names in so many columns, cut in the middle so that names that differ stay different: "onnxruntime…lib=old.so".
// nullopt: no place to cut keeps them apart.
[[nodiscard]] std::optional<std::vector<std::string>> cut_apart(std::span<const std::string> names, std::size_t width);
// The same, but numbered where no place to cut keeps them apart: "onnxrun…~2".
[[nodiscard]] std::vector<std::string> fitted_apart(std::span<const std::string> names, std::size_t width);

enum class Align { left, right };
[[nodiscard]] std::string padded(std::string_view text, std::size_t width, Align align);

// Broken at spaces into lines of at most `width` columns, the second and later ones indented. A word that is too long
// stands on a line of its own.
[[nodiscard]] std::string wrapped(std::string_view text, std::size_t width, std::size_t indent);

}  // namespace infermeter
