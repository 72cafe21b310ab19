#include "infermeter/data/arrays/array_data.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zip.h>

#include <numeric>

#include "infermeter/data/arrays/npy.hpp"
#include "infermeter/data/arrays/npz.hpp"
#include "infermeter/data/fixtures/fixtures.hpp"
#include "infermeter/data/make_data.hpp"

namespace infermeter::array_data_test {
namespace {

using fixtures::path;
using testing::ElementsAre;
using testing::HasSubstr;

// A dynamic first dimension is the batch.
Port port(std::string name, DType dtype, Shape shape) {
  Port made{.name = std::move(name), .dtype = dtype, .shape = std::move(shape)};
  if (!made.shape.empty() && made.shape[0] < 0) made.batch_axis = 0;
  return made;
}

std::string saved(const fixtures::Folder& folder, Shape shape) {
  std::vector<float> numbers(*element_count(shape));
  std::iota(numbers.begin(), numbers.end(), 0.0F);
  const std::string file = folder / "data.npy";
  EXPECT_TRUE(write_npy(file, make_tensor<float>(DType::float32, std::move(shape), numbers)).ok());
  return file;
}

std::vector<double> numbers_of(const DataSet& set, std::size_t item, std::size_t input = 0) {
  return *to_doubles(set.items.at(item).inputs.at(input).tensor);
}

TEST(ArrayData, RowsBecomeBatches) {
  const fixtures::Folder folder;
  const std::string file = saved(folder, {7, 2});
  const Port input = port("x", DType::float32, {-1, 2});
  const auto set = make_data({.source = file, .batch_size = 3}, {&input, 1});
  ASSERT_TRUE(set.ok()) << set.error().message;
  ASSERT_EQ(set->items.size(), 2u);  // the seventh row is dropped
  EXPECT_EQ(set->items[1].inputs[0].tensor.shape, (Shape{3, 2}));
  EXPECT_THAT(numbers_of(*set, 1), ElementsAre(6, 7, 8, 9, 10, 11));
  EXPECT_EQ(make_data({.source = file, .batch_size = 3, .limit = 1}, {&input, 1})->items.size(), 1u);
  EXPECT_EQ(make_data({.source = file, .batch_size = 1, .limit = 99}, {&input, 1})->items.size(), 7u);
  Port fixed = port("x", DType::float32, {2, 2});
  fixed.batch_axis = 0;
  EXPECT_EQ(make_data({.source = file, .batch_size = 2}, {&fixed, 1})->items.size(), 3u);
}

// [time, batch, features]: each item has all times of its part of the batch.
TEST(ArrayData, ABatchBehindTheFirstDimensionIsCutThere) {
  const fixtures::Folder folder;
  const std::string file = saved(folder, {3, 5, 2});
  Port input = port("x", DType::float32, {3, -1, 2});
  input.batch_axis = 1;
  const auto set = make_data({.source = file, .batch_size = 2}, {&input, 1});
  ASSERT_TRUE(set.ok()) << set.error().message;
  ASSERT_EQ(set->items.size(), 2u);  // the fifth is dropped
  EXPECT_EQ(set->rows_per_item, 2);
  EXPECT_EQ(set->items[1].inputs[0].tensor.shape, (Shape{3, 2, 2}));
  EXPECT_THAT(numbers_of(*set, 1), ElementsAre(4, 5, 6, 7, 14, 15, 16, 17, 24, 25, 26, 27));
  const auto part = make_data({.source = file, .batch_size = 2, .first = 1, .limit = 1}, {&input, 1});
  ASSERT_EQ(part->items.size(), 1u);
  EXPECT_EQ(part->available, 2);
  EXPECT_EQ(numbers_of(*part, 0), numbers_of(*set, 1));
  EXPECT_THAT(make_data({.source = file, .batch_size = 6}, {&input, 1}).error().message,
              HasSubstr("input 'x' needs 6 of dimension 1 at a time"));
}

TEST(ArrayData, WithoutABatchAxisAnArrayIsOneItemOrOneMoreDimensionHoldsThem) {
  const fixtures::Folder folder;
  const Port input = port("x", DType::float32, {3, 2});
  const std::string one = saved(folder, {3, 2});
  EXPECT_EQ(make_data({.source = one}, {&input, 1})->items.size(), 1u);
  const std::string several = saved(folder, {4, 3, 2});
  const auto set = make_data({.source = several, .first = 1, .limit = 2}, {&input, 1});
  ASSERT_TRUE(set.ok()) << set.error().message;
  ASSERT_EQ(set->items.size(), 2u);
  EXPECT_EQ(set->available, 4);
  EXPECT_EQ(set->rows_per_item, 1);
  EXPECT_EQ(set->items[1].inputs[0].tensor.shape, (Shape{3, 2}));
  EXPECT_THAT(numbers_of(*set, 1), ElementsAre(12, 13, 14, 15, 16, 17));
  const std::string longer = saved(folder, {6, 2});
  EXPECT_THAT(make_data({.source = longer}, {&input, 1}).error().message,
              testing::AllOf(HasSubstr("input 'x' needs float32 [3, 2]"), HasSubstr("has float32 [6, 2]"),
                             HasSubstr("--batch-axis x=0")));
  const std::string none = saved(folder, {0, 3, 2});
  EXPECT_THAT(make_data({.source = none}, {&input, 1}).error().message, HasSubstr("contains no item"));
  const Port scalar = port("s", DType::float32, {});
  const std::string scalars = saved(folder, {4});
  EXPECT_EQ(make_data({.source = scalars}, {&scalar, 1})->items.size(), 4u);
}

// Fortran order, and archives, are cut like plain arrays.
TEST(ArrayData, PartsAreWhatTheWholeHasThere) {
  const fixtures::Folder folder;
  const std::string file = saved(folder, {7, 2});
  const Port input = port("x", DType::float32, {-1, 2});
  const auto part = make_data({.source = file, .batch_size = 2, .first = 1, .limit = 1}, {&input, 1});
  ASSERT_TRUE(part.ok()) << part.error().message;
  ASSERT_EQ(part->items.size(), 1u);
  EXPECT_EQ(part->available, 3);
  EXPECT_EQ(part->items[0].name, "item 1");
  EXPECT_THAT(numbers_of(*part, 0), ElementsAre(4, 5, 6, 7));
  const auto rest = make_data({.source = file, .batch_size = 2, .first = 1, .limit = 9}, {&input, 1});
  EXPECT_EQ(rest->items.size(), 2u);
  const Port row = port("x", DType::float32, {-1, 3, 4});
  const auto fortran = make_data({.source = path("fortran.npy"), .first = 1}, {&row, 1});
  ASSERT_EQ(fortran->items.size(), 1u);
  EXPECT_EQ(numbers_of(*fortran, 0).front(), 12);
  EXPECT_EQ(numbers_of(*make_data({.source = path("v1.npy"), .first = 1}, {&row, 1}), 0), numbers_of(*fortran, 0));
  const auto none = make_data({.source = file, .batch_size = 2, .first = 3}, {&input, 1});
  EXPECT_THAT(none.error().message, HasSubstr("has 3 items, none of them from the 4th on"));
}

TEST(ArrayData, DynamicDimensionsAreAsTheyCome) {
  const fixtures::Folder folder;
  const std::string file = saved(folder, {2, 5, 3});
  const Port input = port("x", DType::float32, {-1, -1, 3});
  EXPECT_EQ(make_data({.source = file}, {&input, 1})->items[0].inputs[0].tensor.shape, (Shape{1, 5, 3}));
  Port any = port("x", DType::float32, {});
  any.rank_known = false;
  EXPECT_EQ(make_data({.source = file}, {&any, 1})->items[0].inputs[0].tensor.shape, (Shape{2, 5, 3}));
  any.batch_axis = 0;
  EXPECT_EQ(make_data({.source = file}, {&any, 1})->items[0].inputs[0].tensor.shape, (Shape{1, 5, 3}));
}

TEST(ArrayData, TooFewRowsAndMisfitsAreErrors) {
  const fixtures::Folder folder;
  const std::string file = saved(folder, {3, 2});
  const auto message = [&](const Port& input, std::int64_t batch = 1) {
    const auto set = make_data({.source = file, .batch_size = batch}, {&input, 1});
    return set.ok() ? "accepted" : set.error().message;
  };
  EXPECT_THAT(message(port("x", DType::float32, {-1, 2}), 4), HasSubstr("input 'x' needs 4 rows at a time"));
  EXPECT_THAT(message(port("x", DType::float16, {-1, 2})),
              testing::AllOf(HasSubstr("input 'x' needs float16 [?, 2]"), HasSubstr("data.npy' has float32 [3, 2]"),
                             HasSubstr("convert it with numpy's astype")));
  EXPECT_THAT(message(port("x", DType::float32, {-1, 4})), HasSubstr("has float32 [3, 2]"));
  EXPECT_THAT(message(port("x", DType::float32, {-1, 4})), testing::Not(HasSubstr("astype")));
  EXPECT_THAT(message(port("x", DType::float32, {-1, 2, 1})), HasSubstr("needs float32 [?, 2, 1]"));
  EXPECT_THAT(message(port("x", DType::float32, {})), HasSubstr("needs float32 []"));
  Port sequence = port("s", DType::float32, {});
  sequence.kind = Value::Kind::sequence;
  EXPECT_THAT(message(sequence), HasSubstr("give --data with an ONNX test_data_set folder"));
  const std::vector<Port> two{port("a", DType::float32, {1}), port("b", DType::float32, {1})};
  EXPECT_THAT(make_data({.source = file}, two).error().message, HasSubstr("is one array and the model has 2 inputs"));
}

TEST(ArrayData, ZerosInShapesAreNotEndless) {
  const fixtures::Folder folder;
  const std::string file = saved(folder, {std::int64_t{1} << 40, 0});
  const Port input = port("x", DType::float32, {-1, 0});
  EXPECT_THAT(make_data({.source = file}, {&input, 1}).error().message, HasSubstr("at most 1000000"));
  EXPECT_EQ(make_data({.source = file, .limit = 2}, {&input, 1})->items.size(), 2u);
}

TEST(ArrayData, StringsAndNpzByNameAndOrder) {
  const Port words = port("w", DType::string, {-1});
  const auto set = make_data({.source = path("unicode.npy"), .batch_size = 2}, {&words, 1});
  EXPECT_THAT(set->items.at(1).inputs[0].tensor.strings, ElementsAre("日本", "\xF0\x9F\x98\x80"));
  const std::vector<Port> named{port("ids", DType::int64, {-1}), port("x", DType::float32, {-1, 3})};
  const auto by_name = make_data({.source = path("named.npz"), .batch_size = 2, .limit = 1}, named);
  ASSERT_TRUE(by_name.ok()) << by_name.error().message;
  EXPECT_THAT(numbers_of(*by_name, 0, 0), ElementsAre(0, 1));
  EXPECT_THAT(numbers_of(*by_name, 0, 1), ElementsAre(0, 1, 2, 3, 4, 5));
  const std::vector<Port> other{port("a", DType::float32, {-1, 3}), port("b", DType::int64, {4})};
  const auto by_order = make_data({.source = path("ordered.npz")}, other);
  ASSERT_EQ(by_order->items.size(), 2u);
  EXPECT_THAT(numbers_of(*by_order, 1, 0), ElementsAre(3, 4, 5));
  EXPECT_THAT(numbers_of(*by_order, 1, 1), ElementsAre(0, 1, 2, 3));  // one item, repeated
}

TEST(ArrayData, NpzMisfitsAreErrors) {
  const std::vector<Port> missing{port("x", DType::float32, {-1, 3}), port("y", DType::int64, {4})};
  EXPECT_THAT(make_data({.source = path("named.npz")}, missing).error().message,
              testing::AllOf(HasSubstr("input 'y' is not in"), HasSubstr("whose arrays are 'x', 'ids'")));
  const std::vector<Port> uneven{port("x", DType::float32, {-1, 3}), port("ids", DType::int64, {-1})};
  EXPECT_THAT(make_data({.source = path("named.npz")}, uneven).error().message,
              HasSubstr("input 'ids' has 4 items in"));
}

// 80 MB of zeros in 80 kB.
TEST(ArrayData, ABombIsRefused) {
  const fixtures::Folder folder;
  const std::string file = folder / "bomb.npz";
  int code = 0;
  zip_t* archive = zip_open(file.c_str(), ZIP_CREATE, &code);
  ASSERT_NE(archive, nullptr);
  const std::vector<char> zeros(80 << 20);
  zip_file_add(archive, "x.npy", zip_source_buffer(archive, zeros.data(), zeros.size(), 0), 0);
  ASSERT_EQ(zip_close(archive), 0);
  const auto npz = NpzFile::open(file);
  ASSERT_TRUE(npz.ok()) << npz.error().message;
  EXPECT_THAT(npz->read("x").error().message, HasSubstr("which no honest array does"));
}

// A header of 128 bytes says it all: the items themselves would take half a GB.
TEST(ArrayData, ManyItemsWithNothingInThemAreRefused) {
  const fixtures::Folder folder;
  const std::string file = saved(folder, {900'000, 0});
  const Port input = port("x", DType::float32, {-1, 0});
  const auto set = make_data({.source = file}, {&input, 1});
  ASSERT_FALSE(set.ok());
  EXPECT_THAT(set.error().message, HasSubstr("has 900000 items without a number in them"));
  EXPECT_TRUE(make_data({.source = file, .limit = 3}, {&input, 1}).ok());
}

}  // namespace
}  // namespace infermeter::array_data_test
