// Profiles of operators: only where they were asked for, and of the runs between begin and end.
#include <gmock/gmock.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "backend_under_test.hpp"

namespace infermeter::backend_profile_test {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

std::int64_t realtime_ns() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::nanoseconds>(now).count();
}

struct ProfileTest : BackendTest {
  void SetUp() override {
    BackendTest::SetUp();
    if (!IsSkipped() && table().profile_end == nullptr) GTEST_SKIP() << "this back end gives no profile";
    fs::create_directory(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  [[nodiscard]] imb_status between(const Request& request) const {
    const bool has_slot = table().struct_size >= sizeof(imb_backend) && table().between != nullptr;
    return has_slot ? table().between(request.get(), Message().view()) : IMB_OK;
  }
  // When each run began and ended.
  std::vector<std::pair<std::int64_t, std::int64_t>> record(const Ready& ready, int warmup, int runs) const {
    for (int i = 0; i < warmup; ++i) {
      EXPECT_EQ(run(ready.request).status, IMB_OK);
      EXPECT_EQ(between(ready.request), IMB_OK);
    }
    Message message;
    if (table().profile_begin != nullptr) {
      EXPECT_EQ(table().profile_begin(ready.session.get(), message.view()), IMB_OK) << message.text();
    }
    return finish(ready, runs);
  }
  std::vector<std::pair<std::int64_t, std::int64_t>> finish(const Ready& ready, int runs) const {
    Message message;
    std::vector<std::pair<std::int64_t, std::int64_t>> times;
    for (int i = 0; i < runs; ++i) {
      EXPECT_EQ(between(ready.request), IMB_OK);
      const std::int64_t begin = realtime_ns();
      EXPECT_EQ(run(ready.request).status, IMB_OK);
      times.emplace_back(begin, realtime_ns());
    }
    EXPECT_EQ(table().profile_end(ready.session.get(), message.view()), IMB_OK) << message.text();
    return times;
  }
  [[nodiscard]] std::optional<json> operators() const {
    std::ifstream stream(folder_ / "operators.json");
    if (!stream) return std::nullopt;
    return json::parse(stream, nullptr, false);
  }

  fs::path folder_ = fs::current_path() / "profile";
};

TEST_F(ProfileTest, WithoutAFolderThereIsNothingToEnd) {
  const Ready ready = make_ready();
  ASSERT_EQ(run(ready.request).status, IMB_OK);
  Message message;
  EXPECT_NE(table().profile_end(ready.session.get(), message.view()), IMB_OK);
  EXPECT_FALSE(message.text().empty());
}

TEST_F(ProfileTest, LeavesFilesOfTheRunsBetweenBeginAndEnd) {
  const Ready ready = make_ready(1, {.profile_folder = folder_.string()});
  const auto times = record(ready, 3, 4);
  ASSERT_FALSE(fs::is_empty(folder_));
  const auto reported = operators();
  if (!reported) GTEST_SKIP() << "its files are the runtime's own";
  ASSERT_TRUE(reported->is_object());
  EXPECT_EQ(reported->at("format"), "infermeter-operators");
  EXPECT_EQ(reported->at("version"), 1);
  ASSERT_FALSE(reported->at("operators").empty());
  for (const json& op : reported->at("operators")) {
    EXPECT_FALSE(op.at("name").get<std::string>().empty());
    EXPECT_FALSE(op.at("kind").get<std::string>().empty());
  }
  if (!reported->contains("events")) return;

  const json& events = reported->at("events");
  EXPECT_EQ(reported->at("iterations"), times.size());
  const std::size_t count = events.at("op").size();
  for (const char* const column : {"iteration", "thread", "begin_ns", "duration_ns"})
    ASSERT_EQ(events.at(column).size(), count) << column;
  std::vector<bool> has_events(times.size(), false);
  for (std::size_t i = 0; i < count; ++i) {
    const auto iteration = events.at("iteration")[i].get<std::size_t>();
    ASSERT_LT(iteration, times.size());
    has_events[iteration] = true;
    ASSERT_LT(events.at("op")[i].get<std::size_t>(), reported->at("operators").size());
    if (reported->at("clock") != "realtime") continue;
    const auto begin = events.at("begin_ns")[i].get<std::int64_t>();
    const auto end = begin + events.at("duration_ns")[i].get<std::int64_t>();
    constexpr std::int64_t resolution = 1000;
    EXPECT_GE(begin + resolution, times[iteration].first) << "event " << i;
    EXPECT_LE(end - resolution, times[iteration].second) << "event " << i;
  }
  EXPECT_THAT(has_events, testing::Each(true));
}

TEST_F(ProfileTest, ASecondProfileHasItsOwnRuns) {
  const Ready ready = make_ready(1, {.profile_folder = folder_.string()});
  record(ready, 1, 2);
  Message message;
  if (table().profile_begin != nullptr && table().profile_begin(ready.session.get(), message.view()) != IMB_OK) {
    EXPECT_FALSE(message.text().empty());
    GTEST_SKIP() << "this runtime records one profile for each session";
  }
  finish(ready, 3);
  if (const auto reported = operators(); reported && reported->contains("events")) {
    EXPECT_EQ(reported->at("iterations"), 3);
  }
}

}  // namespace
}  // namespace infermeter::backend_profile_test
