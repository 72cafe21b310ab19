// What every form of report shows: cells, sentences, notices, each with how it is meant.
#pragma once

#include <string>
#include <vector>

#include "infermeter/diagnostics/diagnostic.hpp"
#include "infermeter/verdict/answers/answer.hpp"

namespace infermeter {

struct Cell {
  std::string text;
  Tone tone = Tone::plain;
};

struct Sentence {
  Tone tone = Tone::plain;
  std::string text;  // without its sign
};
// "✓", "✗", "⚠", "?", "·"
[[nodiscard]] const char* sign_of(Tone tone);

// Diagnostics that say the same of several subjects, once; errors first, infos last.
struct Notice {
  DiagnosticId id{};
  Severity severity = Severity::info;
  std::vector<std::string> messages;  // each with what it is about: "b: other programs used 41 % of a core"
  std::string remedy;
};

}  // namespace infermeter
