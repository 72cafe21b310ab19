#include "infermeter/report/forms/event_file.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include "infermeter/report/forms/tensorboard.hpp"
#include "infermeter/report/test_records.hpp"

namespace infermeter::event_file_test {
namespace {

TEST(EventFile, ChecksumIsCastagnolis) {
  EXPECT_EQ(crc32c("123456789"), 0xe3069283U);
  EXPECT_EQ(crc32c(""), 0U);
}

TEST(EventFile, WhatIsNoNumberOrNoPictureIsLeftOut) {
  EventFile file(1e9);
  const std::string empty = file.bytes();
  file.scalar("a", 0, std::numeric_limits<double>::quiet_NaN());
  file.histogram("a", 0, std::vector<double>{});
  file.histogram("a", 0, std::vector<double>{1, std::numeric_limits<double>::infinity()});
  file.picture("a", 0, "\x89PNG");
  EXPECT_EQ(file.bytes(), empty);
  file.histogram("a", 0, std::vector<double>{2, 2});
  EXPECT_GT(file.bytes().size(), empty.size());
}

TEST(TensorBoard, FoldersAreSafeAndApart) {
  RunRecord record = test::comparison_record();
  record.plan.subjects[0].label = "../a/b";
  record.plan.subjects[1].label = "../a_b";
  std::vector<std::string> names;
  for (const ProfileExport& file : tensorboard_files(std::span(&record, 1))) names.push_back(file.name);
  ASSERT_EQ(names.size(), 3U);
  EXPECT_TRUE(names[0].starts_with("_.._a_b/events.out.tfevents.")) << names[0];
  EXPECT_TRUE(names[1].starts_with("_.._a_b_2/events.out.tfevents.")) << names[1];
  EXPECT_TRUE(tensorboard_files({}).empty());
}

}  // namespace
}  // namespace infermeter::event_file_test
