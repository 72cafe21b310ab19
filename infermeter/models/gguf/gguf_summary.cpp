#include "infermeter/models/gguf/gguf_summary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <map>
#include <set>

#include "infermeter/models/mapped_file.hpp"
#include "infermeter/text/quoted.hpp"

namespace infermeter {
namespace {

static_assert(std::endian::native == std::endian::little, "GGUF's numbers are read as they stand");

// ggml's types of tensors: elements of a block, and its bytes (ggml-common.h).
struct TensorType {
  std::uint32_t id;
  std::string_view name;
  std::uint32_t elements, bytes;
};
constexpr auto kTensorTypes = std::to_array<TensorType>(
    {{0, "F32", 1, 4},         {1, "F16", 1, 2},         {2, "Q4_0", 32, 18},      {3, "Q4_1", 32, 20},
     {6, "Q5_0", 32, 22},      {7, "Q5_1", 32, 24},      {8, "Q8_0", 32, 34},      {9, "Q8_1", 32, 40},
     {10, "Q2_K", 256, 84},    {11, "Q3_K", 256, 110},   {12, "Q4_K", 256, 144},   {13, "Q5_K", 256, 176},
     {14, "Q6_K", 256, 210},   {15, "Q8_K", 256, 292},   {16, "IQ2_XXS", 256, 66}, {17, "IQ2_XS", 256, 74},
     {18, "IQ3_XXS", 256, 98}, {19, "IQ1_S", 256, 50},   {20, "IQ4_NL", 32, 18},   {21, "IQ3_S", 256, 110},
     {22, "IQ2_S", 256, 82},   {23, "IQ4_XS", 256, 136}, {24, "I8", 1, 1},         {25, "I16", 1, 2},
     {26, "I32", 1, 4},        {27, "I64", 1, 8},        {28, "F64", 1, 8},        {29, "IQ1_M", 256, 56},
     {30, "BF16", 1, 2},       {34, "TQ1_0", 256, 54},   {35, "TQ2_0", 256, 66},   {39, "MXFP4", 32, 17},
     {40, "NVFP4", 64, 36},    {41, "Q1_0", 128, 18}});

enum class ValueType : std::uint32_t {
  uint8,
  int8,
  uint16,
  int16,
  uint32,
  int32,
  float32,
  boolean,
  text,
  array,
  uint64,
  int64,
  float64
};
constexpr auto kValueBytes = std::to_array<std::uint64_t>({1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8});
// A key's length and a tensor's dimensions are limited by the format; the others by what there is.
constexpr std::size_t kLongestKey = 65535, kMostDimensions = 4, kMostValues = 65536, kMostTypes = 64;

class GgufReader {
 public:
  GgufReader(std::string_view bytes, std::string_view file) : left_(bytes), size_(bytes.size()), file_(file) {}

  Result<GgufSummary> read() {
    constexpr std::string_view magic = "GGUF";
    if (!left_.starts_with(magic))
      return model_error(fmt::format("{} is not a GGUF file: it does not begin with GGUF", in_quotes(file_)));
    left_.remove_prefix(magic.size());
    GgufSummary summary;
    INFERMETER_TRY(summary.version, number<std::uint32_t>());
    if (summary.version != 2 && summary.version != 3)
      return broken(fmt::format("its version is {}, and 2 and 3 are known", summary.version));
    INFERMETER_TRY(const auto tensors, number<std::uint64_t>());
    INFERMETER_TRY(const auto values, number<std::uint64_t>());
    if (values > kMostValues) return broken(fmt::format("its metadata have {} keys", values));
    for (std::uint64_t i = 0; i < values; ++i) INFERMETER_TRY_DONE(read_value());
    for (std::uint64_t i = 0; i < tensors; ++i) INFERMETER_TRY_DONE(read_tensor());
    INFERMETER_TRY_DONE(check_data());
    take_metadata(summary);
    for (auto& [type, weights] : weights_) {
      summary.parameters += weights.elements;
      summary.weights.push_back(std::move(weights));
    }
    std::ranges::stable_sort(summary.weights, std::greater(), &GgufSummary::Weights::elements);
    return summary;
  }

