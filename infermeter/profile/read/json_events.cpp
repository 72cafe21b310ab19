#include "infermeter/profile/read/json_events.hpp"

#include <charconv>
#include <cmath>
#include <string>
#include <system_error>

namespace infermeter {
namespace {

using Json = nlohmann::json;

constexpr std::size_t most_object_bytes = std::size_t{1} << 20U;
constexpr std::size_t deepest = 64;
constexpr double most_microseconds = 2.3e15;
constexpr std::string_view json_spaces = " \t\r\n";

enum class ObjectEnd { closed, broken, cut };
struct ObjectSpan {
  ObjectEnd end = ObjectEnd::cut;
  std::size_t next = 0;  // where reading goes on
  bool too_deep = false;
};

// From the brace at `begin` to the one that closes it.
ObjectSpan span_of_object(std::string_view text, std::size_t begin) {
  ObjectSpan span;
  std::size_t depth = 0;
  bool in_string = false;
  for (std::size_t i = begin; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      if (c == '\n') return {ObjectEnd::broken, i, false};
      if (c == '\\') ++i;
      if (c == '"') in_string = false;
      continue;
    }
    if (c == '"') in_string = true;
    if (c == '{' || c == '[') span.too_deep |= ++depth > deepest;
    if ((c == '}' || c == ']') && --depth == 0) return {ObjectEnd::closed, i + 1, span.too_deep};
  }
  span.next = text.size();
  return span;
}

// Behind the bracket that opens the array; npos: there is none.
std::size_t begin_of_array(std::string_view text, std::string_view key) {
  std::size_t at = 0;
  if (!key.empty()) {
    const std::string quoted = '"' + std::string(key) + '"';
    at = text.find(quoted);
    if (at == std::string_view::npos) return at;
    at = text.find_first_not_of(json_spaces, at + quoted.size());
    if (at == std::string_view::npos || text[at] != ':') return std::string_view::npos;
    ++at;
  }
  at = text.find_first_not_of(json_spaces, at);
  return at == std::string_view::npos || text[at] != '[' ? std::string_view::npos : at + 1;
}

}  // namespace

ArrayScan for_each_object(std::string_view text, std::string_view key, const std::function<void(const Json&)>& use) {
  ArrayScan scan;
  std::size_t at = begin_of_array(text, key);
  scan.found = at != std::string_view::npos;
  if (!scan.found) return scan;
  while ((at = text.find_first_of("{]", at)) != std::string_view::npos) {
    if (text[at] == ']') {
      scan.whole = true;
      scan.end = at + 1;
      return scan;
    }
    const ObjectSpan span = span_of_object(text, at);
    if (span.end == ObjectEnd::cut) return scan;
    const std::string_view object = text.substr(at, span.next - at);
    at = span.next;
    if (span.end == ObjectEnd::closed && !span.too_deep && object.size() <= most_object_bytes) {
      const Json json = Json::parse(object.begin(), object.end(), nullptr, /*allow_exceptions=*/false);
      if (json.is_object()) {
        ++scan.objects;
        use(json);
        continue;
      }
    }
    ++scan.unreadable;
  }
  return scan;
}

const Json* value_at(const Json& object, const char* key) {
  if (!object.is_object()) return nullptr;
  const auto found = object.find(key);
  return found == object.end() ? nullptr : &*found;
}

std::string_view text_at(const Json& object, const char* key) {
  const Json* const value = value_at(object, key);
  return value == nullptr || !value->is_string() ? std::string_view() : value->get_ref<const std::string&>();
}

std::optional<std::int64_t> nanoseconds_at(const Json& object, const char* key) {
  const Json* const value = value_at(object, key);
  if (value == nullptr || !value->is_number()) return std::nullopt;
  const auto microseconds = value->get<double>();
  if (!(std::abs(microseconds) <= most_microseconds)) return std::nullopt;
  // Whole ones up to 2^53 exactly, and thousandths of those that a trace has.
  const double whole = std::floor(microseconds);
  return static_cast<std::int64_t>(whole) * 1000 + std::llround((microseconds - whole) * 1000);
}

std::optional<std::uint64_t> count_at(const Json& object, const char* key) {
  const Json* const value = value_at(object, key);
  if (value == nullptr) return std::nullopt;
  if (value->is_number_unsigned()) return value->get<std::uint64_t>();
  if (!value->is_string()) return std::nullopt;
  const auto& text = value->get_ref<const std::string&>();
  std::uint64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc{} || stop != end || text.empty()) return std::nullopt;
  return number;
}

}  // namespace infermeter
