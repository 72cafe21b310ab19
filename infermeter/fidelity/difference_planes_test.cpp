#include "infermeter/fidelity/difference_planes.hpp"

#include <gmock/gmock.h>

#include <limits>
#include <numeric>

namespace infermeter::difference_planes_test {
namespace {

constexpr float nan = std::numeric_limits<float>::quiet_NaN();
constexpr float inf = std::numeric_limits<float>::infinity();

Tensor tensor_of(Shape shape, const std::vector<float>& values) {
  return make_tensor<float>(DType::float32, std::move(shape), values);
}

std::vector<float> zeros(std::size_t count) { return std::vector<float>(count, 0); }

constexpr int highest = DifferencePicture::kHighestLevel;

int level(const std::string& plane, std::size_t index) {
  const auto byte = [&](std::size_t at) { return int{static_cast<unsigned char>(plane.at(at))}; };
  return 256 * byte(index) + byte(plane.size() / 2 + index);
}

TEST(DifferencePicture, HoldsReferenceCandidateAndTheirDistance) {
  std::vector<float> reference = zeros(7 * 8), candidate = zeros(7 * 8);
  reference[3] = 10;
  candidate[3] = 8;
  candidate[9] = -1;
  const auto picture = difference_picture(tensor_of({1, 1, 7, 8}, reference), tensor_of({1, 1, 7, 8}, candidate));
  ASSERT_TRUE(picture);
  EXPECT_EQ(picture->rows, 7U);
  EXPECT_EQ(picture->columns, 8U);
  EXPECT_EQ(picture->full_rows, 7U);
  EXPECT_EQ(picture->full_columns, 8U);
  EXPECT_EQ(picture->low, -1);
  EXPECT_EQ(picture->high, 10);
  EXPECT_EQ(picture->max_difference, 2);
  EXPECT_EQ(picture->where, "");
  EXPECT_EQ(picture->reference.size(), 2 * 56U);
  EXPECT_EQ(level(picture->reference, 3), highest);
  EXPECT_EQ(level(picture->reference, 0), 5957);  // 1 / 11 of the highest
  EXPECT_EQ(level(picture->candidate, 9), 0);
  EXPECT_EQ(level(picture->difference, 3), highest);
  EXPECT_EQ(level(picture->difference, 9), highest / 2);  // half of it
  EXPECT_EQ(level(picture->difference, 0), 0);
}

TEST(DifferencePicture, IsOfThePlaneWithTheLargestDifference) {
  const Shape shape{2, 3, 7, 7};
  std::vector<float> candidate = zeros(2 * 3 * 49);
  candidate[(1 * 3 + 2) * 49 + 5] = -3;
  candidate[4] = 2;
  const auto picture = difference_picture(tensor_of(shape, zeros(candidate.size())), tensor_of(shape, candidate));
  ASSERT_TRUE(picture);
  EXPECT_EQ(picture->where, "1 of the batch of 2, channel 2 of 3");
  EXPECT_EQ(picture->plane, (std::vector<std::size_t>{1, 2}));
  EXPECT_EQ(picture->max_difference, 3);
  EXPECT_EQ(level(picture->difference, 5), highest);
}

TEST(DifferencePicture, IsOfTheSliceOfAVolumeWithTheLargestDifference) {
  const Shape shape{1, 1, 9, 7, 8};
  std::vector<float> candidate = zeros(9 * 56);
  candidate[6 * 56 + 17] = 1;
  const auto picture = difference_picture(tensor_of(shape, zeros(candidate.size())), tensor_of(shape, candidate));
  ASSERT_TRUE(picture);
  EXPECT_EQ(picture->where, "slice 6 of 9");
  EXPECT_EQ(picture->plane, (std::vector<std::size_t>{0, 0, 6}));
  EXPECT_EQ(picture->largest, (std::pair<std::size_t, std::size_t>{2, 1}));
  EXPECT_EQ(level(picture->difference, 17), highest);
}

TEST(DifferencePicture, OfEqualVolumesIsTheMiddle) {
  const Tensor volume = tensor_of({1, 1, 9, 7, 8}, zeros(9 * 56));
  const auto picture = difference_picture(volume, volume);
  ASSERT_TRUE(picture);
  EXPECT_EQ(picture->where, "slice 4 of 9");
  EXPECT_EQ(picture->largest, std::nullopt);
  EXPECT_EQ(picture->max_difference, 0);
  EXPECT_EQ(picture->difference, std::string(112, '\0'));
}

TEST(DifferencePicture, IsThinnedByMeansAndByTheLargestDifference) {
  const std::size_t side = 2 * kPlaneSide;
  const Shape shape{1, 1, static_cast<std::int64_t>(side), static_cast<std::int64_t>(side)};
  std::vector<float> reference = zeros(side * side), candidate = reference;
  candidate[side + 1] = 4;  // the last of the four values of the first pixel
  const auto picture = difference_picture(tensor_of(shape, reference), tensor_of(shape, candidate));
  ASSERT_TRUE(picture);
  EXPECT_EQ(picture->rows, kPlaneSide);
  EXPECT_EQ(picture->full_rows, side);
  EXPECT_EQ(picture->candidate.size(), 2 * kPlaneSide * kPlaneSide);
  EXPECT_EQ(level(picture->candidate, 0), highest / 4);  // a quarter of 0 … 4
  EXPECT_EQ(level(picture->difference, 0), highest);
  EXPECT_EQ(level(picture->difference, 1), 0);
}

TEST(DifferencePicture, KeepsEachValueOfAPlaneThatIsNoMultiple) {
  const Shape shape{1, 1, 7, 200};
  for (std::size_t at = 0; at < 200; ++at) {
    std::vector<float> candidate = zeros(7 * 200);
    candidate[3 * 200 + at] = 1;
    const auto picture =
        difference_picture(tensor_of(shape, zeros(candidate.size())), tensor_of(shape, candidate), 192);
    ASSERT_EQ(picture->columns, 192U);
    EXPECT_EQ(std::ranges::count(picture->difference, '\xff'), 1) << at;  // a higher byte
    EXPECT_EQ(picture->largest, (std::pair<std::size_t, std::size_t>{3, at}));
  }
}

TEST(DifferencePicture, SaysWhatIsFiniteInOneOnly) {
  std::vector<float> reference = zeros(49), candidate = zeros(49);
  candidate[10] = nan;
  reference[20] = candidate[20] = nan;
  candidate[30] = 1;
  reference[40] = inf, candidate[40] = -inf;
  const auto picture = difference_picture(tensor_of({1, 1, 7, 7}, reference), tensor_of({1, 1, 7, 7}, candidate));
  ASSERT_TRUE(picture);
  EXPECT_EQ(picture->where, "5 NaN or infinite");
  EXPECT_EQ(level(picture->difference, 40), DifferencePicture::kInfinity);
  EXPECT_EQ(picture->max_difference, 1);
  EXPECT_EQ(level(picture->difference, 10), DifferencePicture::kInfinity);
  EXPECT_EQ(level(picture->difference, 20), 0);
  EXPECT_EQ(level(picture->candidate, 10), DifferencePicture::kNaN);
  EXPECT_EQ(level(picture->reference, 40), DifferencePicture::kInfinity);
  EXPECT_EQ(level(picture->candidate, 40), DifferencePicture::kMinusInfinity);
  EXPECT_EQ(picture->largest, (std::pair<std::size_t, std::size_t>{1, 3}));
}

TEST(DifferencePicture, SurvivesPlanesOfNothingButNaN) {
  const Tensor strange = tensor_of({1, 1, 7, 7}, std::vector<float>(49, nan));
  const auto picture = difference_picture(strange, tensor_of({1, 1, 7, 7}, zeros(49)));
  ASSERT_TRUE(picture);
  EXPECT_EQ(picture->max_difference, 0);
  EXPECT_EQ(level(picture->difference, 48), DifferencePicture::kInfinity);
  EXPECT_EQ(level(picture->reference, 0), DifferencePicture::kNaN);
  const auto both = difference_picture(strange, strange);
  EXPECT_EQ(both->low, 0);
  EXPECT_EQ(both->high, 0);
}

TEST(DifferencePicture, IsOfImagesOnly) {
  const auto picture = [](const Shape& reference, const Shape& candidate) {
    return difference_picture(tensor_of(reference, zeros(*element_count(reference))),
                              tensor_of(candidate, zeros(*element_count(candidate))));
  };
  EXPECT_FALSE(picture({1, 1000}, {1, 1000}));
  EXPECT_FALSE(picture({1, 1, 6, 7}, {1, 1, 6, 7}));
  EXPECT_FALSE(picture({1, 1, 7, 8}, {1, 1, 8, 7}));
  EXPECT_FALSE(difference_picture(tensor_of({1, 1, 7, 7}, zeros(48)), tensor_of({1, 1, 7, 7}, zeros(48))));
}

TEST(DifferencePictures, AreOfEveryKeptItemWithItsNames) {
  KeptDifferences kept(2);
  for (std::size_t item = 0; item < 3; ++item) {
    const Value reference{.tensor = tensor_of({1, 1, 7, 7}, zeros(49))};
    const Value candidate{.tensor = tensor_of({1, 1, 7, 7}, std::vector<float>(49, static_cast<float>(item)))};
    kept.add(item, std::vector{reference}, std::vector{candidate});
  }
  const std::vector<std::string> outputs{"mask"}, items{"a", "b"};
  const auto pictures = difference_pictures(kept, outputs, items);
  ASSERT_EQ(pictures.size(), 2U);
  EXPECT_EQ(pictures[0].output, "mask");
  EXPECT_EQ(pictures[0].name, "item 2");
  EXPECT_EQ(pictures[0].item, 2U);
  EXPECT_EQ(pictures[0].max_difference, 2);
  EXPECT_EQ(pictures[1].name, "b");
}

TEST(DifferencePictures, AreThinnedWhereThereAreManyOfThem) {
  constexpr std::int64_t side = kPlaneSide;
  const Value image{.tensor = tensor_of({1, 1, side, side}, zeros(kPlaneSide * kPlaneSide))};
  KeptDifferences kept(4);
  for (std::size_t item = 0; item < 4; ++item) kept.add(item, std::vector{image, image}, std::vector{image, image});
  const auto pictures = difference_pictures(kept, {}, {});
  ASSERT_EQ(pictures.size(), 8U);
  EXPECT_EQ(pictures[0].rows, 362U);  // 8 * 362 * 362 pixels are just below those of 4 * 512 * 512
  EXPECT_EQ(pictures[7].columns, 362U);
}

}  // namespace
}  // namespace infermeter::difference_planes_test
