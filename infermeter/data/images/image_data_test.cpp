#include "infermeter/data/images/image_data.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cmath>

#include "infermeter/data/arrays/npy.hpp"
#include "infermeter/data/fixtures/fixtures.hpp"
#include "infermeter/data/make_data.hpp"

namespace infermeter::image_data_test {
namespace {

using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;

Port image_port(DType dtype = DType::float32, Shape shape = {-1, 3, 32, 32}) {
  const bool has_batch = shape.front() < 0;
  return {.name = "image",
          .dtype = dtype,
          .shape = std::move(shape),
          .dimension_names = {"N", "C", "H", "W"},
          .batch_axis = has_batch ? std::optional<std::int64_t>(0) : std::nullopt};
}

Result<DataSet> load(const std::string& folder, const Port& port, std::int64_t batch = 1, std::int64_t limit = 0) {
  return make_data({.source = folder, .batch_size = batch, .limit = limit}, {&port, 1});
}

// Two classes, three pictures, and things that are none.
void fill(const fixtures::Folder& folder) {
  folder.copy("wide.jpg", "dog/b.JPG");
  folder.copy("rgb.png", "cat/2.png");
  folder.copy("tall.jpg", "cat/10.jpeg");
  folder.write("cat/notes.txt", "no picture");
  folder.write("cat/.hidden.jpg", "no picture");
  folder.write("readme.md", "no picture");
}

TEST(ImageData, ClassesAndPicturesAreSorted) {
  const fixtures::Folder folder;
  fill(folder);
  const auto set = load(folder.string(), image_port());
  ASSERT_TRUE(set.ok()) << set.error().message;
  EXPECT_THAT(set->class_names, ElementsAre("cat", "dog"));
  ASSERT_EQ(set->items.size(), 3u);
  EXPECT_THAT(set->items[0].name, EndsWith("cat/10.jpeg"));
  EXPECT_THAT(set->items[1].name, EndsWith("cat/2.png"));
  EXPECT_THAT(set->items[2].name, EndsWith("dog/b.JPG"));
  EXPECT_THAT(set->items[1].labels, ElementsAre(0));
  EXPECT_THAT(set->items[2].labels, ElementsAre(1));
}

// (level / 255 - mean) / standard deviation, planes of red, green and blue: within half a grey level of the definition,
// which no exchange of channels, means or axes would be.
TEST(ImageData, NumbersAreNormalisedPlanes) {
  const fixtures::Folder folder;
  folder.copy("wide.jpg", "wide.jpg");
  const auto set = load(folder.string(), image_port());
  ASSERT_TRUE(set.ok()) << set.error().message;
  EXPECT_TRUE(set->items[0].labels.empty());
  const Tensor& tensor = set->items[0].inputs[0].tensor;
  EXPECT_EQ(tensor.shape, (Shape{1, 3, 32, 32}));
  const auto numbers = tensor.as<float>();
  const Tensor pillow = *read_npy(fixtures::path("wide.jpg.32x32.npy"));
  const auto levels = pillow.as<std::uint8_t>();
  const double mean[] = {0.485, 0.456, 0.406};
  const double deviation[] = {0.229, 0.224, 0.225};
  for (std::size_t c = 0; c < 3; ++c) {
    for (std::size_t p = 0; p < 1024; ++p) {
      const double expected = (levels[p * 3 + c] / 255.0 - mean[c]) / deviation[c];
      ASSERT_NEAR(static_cast<double>(numbers[c * 1024 + p]), expected, 1e-5);
    }
  }
}

TEST(ImageData, OtherLayoutsHoldTheSameNumbers) {
  const fixtures::Folder folder;
  folder.copy("wide.jpg", "wide.jpg");
  const auto doubles = [&](const Port& port) {
    return *to_doubles(load(folder.string(), port)->items[0].inputs[0].tensor);
  };
  const auto planes = doubles(image_port());
  const auto interleaved = doubles(image_port(DType::float32, {-1, 32, 32, 3}));
  const auto half = doubles(image_port(DType::float16));
  const auto brain = doubles(image_port(DType::bfloat16));
  const auto levels = doubles(image_port(DType::uint8));
  for (std::size_t p = 0; p < 1024; ++p) {
    for (std::size_t c = 0; c < 3; ++c) {
      const double expected = planes[c * 1024 + p];
      ASSERT_EQ(interleaved[p * 3 + c], expected);
      ASSERT_NEAR(half[c * 1024 + p], expected, 2e-3);
      ASSERT_NEAR(brain[c * 1024 + p], expected, 1e-2);
    }
    ASSERT_NEAR((levels[p] / 255 - 0.485) / 0.229, planes[p], 1e-5);
  }
}

TEST(ImageData, BatchesDropAnIncompleteLastOne) {
  const fixtures::Folder folder;
  fill(folder);
  const auto pair = load(folder.string(), image_port(), 2);
  ASSERT_EQ(pair->items.size(), 1u);
  EXPECT_EQ(pair->items[0].inputs[0].tensor.shape, (Shape{2, 3, 32, 32}));
  EXPECT_THAT(pair->items[0].labels, ElementsAre(0, 0));
  const auto single = load(folder.string(), image_port());
  const auto second = *to_doubles(single->items[1].inputs[0].tensor);
  const auto both = *to_doubles(pair->items[0].inputs[0].tensor);
  EXPECT_TRUE(std::equal(second.begin(), second.end(), both.begin() + 3 * 32 * 32));
  EXPECT_THAT(load(folder.string(), image_port(), 4).error().message,
              HasSubstr("has 3 images, fewer than the batch size 4; use a smaller one"));
}

TEST(ImageData, PartsAreWhatTheWholeHasThere) {
  const fixtures::Folder folder;
  fill(folder);
  const Port input = image_port();
  const auto whole = make_data({.source = folder.string()}, {&input, 1});
  const auto part = make_data({.source = folder.string(), .first = 1, .limit = 1}, {&input, 1});
  ASSERT_TRUE(part.ok()) << part.error().message;
  ASSERT_EQ(part->items.size(), 1u);
  EXPECT_EQ(part->available, 3);
  EXPECT_EQ(part->items[0].name, whole->items[1].name);
  EXPECT_EQ(digest(part->items[0].inputs), digest(whole->items[1].inputs));
  EXPECT_THAT(make_data({.source = folder.string(), .first = 3}, {&input, 1}).error().message,
              HasSubstr("has 3 items, none of them from the 4th on"));
}

TEST(ImageData, UnreadableOnesAreNamedThreeAtATime) {
  const fixtures::Folder folder;
  for (const char* name : {"a.jpg", "b.png", "c.jpg", "d.jpg", "e.jpg"}) folder.write(name, "broken");
  folder.copy("wide.jpg", "0.jpg");
  const std::string message = load(folder.string(), image_port()).error().message;
  for (const char* named : {"a.jpg", "b.png", "c.jpg", "and 2 more", "5 unreadable in all"}) {
    EXPECT_THAT(message, HasSubstr(named));
  }
  EXPECT_THAT(message, testing::Not(HasSubstr("d.jpg")));
  // Only what the limit asks for is read.
  EXPECT_TRUE(load(folder.string(), image_port(), 1, 1).ok());
}

TEST(ImageData, AnInterruptionIsNoFaultOfAPicture) {
  const fixtures::Folder folder;
  fill(folder);
  const std::atomic<int> interrupt{1};
  const Port input = image_port();
  EXPECT_EQ(make_data({.source = folder.string(), .interrupt = &interrupt}, {&input, 1}).error().message,
            "interrupted while images were read");
}

TEST(ImageData, EmptyFoldersAreErrors) {
  const fixtures::Folder folder;
  EXPECT_THAT(load(folder.string(), image_port()).error().message, HasSubstr("has no images"));
  folder.write("cat/readme.txt", "");
  EXPECT_THAT(load(folder.string(), image_port()).error().message, HasSubstr("has no images"));
}

TEST(ImageData, TheModelMustTakePictures) {
  const fixtures::Folder folder;
  fill(folder);
  EXPECT_THAT(load(folder.string(), image_port(DType::int64)).error().message,
              HasSubstr("images fit inputs [N, 3, H, W] or [N, H, W, 3]"));
  EXPECT_THAT(load(folder.string(), image_port(DType::float32, {1, 10})).error().message,
              HasSubstr("input 'image' is float32 [1, 10]"));
  EXPECT_THAT(load(folder.string(), image_port(DType::float32, {1, 3, 0, 32})).error().message,
              HasSubstr("images fit"));
  EXPECT_THAT(load(folder.string(), image_port(DType::float32, {1, 3, -1, 32})).error().message,
              HasSubstr("--dim H=VALUE"));
  const std::vector<Port> two{image_port(), image_port()};
  EXPECT_THAT(make_data({.source = folder.string()}, two).error().message, HasSubstr("one input, this one has 2"));
}

TEST(ImageData, TooManyForMemoryNameTheLimit) {
  const fixtures::Folder folder;
  for (int i = 0; i < 90; ++i) folder.copy("grey.png", std::to_string(i) + ".png");
  EXPECT_THAT(load(folder.string(), image_port(DType::float32, {-1, 3, 2048, 2048})).error().message,
              HasSubstr("would take more than 4 GiB; use a smaller batch size, --dim or --data-limit"));
}

}  // namespace
}  // namespace infermeter::image_data_test
