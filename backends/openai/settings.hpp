// The options of this back end.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "http/place.hpp"
#include "lengths.hpp"

namespace infermeter {

enum class Api { chat, completions };
enum class PromptSource { synthetic, data, file };

struct Settings {
  ServerOptions server{};
  Api api = Api::chat;
  bool stream = true;
  PromptSource prompts = PromptSource::synthetic;
  std::string prompt_file{};
  std::string of_synthetic{};   // an option that was given and is of synthetic prompts alone
  Lengths prompt_tokens = 128;  // words, in fact
  int shared_prefix = 0;        // of them
  Lengths output_tokens = 64;
  bool force_length = false;
  std::optional<std::uint64_t> seed{};
};

[[nodiscard]] std::span<const OptionRow<Settings>> option_rows();

// Throws Failure(IMB_INVALID_ARGUMENT): options that do not go together.
void check_together(const Settings& settings);

}  // namespace infermeter
