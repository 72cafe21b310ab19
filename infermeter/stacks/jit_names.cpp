#include "infermeter/stacks/jit_names.hpp"

#include <algorithm>
#include <charconv>
#include <ranges>
#include <system_error>

#include "infermeter/stacks/module_symbols.hpp"

namespace infermeter {
namespace {

bool take_hexadecimal(std::string_view& text, std::uint64_t& number) {
  if (text.starts_with("0x")) text.remove_prefix(2);
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, 16);
  if (error != std::errc() || end == text.data() + text.size() || *end != ' ') return false;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()) + 1);
  return true;
}

std::string_view without_number(std::string_view name) {
  const std::size_t last = name.find_last_not_of("0123456789");
  if (last == std::string_view::npos || last == 0 || last + 1 == name.size() || name[last] != '.') return name;
  return name.substr(0, last);
}

}  // namespace

JitNames::JitNames(std::string_view text) : text_(text) {
  std::string_view rest = text_;
  std::vector<Range> lines;
  while (!rest.empty() && lines.size() < most) {
    const std::size_t end = rest.find('\n');
    if (end == std::string_view::npos) break;  // cut
    std::string_view line = rest.substr(0, end);
    rest.remove_prefix(end + 1);
    Range range;
    std::uint64_t size = 0;
    if (!take_hexadecimal(line, range.begin) || !take_hexadecimal(line, size)) continue;
    if (line.empty() || size > ~std::uint64_t{0} - range.begin) continue;
    range.end = range.begin + size;
    range.name = line;
    lines.push_back(range);
  }
  std::map<std::uint64_t, Range> known;
  for (const Range& range : lines | std::views::reverse) add_where_free(known, range);
  for (const auto& [begin, range] : known) ranges_.push_back(range);
}

// Memory is used again: what later lines say of it holds.
void JitNames::add_where_free(std::map<std::uint64_t, Range>& known, const Range& range) {
  auto next = known.upper_bound(range.begin);
  std::uint64_t begin = range.begin;
  if (next != known.begin()) begin = std::max(begin, std::prev(next)->second.end);
  while (begin < range.end) {
    const std::uint64_t end = next == known.end() ? range.end : std::min(range.end, next->second.begin);
    if (begin < end) known.emplace_hint(next, begin, Range{.begin = begin, .end = end, .name = range.name});
    if (next == known.end()) return;
    begin = std::max(begin, next->second.end);
    ++next;
  }
}

std::string JitNames::name_at(std::uint64_t address) const {
  const auto after = std::ranges::upper_bound(ranges_, address, {}, &Range::begin);
  if (after == ranges_.begin() || address >= std::prev(after)->end) return {};
  return readable_symbol(without_number(std::prev(after)->name));
}

}  // namespace infermeter
