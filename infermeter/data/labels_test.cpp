#include "infermeter/data/labels.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

#include "infermeter/data/arrays/npy.hpp"
#include "infermeter/data/fixtures/fixtures.hpp"
#include "infermeter/data/make_data.hpp"

namespace infermeter::labels_test {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// Seven rows of two numbers.
class Labels : public testing::Test {
 protected:
  Labels() {
    std::vector<float> numbers(14);
    save("data.npy", make_tensor<float>(DType::float32, {7, 2}, numbers));
    options_.source = folder_ / "data.npy";
  }

  void save(const std::string& name, const Tensor& tensor) const {
    ASSERT_TRUE(write_npy(folder_ / name, tensor).ok());
  }
  Result<DataSet> made() const { return make_data(options_, {&port_, 1}); }
  Result<DataSet> labelled(const std::string& text) {
    folder_.write("labels.txt", text);
    options_.labels = folder_ / "labels.txt";
    return made();
  }
  template <class T>
  Result<DataSet> labelled(DType dtype, Shape shape, const std::vector<T>& numbers) {
    save("labels.npy", make_tensor<T>(dtype, std::move(shape), numbers));
    options_.labels = folder_ / "labels.npy";
    return made();
  }
  static std::vector<int> all(const Result<DataSet>& set) {
    std::vector<int> labels;
    if (!set.ok()) ADD_FAILURE() << set.error().message;
    if (!set.ok()) return labels;
    for (const DataItem& item : set->items) labels.insert(labels.end(), item.labels.begin(), item.labels.end());
    return labels;
  }
  static std::string complaint(const Result<DataSet>& set) { return set.ok() ? "" : set.error().message; }

