#include "infermeter/data/arrays/tensor_proto.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <protozero/pbf_writer.hpp>

#include "infermeter/data/regular_file.hpp"

namespace infermeter::tensor_proto_test {
namespace {

using protozero::pbf_writer;
using testing::ElementsAre;
using testing::HasSubstr;

// A TensorProto of one dimension, and what `fill` adds.
template <class Fill>
std::string message(int data_type, std::int64_t count, Fill fill) {
  std::string out;
  pbf_writer writer(out);
  writer.add_int64(1, count);
  writer.add_int32(2, data_type);
  fill(writer);
  return out;
}

Result<Value> parse(const std::string& bytes, ProtoKind kind = ProtoKind::tensor) {
  return parse_value(std::as_bytes(std::span(bytes)), kind, "input_0.pb");
}

std::vector<double> numbers(const std::string& bytes) {
  const auto value = parse(bytes);
  EXPECT_TRUE(value.ok()) << value.error().message;
  return value.ok() ? *to_doubles(value->tensor) : std::vector<double>{};
}

std::string refusal(const std::string& bytes, ProtoKind kind = ProtoKind::tensor) {
  const auto value = parse(bytes, kind);
  return value.ok() ? "accepted" : value.error().message;
}

std::string with_int32s(DType dtype, std::int64_t count, std::vector<std::int32_t> numbers) {
  return message(static_cast<int>(dtype), count,
                 [&](pbf_writer& writer) { writer.add_packed_int32(5, numbers.begin(), numbers.end()); });
}

std::string raw(DType dtype, std::int64_t count, const std::string& bytes) {
  return message(static_cast<int>(dtype), count, [&](pbf_writer& writer) { writer.add_bytes(9, bytes); });
}

std::string nested(unsigned field, const std::string& inner) {
  std::string out;
  pbf_writer writer(out);
  writer.add_message(field, inner);
  return out;
}

TEST(TensorProto, ReadsRawData) {
  EXPECT_THAT(numbers(raw(DType::uint8, 3, "\x01\x02\xFF")), ElementsAre(1, 2, 255));
  EXPECT_THAT(numbers(raw(DType::float32, 1, std::string("\0\0\x80\x3F", 4))), ElementsAre(1));
  EXPECT_THAT(numbers(raw(DType::int4, 3, "\x81\x0F")), ElementsAre(1, -8, -1));
  EXPECT_THAT(numbers(raw(DType::complex64, 1, std::string("\0\0\x80\x3F\0\0\0\x40", 8))), ElementsAre(1, 2));
}

TEST(TensorProto, ReadsTypedFields) {
  const std::vector<float> floats{1.5F, -2};
  const std::vector<double> doubles{1.5, -2};
  const std::vector<std::int64_t> wide{-1, 1LL << 40};
  const std::vector<std::uint64_t> unsigned_wide{5, (1ULL << 32) - 1};
  const auto with = [](DType dtype, std::int64_t count, auto add) {
    return message(static_cast<int>(dtype), count, add);
  };
  const auto float_field = [&](pbf_writer& w) { w.add_packed_float(4, floats.begin(), floats.end()); };
  const auto double_field = [&](pbf_writer& w) { w.add_packed_double(10, doubles.begin(), doubles.end()); };
  const auto int64_field = [&](pbf_writer& w) { w.add_packed_int64(7, wide.begin(), wide.end()); };
  const auto uint64_field = [&](pbf_writer& w) { w.add_packed_uint64(11, unsigned_wide.begin(), unsigned_wide.end()); };
  EXPECT_THAT(numbers(with(DType::float32, 2, float_field)), ElementsAre(1.5, -2));
  EXPECT_THAT(numbers(with(DType::complex64, 1, float_field)), ElementsAre(1.5, -2));
  EXPECT_THAT(numbers(with(DType::float64, 2, double_field)), ElementsAre(1.5, -2));
  EXPECT_THAT(numbers(with(DType::complex128, 1, double_field)), ElementsAre(1.5, -2));
  EXPECT_THAT(numbers(with(DType::int64, 2, int64_field)), ElementsAre(-1, 0x1p40));
  EXPECT_THAT(numbers(with(DType::uint64, 2, uint64_field)), ElementsAre(5, 4294967295.0));
  EXPECT_THAT(numbers(with(DType::uint32, 2, uint64_field)), ElementsAre(5, 4294967295.0));
}

// int32_data holds everything that is narrower, as bit patterns.
TEST(TensorProto, ReadsNarrowTypesFromInt32Data) {
  EXPECT_THAT(numbers(with_int32s(DType::int32, 2, {-7, 7})), ElementsAre(-7, 7));
  EXPECT_THAT(numbers(with_int32s(DType::int8, 2, {-7, 127})), ElementsAre(-7, 127));
  EXPECT_THAT(numbers(with_int32s(DType::uint8, 2, {200, 0})), ElementsAre(200, 0));
  EXPECT_THAT(numbers(with_int32s(DType::int16, 1, {-300})), ElementsAre(-300));
  EXPECT_THAT(numbers(with_int32s(DType::uint16, 1, {65535})), ElementsAre(65535));
  EXPECT_THAT(numbers(with_int32s(DType::boolean, 2, {1, 0})), ElementsAre(1, 0));
  EXPECT_THAT(numbers(with_int32s(DType::float16, 1, {0x3C00})), ElementsAre(1));
  EXPECT_THAT(numbers(with_int32s(DType::bfloat16, 1, {0xC000})), ElementsAre(-2));
  EXPECT_THAT(numbers(with_int32s(DType::float8e4m3fn, 1, {0x7E})), ElementsAre(448));
  EXPECT_THAT(numbers(with_int32s(DType::uint4, 3, {0xA1, 0x02})), ElementsAre(1, 10, 2));
  EXPECT_THAT(numbers(with_int32s(DType::int4, 2, {0xF8})), ElementsAre(-8, -1));
  EXPECT_THAT(numbers(with_int32s(DType::float4e2m1, 2, {0x71})), ElementsAre(0.5, 6));
}

TEST(TensorProto, ReadsUnpackedNumbersAndStrings) {
  const std::string single = message(1, 2, [](pbf_writer& w) {
    w.add_float(4, 1);
    w.add_float(4, 2);
  });
  EXPECT_THAT(numbers(single), ElementsAre(1, 2));
  const std::string words = message(8, 2, [](pbf_writer& w) {
    w.add_bytes(6, "a");
    w.add_bytes(6, std::string("\0b", 2));
  });
  EXPECT_THAT(parse(words)->tensor.strings, ElementsAre("a", std::string("\0b", 2)));
}

TEST(TensorProto, RefusesWhatIsNotHereOrDoesNotFit) {
  EXPECT_THAT(refusal(raw(DType::float32, 2, "1234")), HasSubstr("float32 [2] with 4 bytes"));
  EXPECT_THAT(refusal(with_int32s(DType::int8, 3, {1})), HasSubstr("int8 [3] with 1 numbers"));
  EXPECT_THAT(refusal(message(8, 1, [](pbf_writer&) {})), HasSubstr("string [1] with 0 strings"));
  EXPECT_THAT(refusal(raw(static_cast<DType>(24), 1, "1")), HasSubstr("element type 24 is not known"));
  EXPECT_THAT(refusal(raw(static_cast<DType>(-1), 1, "1")), HasSubstr("is not known"));
  EXPECT_THAT(refusal(""), HasSubstr("element type 0"));
  EXPECT_THAT(refusal(raw(DType::uint8, -1, "1")), HasSubstr("is impossible"));
  EXPECT_THAT(refusal(raw(DType::float64, std::int64_t{1} << 62, "1")), HasSubstr("is impossible"));
  EXPECT_THAT(refusal(message(1, 1, [](pbf_writer& w) { w.add_enum(14, 1); })), HasSubstr("in another file"));
  EXPECT_THAT(refusal(message(1, 1, [](pbf_writer& w) { w.add_message(13, std::string("x")); })),
              HasSubstr("in another file"));
  EXPECT_THAT(refusal(message(1, 1, [](pbf_writer& w) { w.add_message(3, std::string()); })), HasSubstr("segments"));
  EXPECT_THAT(refusal("\xFF\xFF\xFF"),
              HasSubstr("input_0.pb' cannot be read as ONNX test data: its contents are cut off or damaged"));
  std::string dims;
  pbf_writer writer(dims);
  for (int i = 0; i < 2000; ++i) writer.add_int64(1, 1);
  EXPECT_THAT(refusal(dims), HasSubstr("too many dimensions"));
}

TEST(TensorProto, ReadsSequencesAndOptionals) {
  const std::string one = raw(DType::uint8, 1, "\x05");
  const auto sequence = parse(nested(3, one) + nested(3, one), ProtoKind::sequence);
  ASSERT_EQ(sequence->elements.size(), 2u);
  EXPECT_THAT(*to_doubles(sequence->elements[1].tensor), ElementsAre(5));
  EXPECT_EQ(parse(nested(3, one), ProtoKind::optional)->kind, Value::Kind::tensor);
  EXPECT_EQ(parse(nested(5, nested(3, one)), ProtoKind::optional)->kind, Value::Kind::sequence);
  EXPECT_EQ(parse("", ProtoKind::optional)->kind, Value::Kind::none);
  EXPECT_EQ(parse("", ProtoKind::sequence)->kind, Value::Kind::sequence);
  EXPECT_THAT(refusal(nested(3, one) + nested(3, one), ProtoKind::optional), HasSubstr("more than one value"));
  EXPECT_THAT(refusal(nested(4, ""), ProtoKind::sequence), HasSubstr("sparse tensors and maps"));
  EXPECT_THAT(refusal(nested(6, ""), ProtoKind::optional), HasSubstr("sparse tensors and maps"));
  std::string deep;
  for (int i = 0; i < 20; ++i) deep = nested(5, deep);
  EXPECT_THAT(refusal(deep, ProtoKind::sequence), HasSubstr("nested too deeply"));
}

TEST(TensorProto, GuessesTheKindWhereNothingSays) {
  const auto guess = [](const std::string& bytes) { return parse_any_value(std::as_bytes(std::span(bytes)), "f"); };
  const std::string one = raw(DType::uint8, 1, "\x05");
  EXPECT_EQ(guess(one)->kind, Value::Kind::tensor);
  EXPECT_EQ(guess(nested(3, one))->kind, Value::Kind::sequence);
  std::string empty;
  pbf_writer(empty).add_int32(2, 1);
  EXPECT_EQ(guess(empty)->kind, Value::Kind::sequence);  // elem_type alone: a tensor would need a number
  EXPECT_FALSE(guess("\xFF\xFF").ok());
}

// Every recorded value of ONNX's own node tests.
TEST(TensorProto, ReadsAllOfOnnxsTestData) {
  const std::filesystem::path root("/usr/share/libonnx-testdata/data");
  if (!std::filesystem::exists(root)) GTEST_SKIP() << "libonnx-testdata is not installed";
  std::size_t files = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(root)) {
    if (entry.path().extension() != ".pb") continue;
    const std::string file = entry.path().string();
    const auto value = parse_any_value(*read_file(file, 1 << 30), file);
    EXPECT_TRUE(value.ok()) << value.error().message;
    ++files;
  }
  EXPECT_GT(files, 2000u);
}

}  // namespace
}  // namespace infermeter::tensor_proto_test
