#include "infermeter/stats/summary/outliers.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace infermeter::outliers_test {
namespace {

using testing::ElementsAre;

TEST(Outliers, AreMarkedByTukeysFences) {
  // np.percentile([1..9, 14, 20], [25, 75]) = [3.5, 8.5]: inner fences at -4 and 16, outer at -11.5 and 23.5
  const Marked marked = mark_outliers(std::vector<double>{1, 2, 3, 4, 5, 6, 7, 8, 9, 14, 20});
  EXPECT_EQ(marked.mild, 1);
  EXPECT_EQ(marked.severe, 0);
  const Marked severe = mark_outliers(std::vector<double>{1, 2, 3, 4, 5, 6, 7, 8, 9, 14, 24});
  EXPECT_EQ(severe.mild, 0);
  EXPECT_EQ(severe.severe, 1);
  EXPECT_EQ(mark_outliers({}).mild, 0);
}

TEST(Outliers, FencesAreWhereTheMarksAre) {
  const Fences fences = tukey_fences(std::vector<double>{1, 2, 3, 4, 5, 6, 7, 8, 9, 14, 20});
  EXPECT_EQ(fences.severe_low, -11.5);
  EXPECT_EQ(fences.mild_low, -4);
  EXPECT_EQ(fences.mild_high, 16);
  EXPECT_EQ(fences.severe_high, 23.5);
}

const std::vector<double> values = {10, 12, 11, 40, 10, 11, 12, 9};

TEST(Outliers, AreRemovedByTheRuleAskedFor) {
  EXPECT_EQ(remove_outliers(values, "none", 0).values, values);
  // np.mean = 14.375, np.std(ddof=1) = 10.41: 2 of it keep 40 out, 3 do not
  EXPECT_THAT(remove_outliers(values, "sigma", 2).values, ElementsAre(10, 12, 11, 10, 11, 12, 9));
  EXPECT_EQ(remove_outliers(values, "sigma", 3).values, values);
  // quartiles 10 and 12: 8 … 14 with 1, 9.8 … 12.2 with 0.1
  EXPECT_THAT(remove_outliers(values, "iqr", 1).values, ElementsAre(10, 12, 11, 10, 11, 12, 9));
  EXPECT_THAT(remove_outliers(values, "iqr", 0.1).values, ElementsAre(10, 12, 11, 10, 11, 12));
  // median 11, median absolute deviation 1: 11 ± 1.4826 · factor; without the 1.4826 a factor of 1.5 would drop the 9
  EXPECT_THAT(remove_outliers(values, "mad", 1.5).values, ElementsAre(10, 12, 11, 10, 11, 12, 9));
  EXPECT_THAT(remove_outliers(values, "mad", 1.3).values, ElementsAre(10, 12, 11, 10, 11, 12));
}

TEST(Outliers, ARuleThatWouldRemoveAllIsNotFollowed) {
  const Kept kept = remove_outliers(std::vector<double>{1, 3}, "sigma", 0.1);
  EXPECT_TRUE(kept.ignored);
  EXPECT_THAT(kept.values, ElementsAre(1, 3));
}

TEST(Outliers, ARuleWithoutASpreadToMeasureByIsNotFollowed) {
  const std::vector<double> nearly_constant = {5, 5, 5, 5, 5, 5, 5, 6};
  for (const char* rule : {"mad", "iqr"}) {
    const Kept kept = remove_outliers(nearly_constant, rule, 3);
    EXPECT_TRUE(kept.ignored) << rule;
    EXPECT_EQ(kept.values, nearly_constant) << rule;
  }
}

TEST(Outliers, FewOrEqualValuesAreKeptWithoutAWord) {
  for (const char* rule : {"sigma", "iqr", "mad"}) {
    EXPECT_TRUE(remove_outliers({}, rule, 1).values.empty());
    EXPECT_FALSE(remove_outliers(std::vector<double>{4}, rule, 1).ignored) << rule;
    EXPECT_FALSE(remove_outliers(std::vector<double>(20, 4.0), rule, 1).ignored) << rule;
  }
}

}  // namespace
}  // namespace infermeter::outliers_test
