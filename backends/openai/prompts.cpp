#include "prompts.hpp"

#include <array>
#include <string_view>

namespace infermeter {
namespace {

constexpr auto vocabulary = std::to_array<std::string_view>(
    {"time",     "year",    "people",   "way",    "day",     "man",   "thing",   "woman",  "life",   "child", "world",
     "school",   "state",   "family",   "group",  "country", "hand",  "part",    "place",  "case",   "week",  "company",
     "system",   "program", "question", "work",   "number",  "night", "point",   "home",   "water",  "room",  "mother",
     "area",     "money",   "story",    "fact",   "month",   "right", "study",   "book",   "eye",    "job",   "word",
     "business", "issue",   "side",     "kind",   "head",    "house", "service", "friend", "father", "power", "hour",
     "game",     "line",    "end",      "member", "law",     "car",   "city",    "name",   "team"});
static_assert(vocabulary.size() == 64);

// SplitMix64 (Steele, Lea and Flood 2014).
class WordDraws {
 public:
  WordDraws(std::uint64_t seed, std::uint64_t number) : state_(mixed(seed) ^ number) {}
  std::string_view next() { return vocabulary[mixed(state_ += 0x9E3779B97F4A7C15U) >> 58]; }

 private:
  static std::uint64_t mixed(std::uint64_t x) {
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9U;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBU;
    return x ^ (x >> 31);
  }
  std::uint64_t state_;
};

}  // namespace

std::string synthetic_prompt(std::uint64_t seed, std::uint64_t number, int words, int shared) {
  WordDraws same(0, 0), own(seed, number);
  std::string prompt;
  for (int i = 0; i < words; ++i) {
    if (i > 0) prompt += ' ';
    prompt += i < shared ? same.next() : own.next();
  }
  return prompt;
}

}  // namespace infermeter
