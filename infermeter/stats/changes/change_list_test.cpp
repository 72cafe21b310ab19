#include "infermeter/stats/changes/change_list.hpp"

#include <cstddef>
#include <vector>

#include <gtest/gtest.h>

namespace infermeter::change_list_test {
namespace {

const std::vector<double> kLogs = {0, 0, 0, 0, 1, 1, 1, 1, 5, 5, 5, 5};

double step(const ChangeList::Surroundings& around) { return around.from.front() - around.before.back(); }

TEST(ChangeList, MovesPointsToWhereLevelsMeet) {
  ChangeList changes(kLogs, 2);
  changes.add({{.index = 9}, {.index = 3}});
  changes.relocate();
  EXPECT_EQ(changes.boundaries(), (std::vector<std::size_t>{0, 4, 8, 12}));
}

TEST(ChangeList, ShowsTheLevelsAroundAPoint) {
  ChangeList changes(kLogs, 2);
  changes.add({{.index = 4}, {.index = 8}});
  const ChangeList::Surroundings around = changes.around(1);
  EXPECT_EQ(around.before.data(), kLogs.data() + 4);
  EXPECT_EQ(around.before.size(), 4u);
  EXPECT_EQ(around.from.data(), kLogs.data() + 8);
  EXPECT_EQ(around.from.size(), 4u);
  EXPECT_EQ(around.both.size(), 8u);
}

TEST(ChangeList, DropsTheWeakestFirst) {
  ChangeList changes(kLogs, 2);
  changes.add({{.index = 4, .p = 0.25}, {.index = 8, .p = 0.5}});
  changes.drop_weaker(2, step);
  ASSERT_EQ(changes.points().size(), 1u);
  EXPECT_EQ(changes.points()[0].index, 8u);
  EXPECT_EQ(changes.points()[0].p, 0.5);
  changes.drop_weaker(9, step);
  EXPECT_TRUE(changes.points().empty());
}

}  // namespace
}  // namespace infermeter::change_list_test
