// Language models of the zoo: Llama's architecture (RMSNorm, rotary positions, grouped-query attention, SwiGLU) with
// seeded weights and a tokenizer whose tokens are bytes, as a folder in the form that Hugging Face's tools read.
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

#include "infermeter/diagnostics/result.hpp"

namespace infermeter {

struct LlamaSizes {
  int hidden, intermediate, layers;
  int heads, key_value_heads, head_size;
  int context;  // most tokens, prompt and answer together
};

// The files of such a folder, in the order in which a model's digest takes them (resolve_model).
[[nodiscard]] std::span<const std::string_view> llama_files();

[[nodiscard]] std::uint64_t llama_parameters(const LlamaSizes& sizes);

// Writes all files into `folder`, which is there; config.json comes last. Not 0 in `interrupt`, looked at between the
// tensors: an error.
[[nodiscard]] Result<Done> write_llama(std::string_view name, const LlamaSizes& sizes,
                                       const std::filesystem::path& folder, const std::atomic<int>* interrupt);

}  // namespace infermeter
