#include "infermeter/models/zoo/llama.hpp"

#include <fmt/format.h>

#include <array>
#include <bit>
#include <cmath>
#include <vector>

#include "infermeter/data/new_file.hpp"
#include "infermeter/diagnostics/check.hpp"
#include "infermeter/diagnostics/interrupt.hpp"
#include "infermeter/models/zoo/weights.hpp"

namespace infermeter {
namespace {

namespace fs = std::filesystem;

constexpr int byte_tokens = 256, begin_token = 256, end_token = 257, vocabulary_size = 258;
constexpr std::array<std::string_view, 5> llama_file_names = {
    "config.json", "generation_config.json", "model.safetensors", "tokenizer.json", "tokenizer_config.json"};

struct LlamaTensor {
  std::string name;
  std::vector<std::size_t> shape;
  Draw draw;

  [[nodiscard]] std::size_t count() const {
    std::size_t elements = 1;
    for (const std::size_t size : shape) elements *= size;
    return elements;
  }
};

// As many rows as outputs, as in torch's Linear.
LlamaTensor llama_linear(std::string name, int outputs, int inputs, double gain = 1) {
  const auto columns = static_cast<std::size_t>(inputs);
  return {std::move(name),
          {static_cast<std::size_t>(outputs), columns},
          {.mean = 0, .sd = gain / std::sqrt(static_cast<double>(inputs)), .zero_sum_row = 0}};
}

LlamaTensor llama_norm(std::string name, int size) {
  constexpr double sd = 0.1;
  return {std::move(name), {static_cast<std::size_t>(size)}, {.mean = 1, .sd = sd, .zero_sum_row = 0}};
}

// Names are those of transformers' LlamaForCausalLM.
std::vector<LlamaTensor> llama_tensors(const LlamaSizes& sizes) {
  const int width = sizes.heads * sizes.head_size, narrow = sizes.key_value_heads * sizes.head_size;
  std::vector<LlamaTensor> tensors;
  tensors.push_back({"model.embed_tokens.weight",
                     {static_cast<std::size_t>(vocabulary_size), static_cast<std::size_t>(sizes.hidden)},
                     {.mean = 0, .sd = 1, .zero_sum_row = 0}});
  for (int i = 0; i < sizes.layers; ++i) {
    const std::string layer = fmt::format("model.layers.{}.", i);
    tensors.push_back(llama_norm(layer + "input_layernorm.weight", sizes.hidden));
    tensors.push_back(llama_linear(layer + "self_attn.q_proj.weight", width, sizes.hidden));
    tensors.push_back(llama_linear(layer + "self_attn.k_proj.weight", narrow, sizes.hidden));
    tensors.push_back(llama_linear(layer + "self_attn.v_proj.weight", narrow, sizes.hidden));
    tensors.push_back(llama_linear(layer + "self_attn.o_proj.weight", sizes.hidden, width));
    tensors.push_back(llama_norm(layer + "post_attention_layernorm.weight", sizes.hidden));
    tensors.push_back(llama_linear(layer + "mlp.gate_proj.weight", sizes.intermediate, sizes.hidden));
    tensors.push_back(llama_linear(layer + "mlp.up_proj.weight", sizes.intermediate, sizes.hidden));
    tensors.push_back(llama_linear(layer + "mlp.down_proj.weight", sizes.hidden, sizes.intermediate));
  }
  tensors.push_back(llama_norm("model.norm.weight", sizes.hidden));
  constexpr double decided = 2;  // the most likely token stands out, so that roundings seldom choose another one
  tensors.push_back(llama_linear("lm_head.weight", vocabulary_size, sizes.hidden, decided));
  return tensors;
}

// --- texts ---------------------------------------------------------------------------------------------------------

std::string config_text(const LlamaSizes& sizes) {
  return fmt::format(
      R"({{
  "architectures": ["LlamaForCausalLM"],
  "attention_bias": false,
  "attention_dropout": 0.0,
  "bos_token_id": {},
  "dtype": "float32",
  "eos_token_id": {},
  "head_dim": {},
  "hidden_act": "silu",
  "hidden_size": {},
  "initializer_range": 0.02,
  "intermediate_size": {},
  "max_position_embeddings": {},
  "mlp_bias": false,
  "model_type": "llama",
  "num_attention_heads": {},
  "num_hidden_layers": {},
  "num_key_value_heads": {},
  "pretraining_tp": 1,
  "rms_norm_eps": 1e-05,
  "rope_theta": 10000.0,
  "tie_word_embeddings": false,
  "use_cache": true,
  "vocab_size": {}
}}
)",
      begin_token, end_token, sizes.head_size, sizes.hidden, sizes.intermediate, sizes.context, sizes.heads,
      sizes.layers, sizes.key_value_heads, vocabulary_size);
}

std::string generation_config_text() {
  return fmt::format("{{\n  \"bos_token_id\": {},\n  \"do_sample\": false,\n  \"eos_token_id\": {}\n}}\n", begin_token,
                     end_token);
}

std::string tokenizer_config_text(const LlamaSizes& sizes) {
  return fmt::format(R"({{
  "bos_token": "<s>",
  "clean_up_tokenization_spaces": false,
  "eos_token": "</s>",
  "model_max_length": {},
  "tokenizer_class": "PreTrainedTokenizerFast"
}}
)",
                     sizes.context);
}

