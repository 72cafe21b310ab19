#include "infermeter/verdict/profile_findings.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace infermeter::profile_findings_test {
namespace {

RunRecord record_of_one() {
  RunRecord record;
  record.plan.subjects.resize(1);
  record.plan.subjects[0].label = "a";
  return record;
}

ProfileFindings findings_with(double clean_s, double profiled_s, bool distorted) {
  ProfileFindings findings;
  findings.subjects.resize(1);
  findings.subjects[0].table.clean_p50_s = clean_s;
  findings.subjects[0].table.profiled_p50_s = profiled_s;
  findings.subjects[0].table.distorted = distorted;
  return findings;
}

TEST(ProfileDiagnostics, ADistortedProfileSaysByHowMuch) {
  const RunRecord record = record_of_one();
  const auto found = profile_diagnostics(record, findings_with(0.02, 0.025, true));
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].id, DiagnosticId::profile_distorted);
  EXPECT_EQ(found[0].about, "a");
  EXPECT_EQ(found[0].message, "its p50 is 25.0 % higher while it is profiled");
  EXPECT_TRUE(profile_diagnostics(record, findings_with(0.02, 0.025, false)).empty());
}

TEST(ProfileDiagnostics, AProfileTrialThatFailedIsNamed) {
  RunRecord record = record_of_one();
  Samples trial;
  trial.purpose = Purpose::profile;
  trial.end = TrialEnd::crashed;
  trial.message = "signal 11";
  record.side_trials = {trial};
  const auto found = profile_diagnostics(record, findings_with(0.02, 0.02, false));
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].id, DiagnosticId::no_operator_profile);
  EXPECT_EQ(found[0].message, "a profile trial crashed: signal 11");
}

}  // namespace
}  // namespace infermeter::profile_findings_test
