// A text that language models are to predict, as the data of a validation.
#pragma once

#include <cstdint>

#include "infermeter/diagnostics/result.hpp"
#include "infermeter/run/run.hpp"
#include "infermeter/validate/request.hpp"

namespace infermeter {

// So many texts where nothing says how many (data_limit).
inline constexpr std::int64_t kUsualTexts = 64;

// Where request.text names a file: its tokens, by the subjects' own tokenizer, become the data (kept in the cache),
// each next token is the label, and the subjects give logits. Otherwise nothing. Errors: a subject that is no folder of
// a language model, tokenizers that read the text differently, a text that is too short or no UTF-8, data or labels
// beside the text.
[[nodiscard]] Result<Done> use_text(ValidationRequest& request, const RunContext& context);

}  // namespace infermeter
