#include "infermeter/data/value_block.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <random>

namespace infermeter::value_block_test {
namespace {

using testing::HasSubstr;

struct alignas(64) Line {
  std::array<std::byte, 64> bytes;
};

// A block at an address like that of mapped memory.
struct Block {
  explicit Block(std::span<const ItemValues> items)
      : size(block_size(items)), lines(std::make_shared<std::vector<Line>>(size / 64 + 1)) {
    write_block(items, bytes());
  }
  [[nodiscard]] std::span<std::byte> bytes() const { return {(*lines)[0].bytes.data(), size}; }
  [[nodiscard]] Result<std::vector<ItemValues>> read(std::size_t part) const {
    return read_block(bytes().first(part), lines);
  }

  std::size_t size;
  std::shared_ptr<std::vector<Line>> lines;
};

Value numbers(std::vector<float> elements) {
  const Shape shape{static_cast<std::int64_t>(elements.size())};
  return {.tensor = make_tensor<float>(DType::float32, shape, elements)};
}

Value sequence(std::vector<Value> elements) {
  return {.kind = Value::Kind::sequence, .tensor = {}, .elements = std::move(elements)};
}

// Every kind of value, with sizes that need padding.
std::vector<ItemValues> samples() {
  const std::array<std::uint8_t, 2> nibbles{0x21, 0x03};
  const Value strings{.tensor = {DType::string, {2, 2}, {}, {"a", std::string("b\0c", 3), "", "longer than a word"}},
                      .elements = {}};
  const Value packed{.tensor = make_tensor<std::uint8_t>(DType::uint4, {3}, nibbles)};
  const Value none{.kind = Value::Kind::none, .tensor = {}};
  return {{numbers({1, 2, 3}), strings, packed}, {}, {none, sequence({numbers({}), sequence({numbers({5})}), none})}};
}

TEST(ValueBlock, GivesBackWhatWasWritten) {
  const auto items = samples();
  const Block block(items);
  const auto read = block.read(block.size);
  ASSERT_TRUE(read.ok()) << read.error().message;
  ASSERT_EQ(read->size(), items.size());
  for (std::size_t i = 0; i < items.size(); ++i) {
    ASSERT_EQ((*read)[i].size(), items[i].size());
    EXPECT_EQ(digest((*read)[i]), digest(items[i])) << i;
  }
  EXPECT_EQ((*read)[0][1].tensor.strings[1], std::string("b\0c", 3));
}

TEST(ValueBlock, DataAreAlignedViews) {
  const Block block(samples());
  const auto read = block.read(block.size);
  for (const Value& value : (*read)[0]) {
    if (value.tensor.dtype == DType::string) continue;
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(value.tensor.data.data()) % 64, 0u);
    EXPECT_GE(value.tensor.data.data(), block.bytes().data());
    EXPECT_LT(value.tensor.data.data(), block.bytes().data() + block.size);
  }
}

TEST(ValueBlock, NoItemsAreABlockToo) {
  const Block block({});
  EXPECT_TRUE(block.read(block.size)->empty());
}

TEST(ValueBlock, CutAnywhereIsAnError) {
  const Block block(samples());
  for (std::size_t part = 0; part < block.size; ++part) {
    const auto read = block.read(part);
    ASSERT_FALSE(read.ok()) << part;
    EXPECT_EQ(read.error().kind, ErrorKind::worker);
    EXPECT_THAT(read.error().message, HasSubstr("damaged"));
  }
}

// Whatever a runtime that went wild wrote over it: an error, or values that lie within the block.
TEST(ValueBlock, OverwrittenNumbersNeverLeadOutOfTheBlock) {
  const Block intact(samples());
  const std::array<std::uint64_t, 7> evil{0, 1, 2, 24, 1u << 20, std::uint64_t{1} << 63, ~std::uint64_t{0}};
  for (std::size_t offset = 0; offset + 8 <= intact.size; offset += 8) {
    for (const std::uint64_t number : evil) {
      const Block block(samples());
      std::memcpy(block.bytes().data() + offset, &number, sizeof number);
      const auto read = block.read(block.size);
      if (!read.ok()) continue;
      for (const ItemValues& item : *read) EXPECT_NE(digest(item), 0u);  // touches every byte
    }
  }
}

TEST(ValueBlock, RandomBytesAreRefused) {
  std::mt19937_64 random(7);
  const Block block(samples());
  for (int round = 0; round < 2000; ++round) {
    std::vector<Line> noise(4);
    for (Line& line : noise) {
      for (std::byte& byte : line.bytes) byte = static_cast<std::byte>(random());
    }
    std::memcpy(noise[0].bytes.data(), block.bytes().data(), 24);  // a good beginning
    const auto read = read_block({noise[0].bytes.data(), 256}, nullptr);
    EXPECT_FALSE(read.ok());
  }
}

TEST(ValueBlock, DeepNestingIsRefused) {
  Value value = numbers({1});
  for (int depth = 0; depth < 40; ++depth) value = sequence({value});
  const std::vector<ItemValues> items{{value}};
  const Block block(items);
  EXPECT_THAT(block.read(block.size).error().message, HasSubstr("nested too deeply"));
}

// Eight bytes of a block are a value, or a text, of many more.
TEST(ValueBlock, TakesNoMoreMemoryThanItMay) {
  const Value none{.kind = Value::Kind::none, .tensor = {}};
  const Value texts{.tensor = {DType::string, {100'000}, {}, std::vector<std::string>(100'000)}, .elements = {}};
  for (const std::vector<ItemValues>& items :
       {std::vector<ItemValues>(1, ItemValues(100'000, none)), std::vector<ItemValues>{{texts}},
        std::vector<ItemValues>(100'000), std::vector<ItemValues>{{sequence(std::vector<Value>(100'000, none))}}}) {
    const Block block(items);
    EXPECT_THAT(read_block(block.bytes(), block.lines, 1'000'000).error().message, HasSubstr("too many parts"));
    EXPECT_TRUE(block.read(block.size).ok());
  }
}

TEST(ValueBlock, SaysWhatIsForeign) {
  const Block block(samples());
  block.bytes()[0] = std::byte{0};
  EXPECT_THAT(block.read(block.size).error().message, HasSubstr("magic"));
  const Block newer(samples());
  newer.bytes()[8] = std::byte{9};
  EXPECT_THAT(newer.read(newer.size).error().message, HasSubstr("its version is 9"));
}

}  // namespace
}  // namespace infermeter::value_block_test
