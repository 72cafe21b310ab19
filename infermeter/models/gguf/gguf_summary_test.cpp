#include "infermeter/models/gguf/gguf_summary.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

namespace infermeter::gguf_summary_test {
namespace {

using testing::HasSubstr;

template <class Number>
std::string number(Number value) {
  std::string bytes(sizeof value, '\0');
  std::memcpy(bytes.data(), &value, sizeof value);
  return bytes;
}
std::string text(const std::string& value) { return number(std::uint64_t{value.size()}) + value; }
std::string size_key(const std::string& key, std::uint32_t value) { return text(key) + number(4U) + number(value); }
std::string text_key(const std::string& key, const std::string& value) { return text(key) + number(8U) + text(value); }
std::string tensor(const std::string& name, const std::vector<std::uint64_t>& shape, std::uint32_t type) {
  std::string bytes = text(name) + number(static_cast<std::uint32_t>(shape.size()));
  for (const std::uint64_t size : shape) bytes += number(size);
  return bytes + number(type) + number(std::uint64_t{0});
}
std::string file_of(const std::vector<std::string>& values, const std::vector<std::string>& tensors) {
  std::string bytes =
      "GGUF" + number(3U) + number(std::uint64_t{tensors.size()}) + number(std::uint64_t{values.size()});
  for (const std::string& one : values) bytes += one;
  for (const std::string& one : tensors) bytes += one;
  return bytes;
}
// With room for what its tensors say that they have.
std::string whole_file(const std::vector<std::string>& values, const std::vector<std::string>& tensors) {
  return file_of(values, tensors) + std::string(20'000, '\0');
}

std::vector<std::string> llama() {
  return {
      text_key("general.architecture", "llama"),
      text_key("tokenizer.ggml.model", "gpt2"),
      text("tokenizer.ggml.tokens") + number(9U) + number(8U) + number(std::uint64_t{2}) + text("a") + text("b"),
      text("tokenizer.ggml.scores") + number(9U) + number(6U) + number(std::uint64_t{2}) + number(0.5F) + number(1.0F),
      size_key("llama.block_count", 3),
      size_key("llama.embedding_length", 64),
      size_key("llama.attention.head_count", 4),
      size_key("llama.attention.head_count_kv", 2),
      text("llama.context_length") + number(11U) + number(std::int64_t{2048})};
}

std::string why_not(const std::string& bytes) {
  const auto summary = read_gguf_summary(bytes, "x\x1b.gguf");
  return summary.ok() ? "" : summary.error().message;
}

TEST(GgufSummary, SaysWhatTheFileSays) {
  const auto summary = read_gguf_summary(whole_file(llama(), {tensor("a", {64, 3}, 0), tensor("b", {64, 64}, 8),
                                                              tensor("c", {32}, 8), tensor("d", {5}, 77)}),
                                         "x");
  ASSERT_TRUE(summary.ok()) << summary.error().message;
  EXPECT_EQ(summary->architecture, "llama");
  EXPECT_EQ(summary->tokenizer, "gpt2");
  EXPECT_EQ(summary->vocabulary, 2U);
  EXPECT_EQ(summary->context_length, 2048U);
  EXPECT_EQ(summary->parameters, 192U + 4096 + 32 + 5);
  ASSERT_EQ(summary->weights.size(), 3U);
  EXPECT_EQ(summary->weights[0].type, "Q8_0");
  EXPECT_EQ(summary->weights[0].tensors, 2U);
  EXPECT_EQ(summary->weights[0].bytes, (4096U + 32) / 32 * 34);
  EXPECT_EQ(summary->weights[1].bytes, 192U * 4);
  EXPECT_EQ(summary->weights[2].type, "type 77");
  EXPECT_EQ(summary->weights[2].bytes, std::nullopt);
  // Two heads of 16 for keys and two for values, in three layers, of two bytes.
  EXPECT_EQ(summary->kv_bytes_per_token(), 2U * 16 * 2 * 3 * 2);
}

TEST(GgufSummary, KeysAndValuesAreComputedOnlyWhereAllAreKept) {
  auto values = llama();
  values.push_back(size_key("llama.attention.key_length", 32));
  EXPECT_EQ(read_gguf_summary(file_of(values, {}), "x")->kv_bytes_per_token(), 2U * (32 + 16) * 3 * 2);
  values.push_back(size_key("llama.attention.sliding_window", 512));
  EXPECT_EQ(read_gguf_summary(file_of(values, {}), "x")->kv_bytes_per_token(), std::nullopt);
  EXPECT_EQ(read_gguf_summary(file_of({}, {}), "x")->kv_bytes_per_token(), std::nullopt);
}

TEST(GgufSummary, KeysAndValuesThatDifferByLayerAreNotComputed) {
  auto values = llama();
  values[7] = text("llama.attention.head_count_kv") + number(9U) + number(4U) + number(std::uint64_t{2}) + number(0U) +
              number(2U);
  const auto summary = read_gguf_summary(file_of(values, {}), "x");
  EXPECT_EQ(summary->kv_heads, std::nullopt);
  EXPECT_EQ(summary->kv_bytes_per_token(), std::nullopt);
  GgufSummary huge;
  huge.embedding_length = 1;
  huge.layers = huge.heads = huge.key_length = INT32_MAX;
  EXPECT_EQ(huge.kv_bytes_per_token(), std::nullopt);
}

TEST(GgufSummary, APartSaysThatItIsOne) {
  EXPECT_EQ(read_gguf_summary(file_of(llama(), {}), "x")->parts, 1U);
  auto values = llama();
  values.push_back(text("split.count") + number(2U) + number(std::uint16_t{3}));
  EXPECT_EQ(read_gguf_summary(file_of(values, {}), "x")->parts, 3U);
}

TEST(GgufSummary, TensorsMustBeThere) {
  const std::string head = file_of({}, {tensor("a", {64, 4}, 0)});
  const std::size_t begin = (head.size() + 31) / 32 * 32;
  const std::string whole = head + std::string(begin - head.size() + 1024, '\0');
  EXPECT_TRUE(read_gguf_summary(whole, "x").ok());
  EXPECT_THAT(why_not(whole.substr(0, whole.size() - 1)), HasSubstr("its tensors need 1024 bytes from byte"));
  EXPECT_THAT(why_not(head), HasSubstr("larger than the file"));
  EXPECT_THAT(why_not(file_of({size_key("general.alignment", 24)}, {tensor("a", {4}, 0)}) + std::string(100, '\0')),
              HasSubstr("aligned to 24 bytes"));
  EXPECT_THAT(why_not(file_of({}, {tensor("a", {1ULL << 40}, 77)})), HasSubstr("larger than the file"));
}

TEST(GgufSummary, ABrokenFileIsRefusedInASentence) {
  EXPECT_THAT(why_not("PK"), HasSubstr("'x\\x1b.gguf' is not a GGUF file"));
  EXPECT_THAT(why_not("GGUF" + number(1U) + std::string(16, '\0')),
              HasSubstr("its version is 1, and 2 and 3 are known"));
  EXPECT_THAT(why_not(file_of({text("k") + number(13U)}, {})),
              HasSubstr("a value of type 13, which GGUF does not know"));
  const std::string many = "GGUF" + number(3U) + number(std::uint64_t{0}) + number(std::uint64_t{1} << 60);
  EXPECT_THAT(why_not(many), HasSubstr("its metadata have 1152921504606846976 keys"));
  const std::string long_text = file_of({text("k") + number(8U) + number(UINT64_MAX)}, {});
  EXPECT_THAT(why_not(long_text), HasSubstr("18446744073709551615 bytes should follow where 0 are left"));
  const std::string long_array = file_of({text("k") + number(9U) + number(10U) + number(UINT64_MAX / 4)}, {});
  EXPECT_THAT(why_not(long_array), HasSubstr("4611686018427387903 values should follow where 0 bytes are left"));
  EXPECT_THAT(why_not(file_of({}, {tensor("a", {1, 2, 3, 4, 5}, 0)})), HasSubstr("a tensor has 5 dimensions"));
  EXPECT_THAT(why_not(file_of({}, {tensor("a", {1ULL << 40, 1ULL << 40}, 0)})), HasSubstr("larger than any can be"));
  EXPECT_THAT(why_not(file_of({text(std::string(70'000, 'k')) + number(4U) + number(1U)}, {})),
              HasSubstr("a key that is too long"));
  std::vector<std::string> types;
  for (std::uint32_t type = 100; type < 200; ++type) types.push_back(tensor("a", {1}, type));
  EXPECT_THAT(why_not(file_of({}, types)), HasSubstr("more types than there are"));
}

TEST(GgufSummary, AnyCutIsRefused) {
  const std::string whole = file_of(llama(), {tensor("a", {64, 3}, 0)});
  ASSERT_TRUE(read_gguf_summary(whole + std::string(1000, '\0'), "x").ok());
  for (std::size_t size = 0; size < whole.size(); ++size)
    EXPECT_FALSE(read_gguf_summary(whole.substr(0, size), "x").ok()) << size;
}

}  // namespace
}  // namespace infermeter::gguf_summary_test
