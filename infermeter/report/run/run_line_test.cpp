#include "infermeter/report/run/run_line.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "infermeter/report/options.hpp"
#include "infermeter/report/report.hpp"
#include "infermeter/report/test_records.hpp"
#include "infermeter/verdict/judge.hpp"

namespace infermeter::run_line_test {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

TEST(MachineLine, HasTheProcessorAndTheDevicesThatSubjectsRanOn) {
  RunRecord record = test::comparison_record();
  EXPECT_THAT(machine_line(record), StartsWith("AMD EPYC"));
  for (Samples& trial : record.trials) {
    if (trial.subject == 0) trial.executed = {{"device", "cuda"}, {"device_name", "NVIDIA H100\x1b[2J"}};
  }
  EXPECT_THAT(machine_line(record), StartsWith("NVIDIA H100\\x1b[2J (cuda), AMD EPYC"));
  EXPECT_THAT(render(record, judge(record), Format::table, {}), HasSubstr("NVIDIA H100"));
}

// Records keep the times of the first 4096 alone.
TEST(RunLine, CountsAllOfALongWarmup) {
  RunRecord record = test::comparison_record();
  record.plan.automatic.warmup = true;
  for (Samples& trial : record.trials) trial.warmup_iterations = 50'000;
  EXPECT_THAT(run_line(record), HasSubstr("after 50000 of warm-up"));
  for (Samples& trial : record.trials) trial.warmup_iterations = 0;  // a record of an earlier version
  EXPECT_THAT(run_line(record), HasSubstr("after 1 of warm-up"));
}

// A run of objects, which is made by a program in Python.
TEST(Notices, AdviseWhatPythonHas) {
  RunRecord record = test::comparison_record();
  for (Samples& trial : record.trials) {
    trial.host_process = "1";
    trial.diagnostics.push_back({.id = DiagnosticId::major_faults, .message = "there were 3", .about = {}});
  }
  for (const Format format : {Format::table, Format::markdown, Format::json}) {
    const std::string text = render(record, judge(record), format, {});
    EXPECT_THAT(text, HasSubstr("Raise warmup=")) << static_cast<int>(format);
    EXPECT_THAT(text, Not(HasSubstr("--warmup"))) << static_cast<int>(format);
  }
}

}  // namespace
}  // namespace infermeter::run_line_test
