// Which tokenizer a language model has.
#pragma once

#include <atomic>
#include <optional>
#include <string>

#include "infermeter/diagnostics/result.hpp"
#include "infermeter/samples/model_facts.hpp"

namespace infermeter {

// The same for models that read texts in the same way: SHA-256 of the tokenizer.json beside the model, else of the GGUF
// file, which has one in it. nullopt: it has none. `interrupt` as in RunContext.
[[nodiscard]] Result<std::optional<std::string>> tokenizer_key(const ModelFacts& model,
                                                               const std::atomic<int>* interrupt);

}  // namespace infermeter
