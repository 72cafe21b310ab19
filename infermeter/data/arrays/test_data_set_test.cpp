#include "infermeter/data/arrays/test_data_set.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <protozero/pbf_writer.hpp>

#include "infermeter/data/fixtures/fixtures.hpp"
#include "infermeter/data/make_data.hpp"

namespace infermeter::test_data_set_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string tensor(DType dtype, std::initializer_list<std::int64_t> shape, const std::string& raw) {
  std::string out;
  protozero::pbf_writer writer(out);
  for (const std::int64_t dimension : shape) writer.add_int64(1, dimension);
  writer.add_int32(2, static_cast<int>(dtype));
  writer.add_bytes(9, raw);
  return out;
}

std::string wrapped(unsigned field, const std::string& inner) {
  std::string out;
  protozero::pbf_writer(out).add_message(field, inner);
  return out;
}

Port port(std::string name, DType dtype, Shape shape) {
  return {.name = std::move(name), .dtype = dtype, .shape = std::move(shape)};
}

std::string refusal(const fixtures::Folder& folder, std::vector<Port> ports) {
  const auto set = make_data({.source = folder.string()}, ports);
  return set.ok() ? "accepted" : set.error().message;
}

TEST(TestDataSet, GivesInputsAndRecordedOutputs) {
  const fixtures::Folder folder;
  folder.write("input_0.pb", tensor(DType::uint8, {2}, "\x01\x02"));
  folder.write("input_1.pb", wrapped(3, tensor(DType::uint8, {1}, "\x07")));
  folder.write("output_0.pb", tensor(DType::uint8, {1}, "\x03"));
  folder.write("output_1.pb", wrapped(3, tensor(DType::uint8, {1}, "\x04")));
  Port sequence = port("s", DType::uint8, {});
  sequence.kind = Value::Kind::sequence;
  const std::vector<Port> inputs{port("x", DType::uint8, {-1}), sequence};
  const auto set = make_data({.source = folder.string()}, inputs);
  ASSERT_TRUE(set.ok()) << set.error().message;
  ASSERT_EQ(set->items.size(), 1u);
  const DataItem& item = set->items[0];
  EXPECT_THAT(*to_doubles(item.inputs[0].tensor), ElementsAre(1, 2));
  EXPECT_THAT(*to_doubles(item.inputs[1].elements.at(0).tensor), ElementsAre(7));
  ASSERT_EQ(item.expected.size(), 2u);
  EXPECT_EQ(item.expected[0].first, "output_0");
  EXPECT_THAT(*to_doubles(item.expected[0].second.tensor), ElementsAre(3));
  EXPECT_EQ(item.expected[1].second.kind, Value::Kind::sequence);
}

TEST(TestDataSet, OutputsAreTypedAndNamedAfterTheirPorts) {
  const fixtures::Folder folder;
  folder.write("output_0.pb", wrapped(3, tensor(DType::uint8, {1}, "\x04")));
  Port maybe = port("y", DType::uint8, {1});
  maybe.is_optional = true;
  const auto set = make_data({.source = folder.string()}, {}, {&maybe, 1});
  ASSERT_TRUE(set.ok()) << set.error().message;
  EXPECT_EQ(set->items[0].expected.at(0).first, "y");
  EXPECT_EQ(set->items[0].expected.at(0).second.kind, Value::Kind::tensor);
}

TEST(TestDataSet, AnAbsentOptionalIsNone) {
  const fixtures::Folder folder;
  folder.write("output_0.pb", tensor(DType::uint8, {1}, "\x03"));
  Port maybe = port("x", DType::uint8, {1});
  EXPECT_THAT(refusal(folder, {maybe}), HasSubstr("input 'x' needs uint8 [1], but there is no"));
  maybe.is_optional = true;
  EXPECT_EQ(make_data({.source = folder.string()}, {&maybe, 1})->items[0].inputs[0].kind, Value::Kind::none);
  folder.write("input_0.pb", "");
  EXPECT_EQ(make_data({.source = folder.string()}, {&maybe, 1})->items[0].inputs[0].kind, Value::Kind::none);
}

TEST(TestDataSet, MisfitsNameTheInput) {
  const fixtures::Folder folder;
  folder.write("input_0.pb", tensor(DType::uint8, {2}, "\x01\x02"));
  EXPECT_THAT(refusal(folder, {port("x", DType::int8, {2})}),
              testing::AllOf(HasSubstr("input 'x' needs int8 [2]"), HasSubstr("input_0.pb' has uint8 [2]")));
  EXPECT_THAT(refusal(folder, {port("x", DType::uint8, {3})}), HasSubstr("needs uint8 [3]"));
  EXPECT_THAT(refusal(folder, {port("x", DType::uint8, {-1, 2})}), HasSubstr("needs uint8 [?, 2]"));
  EXPECT_THAT(refusal(folder, {}), HasSubstr("the model has 0 inputs, but there is"));
  Port sequence = port("x", DType::int8, {});
  sequence.kind = Value::Kind::sequence;
  folder.write("input_0.pb", wrapped(3, tensor(DType::uint8, {1}, "\x01")));
  EXPECT_THAT(refusal(folder, {sequence}),
              testing::AllOf(HasSubstr("needs a sequence of int8"), HasSubstr("has a sequence of uint8 [1]")));
  Port maybe = port("x", DType::uint8, {1});
  maybe.is_optional = true;
  folder.write("input_0.pb", wrapped(5, wrapped(3, tensor(DType::uint8, {1}, "\x01"))));
  EXPECT_THAT(refusal(folder, {maybe}), HasSubstr("has a sequence"));
}

TEST(DataSet, SaysWhatToGive) {
  const fixtures::Folder folder;
  const Port x = port("x", DType::float32, {1});
  const auto message = [&](const std::string& source) {
    return make_data({.source = source}, {&x, 1}).error().message;
  };
  folder.write("test_data_set_0/input_0.pb", "");
  EXPECT_THAT(message(folder.string()), HasSubstr("give one of them, such as"));
  EXPECT_THAT(message(folder / "test_data_set_0/input_0.pb"), HasSubstr("give its folder with --data"));
  EXPECT_THAT(message(folder.write("a.csv", "1,2")), HasSubstr("cannot be read as data; --data takes"));
  EXPECT_THAT(message(folder / "none.npy"), HasSubstr("there is no"));
  EXPECT_THAT(message("none\n\x1b[31m.npy"), HasSubstr("'none\\x0a\\x1b[31m.npy'"));
  EXPECT_THAT(message(""), HasSubstr("there is no ''"));
  EXPECT_THAT(make_data({.batch_size = 0}, {&x, 1}).error().message, HasSubstr("batch size must be at least 1, not 0"));
  EXPECT_THAT(make_data({.limit = -1}, {&x, 1}).error().message, HasSubstr("--data-limit must be 0"));
}

}  // namespace
}  // namespace infermeter::test_data_set_test
