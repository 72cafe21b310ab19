// Trials that are profiled: what comes back of their back end's profile folder.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "infermeter/worker/fake_trial.hpp"
#include "infermeter/worker/profile/profile_folder.hpp"

namespace infermeter::profile_trial_test {
namespace {

using namespace test;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

TrialResult profiled(Pairs options) {
  TrialJob job = fake_job(std::move(options));
  job.profile = true;
  return run_trial(fake_launcher(), job, hooks_with());
}

const std::pair<std::string, std::string> script = {"operators", "Conv:conv1:1ms+Relu:relu1:0.25ms"};

TEST(ProfileTrial, BringsTheFilesOfTheBackEnd) {
  const TrialResult result = profiled({script, {"delay", "relu1:1us"}, {"operator_gap", "10us"}});
  EXPECT_EQ(result.samples.end, TrialEnd::ok) << result.samples.message;
  ASSERT_THAT(result.profile_files, SizeIs(1));
  EXPECT_EQ(result.profile_files[0].name, "operators.json");
  // Of the timed iterations only, and to the nanosecond.
  EXPECT_THAT(result.profile_files[0].bytes, HasSubstr(R"("iterations":20,)"));
  EXPECT_THAT(result.profile_files[0].bytes, HasSubstr(R"("duration_ns":[1000000,251000,1000000,251000,)"));
  EXPECT_THAT(result.profile_files[0].bytes, HasSubstr(R"("begin_ns":[10000,1020000,10000,1020000,)"));
  for (const double latency : latencies_s(result.samples)) EXPECT_GE(latency, 1.271e-3);
  EXPECT_TRUE(result.samples.clock.origin_monotonic_ns && result.samples.clock.realtime_ahead_ns);
}

TEST(ProfileTrial, LeavesNothingWhereNoneWasAskedFor) {
  const TrialResult result = run_trial(fake_launcher(), fake_job({script}), hooks_with());
  EXPECT_THAT(result.profile_files, IsEmpty());
  EXPECT_FALSE(result.samples.clock.origin_monotonic_ns);
  for (const double latency : latencies_s(result.samples)) EXPECT_GE(latency, 1.25e-3);
}

TEST(ProfileTrial, SaysWhyThereIsNone) {
  const TrialResult result = profiled({script, {"fail", "profile"}});
  EXPECT_EQ(result.samples.end, TrialEnd::ok) << result.samples.message;
  EXPECT_TRUE(has(result.samples, DiagnosticId::no_operator_profile));
  EXPECT_EQ(result.samples.iterations(), 20U);
}

TEST(ProfileTrial, BringsTheFilesOfAWorkerThatDied) {
  const TrialResult result = profiled({script, {"crash", "profile"}});
  EXPECT_EQ(result.samples.end, TrialEnd::crashed);
  ASSERT_THAT(result.profile_files, SizeIs(1));
  EXPECT_THAT(result.profile_files[0].bytes, HasSubstr(R"("iterations":20,)"));
}

TEST(ProfileTrial, AFileThatIsTooLargeIsNotPassedOverInSilence) {
  const std::filesystem::path folder = std::filesystem::path(testing::TempDir()) / "large_profile";
  std::filesystem::create_directories(folder);
  std::ofstream(folder / "onnxruntime.json") << '[';
  std::filesystem::resize_file(folder / "onnxruntime.json", kMostFolderBytes + 1);
  const std::vector<ProfileFile> files = read_profile_folder(folder);
  std::filesystem::remove_all(folder);
  ASSERT_THAT(files, SizeIs(1));
  EXPECT_TRUE(files[0].too_large && files[0].bytes.empty());
}

}  // namespace
}  // namespace infermeter::profile_trial_test