 private:
  [[nodiscard]] Error broken(std::string_view why) const {
    return model_error(fmt::format("the GGUF file {} is broken: {}", in_quotes(file_), why));
  }
  [[nodiscard]] Result<std::string_view> take(std::uint64_t size) {
    if (size > left_.size()) return broken(fmt::format("{} bytes should follow where {} are left", size, left_.size()));
    const std::string_view taken = left_.substr(0, size);
    left_.remove_prefix(size);
    return taken;
  }
  template <class Number>
  [[nodiscard]] Result<Number> number() {
    INFERMETER_TRY(const std::string_view bytes, take(sizeof(Number)));
    Number value{};
    std::memcpy(&value, bytes.data(), sizeof value);
    return value;
  }
  [[nodiscard]] Result<std::string_view> text() {
    INFERMETER_TRY(const auto size, number<std::uint64_t>());
    return take(size);
  }

  Result<Done> read_value() {
    INFERMETER_TRY(const std::string_view key, text());
    if (key.size() > kLongestKey) return broken("its metadata have a key that is too long");
    INFERMETER_TRY(const auto type, number<std::uint32_t>());
    const auto kind = static_cast<ValueType>(type);
    if (kind == ValueType::array) return read_array(key);
    if (kind == ValueType::text) {
      INFERMETER_TRY(texts_[key], text());
      return Done{};
    }
    INFERMETER_TRY(const std::string_view bytes, take_values(type, 1));
    note_integer(key, kind, bytes);
    return Done{};
  }

  // Only integers that are not negative matter here.
  void note_integer(std::string_view key, ValueType kind, std::string_view bytes) {
    if (kind == ValueType::float32 || kind == ValueType::float64 || kind == ValueType::boolean) return;
    std::uint64_t value = 0;
    std::memcpy(&value, bytes.data(), bytes.size());
    const bool is_signed =
        kind == ValueType::int8 || kind == ValueType::int16 || kind == ValueType::int32 || kind == ValueType::int64;
    if (is_signed && (static_cast<unsigned char>(bytes.back()) & 0x80U) != 0) return;
    numbers_[key] = value;
  }

  // Bytes of `count` values that are neither texts nor arrays.
  [[nodiscard]] Result<std::string_view> take_values(std::uint32_t type, std::uint64_t count) {
    const std::uint64_t size = type < kValueBytes.size() ? kValueBytes[type] : 0;
    if (size == 0) return broken(fmt::format("its metadata have a value of type {}, which GGUF does not know", type));
    if (count > left_.size() / size)
      return broken(fmt::format("{} values should follow where {} bytes are left", count, left_.size()));
    return take(count * size);
  }

  Result<Done> read_array(std::string_view key) {
    INFERMETER_TRY(const auto type, number<std::uint32_t>());
    INFERMETER_TRY(const auto count, number<std::uint64_t>());
    constexpr std::string_view tokens = "tokenizer.ggml.tokens";
    if (key == tokens) vocabulary_ = count;
    arrays_.insert(key);
    if (static_cast<ValueType>(type) != ValueType::text) {
      INFERMETER_TRY_DONE(take_values(type, count));
      return Done{};
    }
    for (std::uint64_t i = 0; i < count; ++i) INFERMETER_TRY_DONE(text());
    return Done{};
  }

  Result<Done> read_tensor() {
    INFERMETER_TRY_DONE(text());  // its name
    INFERMETER_TRY(const auto dimensions, number<std::uint32_t>());
    if (dimensions > kMostDimensions)
      return broken(fmt::format("a tensor has {} dimensions, and {} are the most", dimensions, kMostDimensions));
    std::uint64_t elements = 1;
    for (std::uint32_t i = 0; i < dimensions; ++i) {
      INFERMETER_TRY(const auto size, number<std::uint64_t>());
      constexpr std::uint64_t most = std::uint64_t{1} << 48;
      if (size > most || (size > 0 && elements > most / size)) return broken("a tensor is larger than any can be");
      elements *= size;
    }
    INFERMETER_TRY(const auto type, number<std::uint32_t>());
    INFERMETER_TRY(const auto offset, number<std::uint64_t>());
    INFERMETER_TRY_DONE(note_tensor(type, elements, offset));
    if (weights_.size() > kMostTypes) return broken("its tensors have more types than there are");
    return Done{};
  }

  // No type has less than an eighth of a bit for an element, so that sums of elements stay below 2^60.
  Result<Done> note_tensor(std::uint32_t id, std::uint64_t elements, std::uint64_t offset) {
    const auto* const known = std::ranges::find(kTensorTypes, id, &TensorType::id);
    const bool is_known = known != kTensorTypes.end();
    GgufSummary::Weights& weights = weights_[id];
    if (weights.tensors == 0) {
      weights.type = is_known ? std::string(known->name) : fmt::format("type {}", id);
      if (is_known) weights.bytes = 0;
    }
    const std::uint64_t bytes = is_known ? elements / known->elements * known->bytes : elements / 64;
    if (bytes > size_ || offset > size_) return broken("a tensor is larger than the file");
    ++weights.tensors;
    weights.elements += elements;
    if (weights.elements > kMostElements) return broken("its tensors are larger than any can be");
    if (is_known) *weights.bytes += bytes;
    data_end_ = std::max(data_end_, offset + bytes);
    return Done{};
  }

