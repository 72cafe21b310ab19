// What a GGUF file says of itself: a language model with its tokenizer, as llama.cpp reads it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "infermeter/diagnostics/result.hpp"

namespace infermeter {

inline constexpr std::string_view kGgufFormat = "gguf";

struct GgufSummary {
  // How the weights are stored: the tensors of one type.
  struct Weights {
    std::string type;  // "Q8_0"; of a type that is not known here "type 77"
    std::uint64_t tensors = 0, elements = 0;
    std::optional<std::uint64_t> bytes{};  // nullopt: of a type that is not known here
  };
  std::uint32_t version = 0;
  std::string architecture, name, tokenizer;  // "llama", "TinyLlama", "gpt2"; empty: not said
  std::uint64_t parameters = 0;               // elements of all tensors; of a part of a model, of that part
  std::vector<Weights> weights;               // most elements first
  // Of the architecture; nullopt: not said, or said differently for each layer.
  std::optional<std::uint64_t> context_length{}, embedding_length{}, layers{}, heads{}, kv_heads{}, key_length{},
      value_length{};
  std::optional<std::uint64_t> vocabulary{};
  bool keeps_all_keys = true;  // of each token, in each layer and head, as many in each
  std::uint64_t parts = 1;     // files that the model has; this is one of them

  // Bytes that keys and values of one token take in float16, in all layers, computed from the architecture. nullopt: it
  // is not said, or attention is not of this kind.
  [[nodiscard]] std::optional<std::uint64_t> kv_bytes_per_token() const;
};

// `bytes`: a whole file, in GGUF's versions 2 or 3 (ggml's docs/gguf.md). All counts and lengths are compared with what
// is there; memory does not grow with what the file claims. Errors name `file`.
[[nodiscard]] Result<GgufSummary> read_gguf_summary(std::string_view bytes, std::string_view file);
[[nodiscard]] Result<GgufSummary> read_gguf_summary(const std::filesystem::path& file);

}  // namespace infermeter
