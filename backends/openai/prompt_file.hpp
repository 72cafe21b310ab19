// Prompts from a file, as text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace infermeter {

struct PromptFile {
  std::vector<std::string> prompts{};  // at least one, in the file's order
  std::size_t left_out = 0;            // entries in which nobody asks anything
};

inline constexpr std::uint64_t largest_prompt_file = std::uint64_t{1} << 30;  // bytes
inline constexpr std::uint64_t shuffle_stream = 3;                            // beside those of lengths.hpp

// FILE.json and FILE.jsonl: an object per line, or an array of objects, with `prompt` (a text), OpenAI's `messages`, or
// ShareGPT's `conversations`: of these what stands up to the first message of the user, with that of the system. Any
// other file: a prompt per line; empty lines are none. Throws Failure(IMB_INVALID_ARGUMENT), with the line or entry.
[[nodiscard]] PromptFile read_prompt_file(const std::string& path);
[[nodiscard]] PromptFile prompts_in(std::string_view text, bool is_json);

// Which prompt request 1, 2, … asks: all but the first of `count` in an order drawn by `seed`, and that again.
class PromptOrder {
 public:
  PromptOrder() = default;
  PromptOrder(std::uint64_t seed, std::size_t count);
  [[nodiscard]] std::size_t at(std::uint64_t request) const { return order_[(request - 1) % order_.size()]; }

 private:
  std::vector<std::size_t> order_{};
};

}  // namespace infermeter