  fixtures::Folder folder_;
  Port port_{.name = "x", .dtype = DType::float32, .shape = {-1, 2}, .dimension_names = {"N", ""}, .batch_axis = 0};
  DataOptions options_;
};

TEST_F(Labels, ALineForEachRow) {
  EXPECT_THAT(all(labelled("# truth\n3\n1\r\n\n  4\n-1\n5\n9\n2")), ElementsAre(3, 1, 4, -1, 5, 9, 2));
}

// Three rows to a batch: two items, and the seventh row is left over.
TEST_F(Labels, OfBatchesAndParts) {
  options_.batch_size = 3;
  const auto set = labelled("3\n1\n4\n1\n5\n9\n2\n");
  ASSERT_EQ(all(set).size(), 6u);
  EXPECT_THAT(set->items[1].labels, ElementsAre(1, 5, 9));
  options_.batch_size = 2;
  options_.first = 1;
  EXPECT_THAT(all(made()), ElementsAre(4, 1, 5, 9));
  options_.limit = 1;
  EXPECT_THAT(all(made()), ElementsAre(4, 1));
  // Those of the rows up to there alone.
  EXPECT_THAT(all(labelled("7\n7\n8\n6\n")), ElementsAre(8, 6));
}

TEST_F(Labels, NumbersThatDoNotMatch) {
  EXPECT_THAT(complaint(labelled("1\n2\n")), AllOf(HasSubstr("has 2 labels"), HasSubstr("have 7 rows"),
                                                   HasSubstr("labels.txt"), HasSubstr("--labels")));
  EXPECT_THAT(complaint(labelled("1\n2\n3\n4\n5\n6\n7\n8\n")), HasSubstr("has 8 labels"));
  options_.limit = 3;
  EXPECT_THAT(complaint(labelled("1\n2\n")), HasSubstr("has 2 labels"));
  EXPECT_THAT(complaint(labelled("1\n2\n3\n4\n")), HasSubstr("has 4 labels"));
  options_.limit = 0;
  options_.batch_size = 3;
  EXPECT_THAT(all(labelled("1\n2\n3\n4\n5\n6\n")), ElementsAre(1, 2, 3, 4, 5, 6));
  EXPECT_THAT(complaint(labelled("1\n2\n3\n4\n5\n")), HasSubstr("have 6 rows"));
}

TEST_F(Labels, LinesThatAreNoIndex) {
  EXPECT_THAT(complaint(labelled("1\n\ncat\n")), AllOf(HasSubstr("line 3"), HasSubstr("'cat' is not a class index")));
  EXPECT_THAT(complaint(labelled("1.5\n")), HasSubstr("line 1: '1.5' is not a class index"));
  EXPECT_THAT(complaint(labelled("-2\n")), HasSubstr("'-2' is not a class index"));
  EXPECT_THAT(complaint(labelled("99999999999\n")), HasSubstr("line 1"));
  EXPECT_THAT(complaint(labelled("1\na,2\n")), HasSubstr("line 2: either every line"));
  EXPECT_THAT(complaint(labelled("\n# nothing\n")), HasSubstr("has no labels"));
  EXPECT_THAT(complaint(labelled("a.png,1\n")), HasSubstr("is not a folder of images"));
  options_.labels = folder_ / "absent.txt";
  EXPECT_THAT(complaint(made()), HasSubstr("absent.txt"));
}

TEST_F(Labels, ArraysOfIndices) {
  EXPECT_THAT(all(labelled<std::int64_t>(DType::int64, {7}, {3, 1, 4, -1, 5, 9, 2})),
              ElementsAre(3, 1, 4, -1, 5, 9, 2));
  EXPECT_THAT(all(labelled<std::uint8_t>(DType::uint8, {7, 1}, {3, 1, 4, 1, 5, 9, 200})),
              ElementsAre(3, 1, 4, 1, 5, 9, 200));
  options_.first = 5;
  EXPECT_THAT(all(made()), ElementsAre(9, 200));
  options_.first = 0;
  EXPECT_THAT(complaint(labelled<float>(DType::float32, {7}, std::vector<float>(7))), HasSubstr("labels are integers"));
  EXPECT_THAT(complaint(labelled<std::int64_t>(DType::int64, {7}, {0, 0, -5, 0, 0, 0, 0})),
              HasSubstr("row 2: -5 is not a class index"));
  EXPECT_THAT(complaint(labelled<std::int32_t>(DType::int32, {6}, std::vector<std::int32_t>(6))),
              HasSubstr("has 6 labels"));
  EXPECT_THAT(complaint(labelled<std::int32_t>(DType::int32, {}, {1})), HasSubstr("is one number"));
}

TEST_F(Labels, Masks) {
  std::vector<std::uint8_t> pixels(7 * 2 * 3);
  for (std::size_t i = 0; i < pixels.size(); ++i) pixels[i] = static_cast<std::uint8_t>(i);
  options_.batch_size = 2;
  options_.first = 1;
  const auto set = labelled<std::uint8_t>(DType::uint8, {7, 2, 3}, pixels);
  ASSERT_TRUE(set.ok()) << set.error().message;
  ASSERT_EQ(set->items.size(), 2u);
  EXPECT_THAT(set->items[1].labels, IsEmpty());
  ASSERT_TRUE(set->items[1].mask);
  EXPECT_EQ(set->items[1].mask->shape, (Shape{2, 2, 3}));
  EXPECT_THAT(set->items[1].mask->as<std::uint8_t>(), ElementsAre(24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35));
  std::vector<std::uint8_t> flags(7 * 4, 1);
  const auto binary = labelled<std::uint8_t>(DType::boolean, {7, 2, 2}, flags);
  ASSERT_TRUE(binary.ok()) << binary.error().message;
  EXPECT_EQ(binary->items[0].mask->dtype, DType::uint8);
  EXPECT_THAT(complaint(labelled<float>(DType::float32, {7, 2}, std::vector<float>(14))),
              HasSubstr("labels are integers"));
}

// Pictures: by path, by name, and the classes that their folders are called after.
class PictureLabels : public Labels {
 protected:
  PictureLabels() {
    for (const char* name : {"cat/2.png", "cat/3.png", "dog/2.png", "dog/4.png"}) folder_.copy("rgb.png", name);
    port_ = {.name = "image",
             .dtype = DType::float32,
             .shape = {-1, 3, 8, 8},
             .dimension_names = {"N", "", "", ""},
             .batch_axis = 0};
    options_.source = folder_.string();
  }
};

TEST_F(PictureLabels, ByPathAndByName) {
  EXPECT_THAT(all(made()), ElementsAre(0, 0, 1, 1));
  EXPECT_THAT(all(labelled("dog/2.png, 7\ncat/2.png,281\n3.png,5\n4.png,6\nelse.png,1\n")), ElementsAre(281, 5, 7, 6));
  options_.first = 1;
  options_.limit = 1;
  options_.batch_size = 2;
  EXPECT_THAT(all(made()), ElementsAre(7, 6));
}

TEST_F(PictureLabels, NamesThatDoNotFit) {
  EXPECT_THAT(complaint(labelled("cat/2.png,1\n3.png,5\n4.png,6\n")), HasSubstr("no label for the image 'dog/2.png'"));
  EXPECT_THAT(complaint(labelled("2.png,1\n3.png,5\n4.png,6\n")), HasSubstr("several images are called '2.png'"));
  EXPECT_THAT(complaint(labelled("3.png,1\n3.png,2\n")),
              AllOf(HasSubstr("line 2"), HasSubstr("another label on line 1")));
}

// Two texts of three tokens.
DataOptions next_of_two_texts(const fixtures::Folder& folder) {
  EXPECT_TRUE(write_npy(folder / "tokens.npy",
                        make_tensor<std::int64_t>(DType::int64, {2, 3}, std::vector<std::int64_t>{5, 6, 7, 1, 0, 9}))
                  .ok());
  DataOptions options;
  options.source = folder / "tokens.npy";
  options.labels = next_labels;
  return options;
}

TEST(NextLabels, AreTheValuesThatFollow) {
  const fixtures::Folder folder;
  const DataOptions options = next_of_two_texts(folder);
  const Port tokens{.name = "input_ids", .dtype = DType::int64, .shape = {1, 3}, .batch_axis = 0};
  const auto checked = check_data(options, {&tokens, 1});
  ASSERT_TRUE(checked.ok()) << checked.error().message;
  const auto set = make_data(options, {&tokens, 1});
  ASSERT_TRUE(set.ok()) << set.error().message;
  EXPECT_THAT(set->items[0].labels, ElementsAre(6, 7, -1));
  EXPECT_THAT(set->items[1].labels, ElementsAre(0, 9, -1));
}

TEST(NextLabels, OfABatchEachRowIsATextOfItsOwn) {
  const fixtures::Folder folder;
  const DataOptions options = next_of_two_texts(folder);
  const Port tokens{.name = "input_ids", .dtype = DType::int64, .shape = {2, 3}, .batch_axis = 0};
  const auto set = make_data(options, {&tokens, 1});
  ASSERT_TRUE(set.ok()) << set.error().message;
  EXPECT_THAT(set->items[0].labels, ElementsAre(6, 7, -1, 0, 9, -1));
}

TEST(NextLabels, NeedTokens) {
  const fixtures::Folder folder;
  ASSERT_TRUE(
      write_npy(folder / "numbers.npy", make_tensor<float>(DType::float32, {1, 2}, std::vector<float>{1, 2})).ok());
  ASSERT_TRUE(write_npy(folder / "negative.npy",
                        make_tensor<std::int64_t>(DType::int64, {1, 2}, std::vector<std::int64_t>{1, -2}))
                  .ok());
  DataOptions options;
  options.labels = next_labels;
  const std::array ports = {Port{.name = "x", .dtype = DType::float32, .shape = {1, 2}},
                            Port{.name = "ids", .dtype = DType::int64, .shape = {1, 2}}};
  options.source = folder / "numbers.npy";
  EXPECT_THAT(check_data(options, {&ports[0], 1}).error().message, HasSubstr("one input, of integers (tokens)"));
  options.source = folder / "negative.npy";
  EXPECT_THAT(make_data(options, {&ports[1], 1}).error().message,
              HasSubstr("-2 is not a token, so that labels=next has no label of it"));
}

}  // namespace
}  // namespace infermeter::labels_test
