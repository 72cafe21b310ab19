#include "infermeter/data/tensor.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>

namespace infermeter::tensor_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr std::int64_t kHuge = std::int64_t{1} << 40;

Tensor packed(DType dtype, std::int64_t count, std::vector<std::uint8_t> bytes) {
  return make_tensor<std::uint8_t>(dtype, {count}, bytes);
}

TEST(DType, NamesAndSizes) {
  for (int number = 1; number <= 23; ++number) {
    const auto dtype = static_cast<DType>(number);
    EXPECT_EQ(dtype_from_string(to_string(dtype)), dtype) << number;
  }
  EXPECT_EQ(to_string(DType::boolean), "bool");
  EXPECT_EQ(to_string(static_cast<DType>(99)), "undefined");
  EXPECT_EQ(to_string(static_cast<DType>(-1)), "undefined");
  EXPECT_EQ(dtype_from_string("undefined"), std::nullopt);
  EXPECT_EQ(dtype_from_string("float"), std::nullopt);
  EXPECT_EQ(bytes_of(DType::float16, 3), 6u);
  EXPECT_EQ(bytes_of(DType::complex128, 2), 32u);
  EXPECT_EQ(bytes_of(DType::int4, 0), 0u);
  EXPECT_EQ(bytes_of(DType::int4, 1), 1u);
  EXPECT_EQ(bytes_of(DType::uint4, 9), 5u);
  EXPECT_EQ(bytes_of(DType::string, 7), 0u);
  EXPECT_EQ(bytes_of(DType::int4, std::numeric_limits<std::size_t>::max()), std::size_t{1} << 63);
}

TEST(Shape, CountsElementsOrNothing) {
  EXPECT_EQ(element_count(Shape{}), 1u);
  EXPECT_EQ(element_count(Shape{2, 3, 4}), 24u);
  EXPECT_EQ(element_count(Shape{2, -1}), std::nullopt);
  EXPECT_EQ(element_count(Shape{0, -1}), std::nullopt);
  EXPECT_EQ(element_count(Shape{kHuge, kHuge}), std::nullopt);
  EXPECT_EQ(element_count(Shape{kHuge, kHuge, 0}), 0u);
  EXPECT_EQ(element_count(Shape{std::int64_t{1} << 59}), std::size_t{1} << 59);
  EXPECT_EQ(element_count(Shape{std::int64_t{1} << 60}), std::nullopt);  // 2^64 bytes of complex128
  EXPECT_EQ(to_string(Shape{1, -1, 224}), "[1, ?, 224]");
  EXPECT_EQ(to_string(Shape{}), "[]");
}

TEST(Bytes, AreAlignedZeroedAndShared) {
  for (const std::size_t size : {0u, 1u, 63u, 1000u}) {
    std::byte* writable = nullptr;
    const Bytes bytes = Bytes::allocate(size, &writable);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(bytes.data()) % 64, 0u);
    EXPECT_NE(bytes.data(), nullptr);
    EXPECT_EQ(bytes.size(), size);
    for (const std::byte byte : bytes.span()) EXPECT_EQ(byte, std::byte{0});
    const Bytes copy = bytes;
    EXPECT_EQ(copy.data(), bytes.data());
  }
}

TEST(Bytes, AViewKeepsItsOwner) {
  auto owner = std::make_shared<std::array<std::byte, 8>>();
  const std::weak_ptr<std::array<std::byte, 8>> watch = owner;
  {
    const Bytes view = Bytes::view(*owner, owner);
    owner.reset();
    EXPECT_FALSE(watch.expired());
    EXPECT_EQ(view.size(), 8u);
  }
  EXPECT_TRUE(watch.expired());
}

