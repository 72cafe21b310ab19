#include "infermeter/plan/python_words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "infermeter/plan/setting.hpp"

namespace infermeter {
namespace {

struct Phrase {
  std::string_view flag, words;
};
constexpr std::array python_phrases = {Phrase{"--format json", "record.render(\"json\")"},
                                       Phrase{"--batch-sizes", "the batch size of the inputs"},
                                       Phrase{"--batch-size", "the batch size of the inputs"},
                                       Phrase{"--data-seed", "inputs"},
                                       Phrase{"--data-limit", "inputs"},
                                       Phrase{"--data", "inputs"},
                                       Phrase{"--labels", "accuracy="},
                                       Phrase{"--resume", "resume="}};
// Values that flags have in our sentences, besides numbers and places for one ("N").
constexpr std::array<std::string_view, 5> flag_values = {"none", "off", "float32", "strict", "auto"};

bool is_small_letter(char c) { return c >= 'a' && c <= 'z'; }
bool is_a_digit(char c) { return c >= '0' && c <= '9'; }
bool is_capital(char c) { return c >= 'A' && c <= 'Z'; }
bool is_of_flag(char c) { return is_small_letter(c) || c == '-'; }
bool is_of_value(char c) { return is_small_letter(c) || is_a_digit(c) || is_capital(c); }

std::string_view leading_part(std::string_view text, bool (*belongs)(char)) {
  return text.substr(0, static_cast<std::size_t>(std::ranges::find_if_not(text, belongs) - text.begin()));
}

bool is_value_of_flag(std::string_view word) {
  if (word.empty()) return false;
  return std::ranges::all_of(word, is_a_digit) || std::ranges::all_of(word, is_capital) ||
         std::ranges::find(flag_values, word) != flag_values.end();
}

// Takes what the text begins with, if that is advice.
std::optional<std::string> take_advice(std::string_view& text) {
  for (const Phrase& phrase : python_phrases) {
    if (!text.starts_with(phrase.flag) || !leading_part(text.substr(phrase.flag.size()), is_of_flag).empty()) continue;
    text.remove_prefix(phrase.flag.size());
    return std::string(phrase.words);
  }
  const std::string_view flag = leading_part(text.substr(2), is_of_flag);
  const auto setting = std::ranges::find(settings(), flag, &Setting::flag);
  if (flag.empty() || setting == settings().end()) return std::nullopt;
  text.remove_prefix(2 + flag.size());
  std::string words = fmt::format("{}=", setting->key);
  if (!text.starts_with(' ')) return words;
  const std::string_view word = leading_part(text.substr(1), is_of_value);
  const std::string_view behind = text.substr(1 + word.size());
  if (!is_value_of_flag(word)) return words;
  text = behind;
  if (behind.starts_with('=')) {  // INPUT=AXIS
    const std::string_view axis = leading_part(behind.substr(1), is_of_value);
    text.remove_prefix(1 + axis.size());
    return fmt::format("{}{{\"{}\": {}}}", words, word, axis);
  }
  return is_small_letter(word.front()) ? fmt::format("{}\"{}\"", words, word) : fmt::format("{}{}", words, word);
}

}  // namespace

std::string in_python_words(std::string_view text) {
  std::string said;
  while (!text.empty()) {
    const bool begins = text.starts_with("--") && (said.empty() || !is_of_value(said.back()));
    if (auto advice = begins ? take_advice(text) : std::nullopt) {
      said += *advice;
      continue;
    }
    said += text.front();
    text.remove_prefix(1);
  }
  return said;
}

}  // namespace infermeter
