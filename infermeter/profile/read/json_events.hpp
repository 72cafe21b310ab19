// The objects of a JSON array, one after another, out of a text that may be cut, broken or hostile.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>

#include <nlohmann/json.hpp>

namespace infermeter {

struct ArrayScan {
  bool found = false;          // there is an array
  bool whole = false;          // and it ends
  std::size_t end = 0;         // of a whole one: behind its bracket
  std::size_t objects = 0;     // that `use` was given
  std::size_t unreadable = 0;  // that are not JSON, larger than 1 MiB or nested deeper than 64
};

// The array is the text itself; or, with a `key`, the value of that key in it. One broken object costs itself and what
// follows it on its line: a line end inside of a string cannot be, so the next line is where reading goes on. Needs
// memory for one object at a time.
[[nodiscard]] ArrayScan for_each_object(std::string_view text, std::string_view key,
                                        const std::function<void(const nlohmann::json&)>& use);

// A time of a trace, given in microseconds, in nanoseconds; nullopt: not there, no number, or beyond 72 years.
[[nodiscard]] std::optional<std::int64_t> nanoseconds_at(const nlohmann::json& object, const char* key);
// A whole number, or a text of one, as ONNX Runtime writes them. nullopt: neither, or negative.
[[nodiscard]] std::optional<std::uint64_t> count_at(const nlohmann::json& object, const char* key);
// "" where there is no text.
[[nodiscard]] std::string_view text_at(const nlohmann::json& object, const char* key);
// nullptr where there is nothing.
[[nodiscard]] const nlohmann::json* value_at(const nlohmann::json& object, const char* key);

}  // namespace infermeter
