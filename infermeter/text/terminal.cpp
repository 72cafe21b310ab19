#include "infermeter/text/terminal.hpp"

#include <fmt/format.h>
#include <utf8proc.h>

#include <algorithm>
#include <span>

namespace infermeter {
namespace {

std::size_t character_width(const Character& character) {
  if (!character.valid) return 1;
  return static_cast<std::size_t>(utf8proc_charwidth(static_cast<utf8proc_int32_t>(character.code)));
}

}  // namespace

std::size_t display_width(std::string_view text) {
  std::size_t width = 0;
  while (!text.empty()) {
    const Character character = next_character(text);
    width += character_width(character);
    text.remove_prefix(character.size);
  }
  return width;
}

std::string fitted(std::string_view text, std::size_t width) {
  if (display_width(text) <= width) return std::string(text);
  if (width == 0) return {};
  std::string result;
  std::size_t used = 0;
  while (!text.empty()) {
    const Character character = next_character(text);
    if (used + character_width(character) + 1 > width) break;
    used += character_width(character);
    result += text.substr(0, character.size);
    text.remove_prefix(character.size);
  }
  return result + "…";
}

namespace {

// The first or last characters that fit into so many columns.
std::string_view begin_of(std::string_view text, std::size_t width) {
  std::size_t size = 0, used = 0;
  while (size < text.size()) {
    const Character character = next_character(text.substr(size));
    used += character_width(character);
    if (used > width) break;
    size += character.size;
  }
  return text.substr(0, size);
}

std::string_view end_of_text(std::string_view text, std::size_t width) {
  while (display_width(text) > width) text.remove_prefix(next_character(text).size);
  return text;
}

std::string cut_in_the_middle(std::string_view text, std::size_t width, std::size_t head) {
  if (display_width(text) <= width) return std::string(text);
  if (width == 0) return {};
  return std::string(begin_of(text, head)) + "…" + std::string(end_of_text(text, width - 1 - head));
}

// How many different ones there are.
std::size_t count_of(std::vector<std::string> names) {
  std::ranges::sort(names);
  return static_cast<std::size_t>(std::unique(names.begin(), names.end()) - names.begin());
}

}  // namespace

std::optional<std::vector<std::string>> cut_apart(std::span<const std::string> names, std::size_t width) {
  const std::size_t different = count_of({names.begin(), names.end()});
  const std::size_t room = width > 0 ? width - 1 : 0;  // beside the "…"
  for (const std::size_t head : {room / 2, room / 4, room * 3 / 4, std::size_t{0}, room}) {
    std::vector<std::string> cut;
    for (const std::string& name : names) cut.push_back(cut_in_the_middle(name, width, head));
    if (count_of(cut) == different) return cut;
  }
  return std::nullopt;
}

std::vector<std::string> fitted_apart(std::span<const std::string> names, std::size_t width) {
  if (auto cut = cut_apart(names, width)) return *std::move(cut);
  std::vector<std::string> numbered(names.begin(), names.end());
  for (std::size_t i = 0; i < names.size(); ++i) {
    const std::string number = fmt::format("~{}", i + 1);
    if (display_width(names[i]) <= width) continue;
    numbered[i] = fitted(names[i], width > number.size() + 1 ? width - number.size() : 1) + number;
  }
  return numbered;
}

std::string padded(std::string_view text, std::size_t width, Align align) {
  const std::size_t taken = display_width(text);
  const std::string space(width > taken ? width - taken : 0, ' ');
  return align == Align::left ? std::string(text) + space : space + std::string(text);
}

std::string wrapped(std::string_view text, std::size_t width, std::size_t indent) {
  std::string result;
  std::size_t column = 0;
  bool line_is_empty = true;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    const std::string_view word = text.substr(0, end);
    const std::size_t word_width = display_width(word);
    if (!line_is_empty && column + 1 + word_width > width) {
      result += '\n' + std::string(indent, ' ');
      column = indent;
      line_is_empty = true;
    }
    if (!line_is_empty) result += ' ';
    column += word_width + (line_is_empty ? 0 : 1);
    result += word;
    line_is_empty = false;
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return result;
}

}  // namespace infermeter
