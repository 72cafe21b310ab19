#include "infermeter/trial/machine/noise.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cstring>

#include "infermeter/trial/machine/memory_probe.hpp"

namespace infermeter::noise_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(MachineTime, AddsWhatIsBusyAndNothingElse) {
  const auto time = machine_time("cpu  100 20 30 4000 500 6 7 80 9 0\ncpu0 1 2 3\ncpu1 1 2 3\nintr 5\n", 0.01);
  ASSERT_TRUE(time.has_value());
  EXPECT_DOUBLE_EQ(time->busy_s, 1.63);  // without idle, iowait, steal; guest is in user already
  EXPECT_DOUBLE_EQ(time->steal_s, 0.8);
  EXPECT_EQ(time->processors, 2);
  EXPECT_FALSE(machine_time("", 0.01).has_value());
  EXPECT_FALSE(machine_time("cpu  1 x", 0.01).has_value());
}

TEST(ProcessTime, StandsANameWithBlanksAndBrackets) {
  const auto time = process_time_s("42 (a) b (c) S 1 2 3 4 5 6 7 8 9 10 250 50 0 0 20", 0.01);
  EXPECT_DOUBLE_EQ(time.value(), 3.0);
  EXPECT_FALSE(process_time_s("42 (a", 0.01).has_value());
  EXPECT_FALSE(process_time_s("42 (a) S 1 2", 0.01).has_value());
}

TEST(Throttled, ReadsBothKindsOfCgroup) {
  EXPECT_DOUBLE_EQ(throttled_s("usage_usec 5\nnr_throttled 3\nthrottled_usec 2500000\n").value(), 2.5);
  EXPECT_DOUBLE_EQ(throttled_s("nr_periods 9\nnr_throttled 3\nthrottled_time 2500000000\n").value(), 2.5);
  EXPECT_FALSE(throttled_s("usage_usec 5\n").has_value());
}

NoiseReading reading(double at_s, double busy_s, double own_s, double launcher_s) {
  NoiseReading reading;
  reading.at_s = at_s;
  reading.machine = MachineTime{.busy_s = busy_s, .steal_s = at_s * 0.1, .processors = 4};
  reading.own_s = own_s;
  reading.launcher_s = launcher_s;
  return reading;
}

TEST(Noise, ForeignIsWhatIsNeitherOursNorTheLaunchers) {
  const NoiseRecord noise = noise_between(reading(10, 100, 5, 1), reading(12, 104, 7, 1.5), reading(9, 50, 4, 0));
  EXPECT_DOUBLE_EQ(noise.foreign_cpu.value(), 0.75);
  EXPECT_DOUBLE_EQ(noise.own_cpu.value(), 1.0);
  EXPECT_NEAR(noise.steal.value(), 0.025, 1e-12);
}

TEST(Noise, IsNeverNegative) {
  const NoiseReading before = reading(10, 100, 5, 1);
  EXPECT_DOUBLE_EQ(noise_between(before, reading(12, 101, 7, 1.5), before).foreign_cpu.value(), 0);
}

// Of a loop of 12 ms the counters, which move in steps of 10 ms, are those of the whole process.
TEST(Noise, OfShortLoopsIsCountedFromTheWorkersStart) {
  const NoiseReading start = reading(9.9, 99.0, 4.9, 1), before = reading(10, 99.2, 5, 1);
  const NoiseRecord brief = noise_between(before, reading(10.012, 99.212, 5.012, 1), start);
  EXPECT_NEAR(brief.foreign_cpu.value(), (0.212 - 0.112) / 0.112, 1e-9);
  EXPECT_NEAR(brief.own_cpu.value(), 1, 1e-9) << "of the loop";
  EXPECT_TRUE(brief.steal.has_value());
  const NoiseRecord briefest = noise_between(before, reading(10.012, 99.212, 5.012, 1), reading(9.98, 99.1, 4.98, 1));
  EXPECT_FALSE(briefest.foreign_cpu.has_value());
  EXPECT_FALSE(briefest.steal.has_value());
  EXPECT_TRUE(briefest.own_cpu.has_value());
}

