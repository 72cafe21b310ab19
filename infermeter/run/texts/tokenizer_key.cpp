#include "infermeter/run/texts/tokenizer_key.hpp"

#include <filesystem>

#include "infermeter/models/gguf/gguf_summary.hpp"
#include "infermeter/models/sha256.hpp"

namespace infermeter {

Result<std::optional<std::string>> tokenizer_key(const ModelFacts& model, const std::atomic<int>* interrupt) {
  const std::filesystem::path file = std::filesystem::path(model.path).parent_path() / "tokenizer.json";
  std::error_code error;
  if (std::filesystem::is_regular_file(file, error)) {
    INFERMETER_TRY(std::string digest, sha256_of_file(file, interrupt));
    return std::optional(std::move(digest));
  }
  return model.format == kGgufFormat ? std::optional(model.sha256) : std::nullopt;
}

}  // namespace infermeter