TEST(ToDoubles, WidensEveryNumber) {
  const std::array<float, 3> floats{1.5F, -0.0F, std::numeric_limits<float>::infinity()};
  const auto doubles = *to_doubles(make_tensor<float>(DType::float32, {3}, floats));
  EXPECT_THAT(doubles, ElementsAre(1.5, 0.0, std::numeric_limits<double>::infinity()));
  EXPECT_TRUE(std::signbit(doubles[1]));
  const std::array<std::int64_t, 1> big{-(std::int64_t{1} << 53)};
  EXPECT_THAT(*to_doubles(make_tensor<std::int64_t>(DType::int64, {1}, big)), ElementsAre(-9007199254740992.0));
  const std::array<std::uint64_t, 1> biggest{std::numeric_limits<std::uint64_t>::max()};
  EXPECT_THAT(*to_doubles(make_tensor<std::uint64_t>(DType::uint64, {1}, biggest)), ElementsAre(0x1p64));
  EXPECT_THAT(*to_doubles(packed(DType::int8, 2, {0xFF, 0x7F})), ElementsAre(-1, 127));
  EXPECT_THAT(*to_doubles(packed(DType::boolean, 2, {1, 0})), ElementsAre(1, 0));
}

TEST(ToDoubles, UnpacksLowNibbleFirst) {
  EXPECT_THAT(*to_doubles(packed(DType::uint4, 3, {0xA1, 0x0F})), ElementsAre(1, 10, 15));
  EXPECT_THAT(*to_doubles(packed(DType::int4, 3, {0x81, 0x0F})), ElementsAre(1, -8, -1));
  EXPECT_THAT(*to_doubles(packed(DType::float4e2m1, 2, {0xF1})), ElementsAre(0.5, -6));
}

TEST(ToDoubles, ComplexNumbersGiveAllRealPartsFirst) {
  const std::array<float, 4> parts{1, 2, 3, 4};  // 1 + 2i, 3 + 4i
  EXPECT_THAT(*to_doubles(Tensor{DType::complex64, {2}, Bytes::copy_of(std::as_bytes(std::span(parts))), {}}),
              ElementsAre(1, 3, 2, 4));
}

TEST(ToDoubles, RefusesWhatHasNoNumbers) {
  EXPECT_THAT(to_doubles(Tensor{DType::string, {1}, {}, {"a"}}).error().message, HasSubstr("type string"));
  EXPECT_THAT(to_doubles(packed(DType::float32, 2, {0, 0, 0, 0})).error().message, HasSubstr("cannot have 4 bytes"));
  EXPECT_THAT(to_doubles(Tensor{}).error().message, HasSubstr("undefined"));
}

Value value_of(Tensor tensor) { return {.kind = Value::Kind::tensor, .tensor = std::move(tensor)}; }

std::uint64_t digest_of(Value value) { return digest(std::span<const Value>(&value, 1)); }

TEST(Digest, IsFnv1a) {
  EXPECT_EQ(digest({}), 0xCBF29CE484222325u);
  // One absent value: eight zero bytes, each step a multiplication by the FNV prime 2^40 + 435.
  std::uint64_t expected = 0xCBF29CE484222325u;
  for (int i = 0; i < 8; ++i) expected *= (std::uint64_t{1} << 40) + 435;
  EXPECT_EQ(digest_of({.kind = Value::Kind::none, .tensor = {}}), expected);
}

TEST(Digest, TellsKindTypeShapeAndBytesApart) {
  const std::uint64_t base = digest_of(value_of(packed(DType::uint8, 4, {1, 2, 3, 4})));
  EXPECT_EQ(base, digest_of(value_of(packed(DType::uint8, 4, {1, 2, 3, 4}))));
  EXPECT_NE(base, digest_of(value_of(packed(DType::uint8, 4, {1, 2, 3, 5}))));
  EXPECT_NE(base, digest_of(value_of(packed(DType::int8, 4, {1, 2, 3, 4}))));
  Tensor square = packed(DType::uint8, 4, {1, 2, 3, 4});
  square.shape = {2, 2};
  EXPECT_NE(base, digest_of(value_of(square)));
  const Value inner = value_of(packed(DType::uint8, 4, {1, 2, 3, 4}));
  EXPECT_NE(base, digest_of({.kind = Value::Kind::sequence, .tensor = {}, .elements = {inner}}));
  EXPECT_NE(digest_of(value_of({DType::string, {2}, {}, {"ab", "c"}})),
            digest_of(value_of({DType::string, {2}, {}, {"a", "bc"}})));
}

}  // namespace
}  // namespace infermeter::tensor_test
