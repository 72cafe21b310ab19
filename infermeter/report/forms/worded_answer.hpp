// An answer (verdict/answers/answer.hpp) in words, and answers and checklists as JSON.
#pragma once

#include <string>
#include <vector>

#include "infermeter/report/forms/json_writer.hpp"
#include "infermeter/verdict/answers/answer.hpp"
#include "infermeter/verdict/answers/check.hpp"

namespace infermeter {

struct WordedAnswer {
  Answer answer;
  std::string text;  // a sentence, without its sign

  [[nodiscard]] Tone tone() const { return answer.tone; }
};

// "faster", "cannot tell", "outputs differ"
[[nodiscard]] std::string word_of(const Answer& answer);

// Each with its key.
void write_answers(JsonWriter& json, const std::vector<WordedAnswer>& answers);
void write_checks(JsonWriter& json, const std::vector<Check>& checks);

}  // namespace infermeter
