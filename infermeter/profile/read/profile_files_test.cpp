#include "infermeter/profile/read/profile_files.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "infermeter/profile/read/fixture_file.hpp"

namespace infermeter::profile_files_test {
namespace {

using testing::HasSubstr;

const char* const one_operator =
    R"({"format":"infermeter-operators","version":1,"operators":[{"name":"a"}],"means":{"duration_ns":[5],"calls":[1]}})";

Samples mlp_trial() {
  Samples trial;
  trial.position = 4;
  trial.begin_s = {0, 25.872e-6, 51.707e-6};
  trial.end_s = {25.428e-6, 51.405e-6, 80.012e-6};
  trial.clock.origin_monotonic_ns = 3069944539330;
  trial.clock.realtime_ahead_ns = 1795325951932642971;
  trial.clock.realtime_slip_ns = 12;
  return trial;
}

TEST(ProfileFiles, JoinsTheClocksByTheFileOfTheStart) {
  const std::vector<ProfileFile> files = {{"onnxruntime.json", test::fixture("onnxruntime_mlp.json")},
                                          {"onnxruntime.start", "1795329021848271003\n"}};
  const auto profile = read_operator_profile(files, nullptr, mlp_trial());
  ASSERT_TRUE(profile.ok()) << profile.error().message;
  EXPECT_NEAR(profile->begin_s.at(0), 4.702e-6, 1e-9);
  EXPECT_EQ(profile->position, 4);
  ASSERT_EQ(profile->sources.size(), 2U);
  EXPECT_EQ(profile->sources[1].name, "graph");
  EXPECT_FALSE(profile->sources[1].available);
}

TEST(ProfileFiles, FindsTheFileOfAWorkerThatDied) {
  const std::vector<ProfileFile> files = {
      {"onnxruntime_2026-11-22_06-17-54_371.json", test::fixture("onnxruntime_mlp.json")}};
  const auto profile = read_operator_profile(files, nullptr, mlp_trial());
  ASSERT_TRUE(profile.ok()) << profile.error().message;
  EXPECT_EQ(profile->operators.size(), 3U);
}

TEST(ProfileFiles, TakesTheNextOneWhereOneCannotBeRead) {
  const std::vector<ProfileFile> files = {{"onnxruntime.json", "["}, {"operators.json", one_operator}};
  const auto profile = read_operator_profile(files, nullptr, mlp_trial());
  ASSERT_TRUE(profile.ok()) << profile.error().message;
  EXPECT_EQ(profile->operators.at(0).name, "a");
}

TEST(ProfileFiles, SaysOfTheGraphWhatThereIs) {
  const ModelGraph graph;
  const std::vector<ProfileFile> files = {{"operators.json", one_operator}, {"optimized.onnx", "?"}};
  const auto graph_of = [&](const ModelGraph* compiled) {
    const auto profile = read_operator_profile(files, compiled, mlp_trial());
    return profile.ok() ? profile->sources.back() : ProfileSource{};
  };
  EXPECT_TRUE(graph_of(&graph).available);
  EXPECT_FALSE(graph_of(nullptr).available);
  EXPECT_THAT(graph_of(nullptr).detail, HasSubstr("cannot be read"));
}

TEST(ProfileFiles, RefusesWhatIsNotKnown) {
  const auto none = read_operator_profile({}, nullptr, mlp_trial());
  ASSERT_FALSE(none.ok());
  EXPECT_THAT(none.error().message, HasSubstr("no profile"));
  const std::vector<ProfileFile> files = {{"operators.json", "["}, {"torch.json", "]"}, {"other.json", one_operator}};
  const auto broken = read_operator_profile(files, nullptr, mlp_trial());
  ASSERT_FALSE(broken.ok());
  EXPECT_THAT(broken.error().message, HasSubstr("operators.json"));
}

}  // namespace
}  // namespace infermeter::profile_files_test