std::vector<DiagnosticId> ids(const NoiseRecord& noise, double loop_s, int threads) {
  std::vector<DiagnosticId> found;
  for (const Diagnostic& diagnostic : diagnose_noise(noise, loop_s, threads)) found.push_back(diagnostic.id);
  return found;
}

TEST(Noise, EachThresholdLiesBetweenQuietAndDisturbed) {
  NoiseRecord quiet;
  quiet.foreign_cpu = 0.06;  // of 3 s: 5 % + 30 ms are 6 %
  quiet.steal = 0.02;
  quiet.throttled_s = 0;
  quiet.major_faults = 0;
  quiet.involuntary_switches = 150;
  quiet.frequency_before_hz = 3e9;
  quiet.frequency_after_hz = 2.9e9;
  quiet.processors = 2;
  EXPECT_THAT(ids(quiet, 3, 2), IsEmpty());
  NoiseRecord loud = quiet;
  loud.foreign_cpu = 0.07;
  loud.steal = 0.021;
  loud.throttled_s = 0.001;
  loud.major_faults = 1;
  loud.involuntary_switches = 151;
  loud.frequency_after_hz = 2.8e9;
  EXPECT_THAT(ids(loud, 3, 3), ElementsAre(DiagnosticId::foreign_load, DiagnosticId::steal, DiagnosticId::throttled,
                                           DiagnosticId::major_faults, DiagnosticId::involuntary_switches,
                                           DiagnosticId::frequency_changed, DiagnosticId::more_threads_than_cores));
  EXPECT_THAT(ids({}, 3, 3), IsEmpty()) << "what was not measured disturbs nobody";
}

TEST(Noise, FiguresAreInTheSentence) {
  NoiseRecord noise;
  noise.foreign_cpu = 0.41;
  EXPECT_EQ(diagnose_noise(noise, 10, 1).at(0).message,
            "other programs used 41 % of a processor during the timed loop");
  noise.foreign_cpu = 0.9;
  EXPECT_THAT(diagnose_noise(noise, 0.012, 1), IsEmpty());
  EXPECT_EQ(diagnose_noise(noise, 0.012, 1, 0.12).at(0).message,
            "other programs used 90 % of a processor up to the end of the timed loop");
}

TEST(NoiseProbe, ReadsThisMachine) {
  const NoiseProbe probe(0);
  const NoiseReading before = probe.before();
  const NoiseReading after = probe.after();
  ASSERT_TRUE(before.machine.has_value());
  EXPECT_GE(after.machine->busy_s, before.machine->busy_s);
  EXPECT_GE(after.own_s, before.own_s);
  EXPECT_GT(after.at_s, before.at_s);
  EXPECT_GE(usable_processors(), 1);
  EXPECT_GE(thread_count().value(), 1);
}

TEST(KilobytesField, IsNeverNothingButAbsent) {
  EXPECT_EQ(kilobytes_field("VmPeak: 9 kB\nVmRSS:\t    1234 kB\n", "VmRSS:"), 1234U * 1024);
  EXPECT_FALSE(kilobytes_field("VmRSS:\t 0 kB\n", "VmRSS:").has_value());
  EXPECT_FALSE(kilobytes_field("VmRSS:\n", "VmRSS:").has_value());
  EXPECT_FALSE(kilobytes_field("", "VmRSS:").has_value());
}

TEST(MemoryProbe, SeesMemoryComeAndGoAndForgetsThePeak) {
  constexpr std::size_t size = 64U << 20U;
  const MemoryProbe probe;
  const std::uint64_t before = probe.resident().value();
  void* const memory = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  std::memset(memory, 1, size);
  EXPECT_GT(probe.resident().value(), before + size / 2);
  EXPECT_GT(probe.proportional().value(), size / 2);
  munmap(memory, size);
  EXPECT_GT(probe.peak().value(), before + size / 2) << "the peak outlives the memory";
  if (!probe.reset_peak()) GTEST_SKIP() << "clear_refs cannot be written here";
  EXPECT_LT(probe.peak().value(), before + size / 2);
}

}  // namespace
}  // namespace infermeter::noise_test
