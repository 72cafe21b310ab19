// What a validation says, as short texts: the same in the console's report and in Markdown.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "infermeter/report/forms/grid.hpp"
#include "infermeter/report/forms/json_writer.hpp"
#include "infermeter/report/forms/sentence.hpp"
#include "infermeter/report/run/answers.hpp"
#include "infermeter/verdict/validation.hpp"

namespace infermeter {

struct ValidationWords {
  Sentence title;                                          // "openvino agrees with onnxruntime"
  std::vector<std::pair<std::string, std::string>> heads;  // "baseline", what it is
  Grid outputs, samples, partings;                         // without columns that would be empty
  std::string samples_title;                               // "By sample: the worst 5 of 1,000"
  std::vector<Sentence> sentences;
};
[[nodiscard]] ValidationWords validation_words(const Validation& validation, std::size_t worst);

// What was asked, the agreement first.
[[nodiscard]] std::vector<WordedAnswer> worded_answers(const Validation& validation);
// What was found besides the agreement, what to mind, and how long it took.
[[nodiscard]] std::vector<Sentence> validation_sentences(const Validation& validation);

// Its own, then those of its outputs.
[[nodiscard]] std::vector<Diagnostic> diagnostics_of(const Validation& validation);

[[nodiscard]] std::string render_validation_json(const Validation& validation, bool with_samples);
void write_validation(JsonWriter& json, const Validation& validation, bool with_samples);
[[nodiscard]] std::string render_validation_markdown(const ValidationWords& words);

// "1.2e-06", "0", "0.5"
[[nodiscard]] std::string difference_text(double value);
[[nodiscard]] std::string subject_name(const ValidationSubject& subject);
// A file's name without its folder.
[[nodiscard]] std::string sample_name(const Validation& validation, std::size_t item);

}  // namespace infermeter