// A byte as byte-level tokenizers write it (GPT-2's table): as itself where it is a visible character of Latin-1, else
// as one of the characters from U+0100 on, in order. As JSON.
std::string byte_as_json(int byte, int& next_character) {
  const bool is_visible = (byte >= '!' && byte <= '~') || (byte >= 0xa1 && byte <= 0xac) || byte >= 0xae;
  const int character = is_visible ? byte : next_character++;
  if (character == '"' || character == '\\') return fmt::format("\\{:c}", static_cast<char>(character));
  if (character < 0x80) return std::string(1, static_cast<char>(character));
  return fmt::format("\\u{:04x}", character);
}

// Byte-level BPE without merges: the token of a byte has its number.
std::string tokenizer_text() {
  std::string vocabulary;
  int next_character = 0x100;
  for (int byte = 0; byte < byte_tokens; ++byte)
    vocabulary += fmt::format("{}\"{}\": {}", byte == 0 ? "" : ", ", byte_as_json(byte, next_character), byte);
  const auto special = [](std::string_view content, int id) {
    return fmt::format(
        R"({{"id": {}, "content": "{}", "single_word": false, "lstrip": false, "rstrip": false, "normalized": false, "special": true}})",
        id, content);
  };
  return fmt::format(R"({{
  "version": "1.0",
  "truncation": null,
  "padding": null,
  "added_tokens": [{}, {}],
  "normalizer": null,
  "pre_tokenizer": {{"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": false, "use_regex": false}},
  "post_processor": null,
  "decoder": {{"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": false, "use_regex": false}},
  "model": {{"type": "BPE", "dropout": null, "unk_token": null, "continuing_subword_prefix": null, "end_of_word_suffix": null,
    "fuse_unk": false, "byte_fallback": false, "ignore_merges": false, "vocab": {{{}, "<s>": {}, "</s>": {}}}, "merges": []}}
}}
)",
                     special("<s>", begin_token), special("</s>", end_token), vocabulary, begin_token, end_token);
}

// --- weights -------------------------------------------------------------------------------------------------------

// Eight bytes with the size of what follows, which is JSON: of each tensor its type, shape and place in the bytes
// behind.
std::string safetensors_head(const std::vector<LlamaTensor>& tensors) {
  std::string json = R"({"__metadata__":{"format":"pt"})";
  std::size_t begin = 0;
  for (const LlamaTensor& tensor : tensors) {
    const std::size_t end = begin + tensor.count() * sizeof(float);
    std::string shape;
    for (const std::size_t size : tensor.shape) shape += fmt::format("{}{}", shape.empty() ? "" : ",", size);
    json +=
        fmt::format(R"(,"{}":{{"dtype":"F32","shape":[{}],"data_offsets":[{},{}]}})", tensor.name, shape, begin, end);
    begin = end;
  }
  json += '}';
  constexpr std::size_t alignment = 8;
  json.append((alignment - json.size() % alignment) % alignment, ' ');
  static_assert(std::endian::native == std::endian::little);
  const std::uint64_t size = json.size();
  return std::string(reinterpret_cast<const char*>(&size), sizeof size) + json;
}

std::span<const std::byte> bytes_in(std::string_view text) { return std::as_bytes(std::span(text)); }

Result<Done> write_weights(std::string_view name, const LlamaSizes& sizes, const fs::path& file,
                           const std::atomic<int>* interrupt) {
  const std::vector<LlamaTensor> tensors = llama_tensors(sizes);
  INFERMETER_TRY(NewFile made, NewFile::beside(file));
  INFERMETER_TRY_DONE(made.write(bytes_in(safetensors_head(tensors))));
  for (const LlamaTensor& tensor : tensors) {
    if (look_at_interrupts(interrupt) != 0)
      return worker_error(fmt::format("interrupted: '{}' is not written", file.string()));
    const std::string weights = draw_weights(fmt::format("{}/{}", name, tensor.name), tensor.count(), tensor.draw);
    INFERMETER_TRY_DONE(made.write(bytes_in(weights)));
  }
  INFERMETER_TRY_DONE(made.finish());
  return made.take_name(true);
}

}  // namespace

std::span<const std::string_view> llama_files() { return llama_file_names; }

std::uint64_t llama_parameters(const LlamaSizes& sizes) {
  std::uint64_t parameters = 0;
  for (const LlamaTensor& tensor : llama_tensors(sizes)) parameters += tensor.count();
  return parameters;
}

Result<Done> write_llama(std::string_view name, const LlamaSizes& sizes, const fs::path& folder,
                         const std::atomic<int>* interrupt) {
  INFERMETER_TRY_DONE(write_weights(name, sizes, folder / "model.safetensors", interrupt));
  const std::array<std::pair<std::string_view, std::string>, 4> texts = {
      {{"generation_config.json", generation_config_text()},
       {"tokenizer.json", tokenizer_text()},
       {"tokenizer_config.json", tokenizer_config_text(sizes)},
       {"config.json", config_text(sizes)}}};
  for (const auto& [file, text] : texts) INFERMETER_TRY_DONE(write_new_file(folder / file, bytes_in(text), true));
  return Done{};
}

}  // namespace infermeter
