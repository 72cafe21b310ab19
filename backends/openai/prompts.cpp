#include "prompts.hpp"

#include <array>
#include <string_view>

#include "split_mix.hpp"

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

std::string_view next_word(Draws& draws) { return vocabulary[draws.next() >> 58]; }

}  // namespace

std::string synthetic_prompt(std::uint64_t seed, std::uint64_t number, int words, int shared) {
  Draws same(0, 0), own(seed, number);
  std::string prompt;
  for (int i = 0; i < words; ++i) {
    if (i > 0) prompt += ' ';
    prompt += next_word(i < shared ? same : own);
  }
  return prompt;
}

}  // namespace infermeter
