#include "infermeter/machine/system_folder.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <fstream>
#include <system_error>

#include "infermeter/text/ascii.hpp"

namespace infermeter {
namespace {

constexpr std::size_t largest_file = 1 << 20;

std::string_view unquoted(std::string_view text) {
  if (text.size() >= 2 && text.front() == '"' && text.back() == '"') return text.substr(1, text.size() - 2);
  return text;
}

template <class Number>
std::optional<Number> parse(std::string_view text, std::string_view* rest = nullptr) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{}) return std::nullopt;
  if (rest != nullptr) *rest = text.substr(static_cast<std::size_t>(end - text.data()));
  return value;
}

}  // namespace

std::filesystem::path SystemFolder::below(std::string_view path) const {
  return root_ / std::filesystem::path(path).relative_path();
}

std::string SystemFolder::text(std::string_view path) const {
  std::ifstream stream(below(path), std::ios::binary);
  std::string content;
  std::array<char, 4096> block{};
  while (content.size() < largest_file) {
    stream.read(block.data(), block.size());
    if (stream.gcount() == 0) break;
    content.append(block.data(), static_cast<std::size_t>(stream.gcount()));
  }
  return std::string(trimmed(content));
}

std::optional<std::int64_t> SystemFolder::number(std::string_view path) const {
  return parse<std::int64_t>(text(path));
}

std::string SystemFolder::field(std::string_view path, std::string_view key) const {
  const std::string content = text(path);
  for (std::string_view rest = content; !rest.empty();) {
    const auto end = std::min(rest.find('\n'), rest.size());
    const std::string_view line = rest.substr(0, end);
    const auto separator = line.find_first_of(":=");
    if (separator != std::string_view::npos && trimmed(line.substr(0, separator)) == key) {
      return std::string(unquoted(trimmed(line.substr(separator + 1))));
    }
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return {};
}

bool SystemFolder::exists(std::string_view path) const {
  std::error_code error;
  return std::filesystem::exists(below(path), error);
}

std::vector<std::string> SystemFolder::entries(std::string_view folder) const {
  std::vector<std::string> names;
  std::error_code error;
  for (std::filesystem::directory_iterator entry(below(folder), error), end; !error && entry != end;
       entry.increment(error)) {
    names.push_back(entry->path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

int count_of_list(std::string_view list) {
  int count = 0;
  while (!list.empty()) {
    const auto end = std::min(list.find(','), list.size());
    std::string_view rest;
    const auto first = parse<int>(list.substr(0, end), &rest);
    if (!first) return 0;
    const auto last = rest.starts_with('-') ? parse<int>(rest.substr(1)) : first;
    if (!last || *last < *first) return 0;
    count += *last - *first + 1;
    list.remove_prefix(std::min(end + 1, list.size()));
  }
  return count;
}

std::uint64_t kernel_bytes(std::string_view text) {
  std::string_view rest;
  const auto value = parse<std::uint64_t>(trimmed(text), &rest);
  if (!value) return 0;
  rest = trimmed(rest);
  const char unit = rest.empty() ? ' ' : rest.front();
  const int shift = unit == 'K' || unit == 'k' ? 10 : unit == 'M' ? 20 : unit == 'G' ? 30 : 0;
  return *value << shift;
}

}  // namespace infermeter