  // What tensors need lies behind their descriptions, at a multiple of the alignment.
  Result<Done> check_data() const {
    const auto said = numbers_.find("general.alignment");
    const std::uint64_t alignment = said == numbers_.end() ? 32 : said->second;
    if (!std::has_single_bit(alignment) || alignment > size_) {
      if (data_end_ == 0) return Done{};
      return broken(fmt::format("its tensors are aligned to {} bytes", alignment));
    }
    const std::uint64_t begin = (size_ - left_.size() + alignment - 1) / alignment * alignment;
    if (data_end_ == 0 || (begin <= size_ && data_end_ <= size_ - begin)) return Done{};
    return broken(fmt::format("its tensors need {} bytes from byte {} on, and it has {}", data_end_, begin, size_));
  }

  void take_metadata(GgufSummary& summary) const {
    const auto said = [&](std::string_view key) {
      const auto found = texts_.find(key);
      return found == texts_.end() ? std::string() : std::string(found->second);
    };
    summary.architecture = said("general.architecture");
    summary.name = said("general.name");
    summary.tokenizer = said("tokenizer.ggml.model");
    summary.vocabulary = vocabulary_;
    if (const auto found = numbers_.find("split.count"); found != numbers_.end()) summary.parts = found->second;
    const auto size = [&](std::string_view key) -> std::optional<std::uint64_t> {
      const std::string whole = fmt::format("{}.{}", summary.architecture, key);
      if (arrays_.contains(whole)) summary.keeps_all_keys = false;
      const auto found = numbers_.find(whole);
      if (found == numbers_.end() || found->second == 0 || found->second > INT32_MAX) return std::nullopt;
      return found->second;
    };
    summary.context_length = size("context_length");
    summary.embedding_length = size("embedding_length");
    summary.layers = size("block_count");
    summary.heads = size("attention.head_count");
    summary.kv_heads = size("attention.head_count_kv");
    summary.key_length = size("attention.key_length");
    summary.value_length = size("attention.value_length");
    // Of which keys and values are compressed, forgotten beyond a window, or a state.
    for (const std::string_view key : {"attention.kv_lora_rank", "attention.sliding_window", "ssm.state_size"})
      summary.keeps_all_keys = summary.keeps_all_keys && !size(key);
  }

  static constexpr std::uint64_t kMostElements = std::uint64_t{1} << 60;

  std::string_view left_;
  std::size_t size_;
  std::string_view file_;
  std::set<std::string_view, std::less<>> arrays_;
  std::uint64_t data_end_ = 0;  // of tensors, from where the first may lie
  std::map<std::string_view, std::string_view, std::less<>> texts_;
  std::map<std::string_view, std::uint64_t, std::less<>> numbers_;
  std::optional<std::uint64_t> vocabulary_;
  std::map<std::uint32_t, GgufSummary::Weights> weights_;
};

}  // namespace

std::optional<std::uint64_t> GgufSummary::kv_bytes_per_token() const {
  if (!layers || !heads || !embedding_length || !keeps_all_keys) return std::nullopt;
  // What a file leaves out, as llama.cpp completes it: as many heads for keys and values, which share the embedding.
  const std::uint64_t head = *embedding_length / *heads;
  const std::uint64_t both = key_length.value_or(head) + value_length.value_or(head);
  constexpr std::uint64_t float16_bytes = 2, most = std::uint64_t{1} << 50;
  std::uint64_t bytes = float16_bytes;
  for (const std::uint64_t factor : {*layers, kv_heads.value_or(*heads), both}) {
    if (factor > most / bytes) return std::nullopt;
    bytes *= std::max<std::uint64_t>(factor, 1);
  }
  return bytes;
}

Result<GgufSummary> read_gguf_summary(std::string_view bytes, std::string_view file) {
  return GgufReader(bytes, file).read();
}

Result<GgufSummary> read_gguf_summary(const std::filesystem::path& file) {
  INFERMETER_TRY(const auto mapped, MappedFile::open(file));
  auto summary = read_gguf_summary(mapped.bytes(), file.string());
  INFERMETER_TRY_DONE(mapped.check_whole());
  return summary;
}

}  // namespace infermeter
