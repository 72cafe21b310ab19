#include "infermeter/worker/wall/stalls.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace infermeter::stalls_test {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

TEST(PhaseClock, CountsNoTimeInWhichTheWatchdogDidNotRun) {
  PhaseClock clock(100);
  clock.look(100.02, 0.02);
  clock.look(104.04, 0.02);  // stopped for 4 s
  EXPECT_NEAR(clock.spent_s(104.04), 0.04, 1e-9);
  clock.look(104.2, 0.02);  // late, as on a loaded machine
  EXPECT_NEAR(clock.spent_s(104.2), 0.2, 1e-9);
}

TEST(PhaseClock, CountsNoTimeThatTheLauncherTookToAnswer) {
  PhaseClock clock(0);
  clock.exclude(3);
  clock.look(3.02, 0.02);
  EXPECT_NEAR(clock.spent_s(3.02), 0.02, 1e-9);
  clock.begin(4);
  EXPECT_NEAR(clock.spent_s(4.5), 0.5, 1e-9);
}

// Looks every 50 ms from 0 to `end_s`; `processor_s` shows what the worker has used by then.
template <class Used>
std::vector<Stall> watched(double end_s, const Used& processor_s) {
  StallWatch watch;
  for (int look = 0; look * 0.05 <= end_s; ++look) watch.look(look * 0.05, processor_s(look * 0.05));
  return watch.stalls();
}

TEST(StallWatch, SeesAWorkerThatIsStopped) {
  const auto stalls = watched(8, [](double at_s) { return at_s < 1 ? at_s : at_s < 6 ? 1 : at_s - 5; });
  ASSERT_EQ(stalls.size(), 1U);
  EXPECT_NEAR(stalls[0].begin_s, 1, 0.06);
  EXPECT_NEAR(stalls[0].end_s, 6, 0.06);
}

TEST(StallWatch, SeesAWorkerThatIsSuspendedWithItsWatchdog) {
  StallWatch watch;
  watch.look(0, 0);
  watch.look(0.05, 0.05);
  watch.look(5.05, 0.06);
  ASSERT_EQ(watch.stalls().size(), 1U);
  EXPECT_EQ(watch.stalls()[0].end_s, 5.05);
}

TEST(StallWatch, SeesNothingInAWorkerThatRunsWhileItsWatchdogDoesNot) {
  StallWatch watch;
  watch.look(0, 0);
  watch.look(5, 4.9);
  watch.look(5.1, std::nullopt);
  EXPECT_THAT(watch.stalls(), IsEmpty());
  EXPECT_THAT(watched(4, [](double at_s) { return at_s < 1     ? at_s
                                                  : at_s < 1.2 ? 1
                                                               : at_s - 0.2; }), IsEmpty())
      << "short";
}

Samples with_latencies(const std::vector<double>& latencies) {
  Samples samples;
  double now_s = 1;
  for (const double latency : latencies) {
    samples.begin_s.push_back(now_s);
    samples.end_s.push_back(now_s += latency);
  }
  return samples;
}

TEST(DiagnoseStalls, NamesTheIteration) {
  const Samples samples = with_latencies({0.01, 0.011, 0.0105, 5.01, 0.01, 0.011});
  const std::vector<Stall> stalls = {{1.05, 6.0}};
  const auto found = diagnose_stalls(stalls, samples);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].id, DiagnosticId::stood_still);
  EXPECT_THAT(found[0].message, HasSubstr("for 5.0 s within timed iteration 4, which took 5.0 s"));
}

TEST(DiagnoseStalls, ASubjectThatAlwaysWaitsDoesNotStandStill) {
  const std::vector<Stall> stalls = {{1, 6}};
  EXPECT_THAT(diagnose_stalls(stalls, with_latencies({1, 1.01, 0.99, 1, 1.02})), IsEmpty());
  EXPECT_THAT(diagnose_stalls(stalls, with_latencies({5})), IsEmpty());
  const std::vector<Stall> outside = {{10, 15}};
  EXPECT_THAT(diagnose_stalls(outside, with_latencies({0.01, 0.01, 0.01, 6})), IsEmpty());
}

}  // namespace
}  // namespace infermeter::stalls_test
