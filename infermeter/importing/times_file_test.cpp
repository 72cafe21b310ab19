#include "infermeter/importing/times_file.hpp"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "infermeter/diagnostics/test_paths.hpp"

namespace infermeter::times_file_test {
namespace {

using testing::DoubleNear;
using testing::ElementsAre;
using testing::HasSubstr;

std::string fixture(const std::string& name) {
  std::ifstream stream(std::filesystem::path(test::source_dir) / "infermeter/importing/fixtures" / name);
  std::stringstream text;
  text << stream.rdbuf();
  return text.str();
}

TimesFile read(const std::string& text) {
  const auto format = format_of_times(text);
  EXPECT_TRUE(format) << text.substr(0, 100);
  auto file = read_times(text, format.value_or(TimesFormat::hyperfine));
  EXPECT_TRUE(file.ok()) << (file.ok() ? "" : file.error().message);
  return file.ok() ? *file : TimesFile{};
}

std::string refusal(const std::string& text) {
  const auto format = format_of_times(text);
  if (!format) return "no times";
  const auto file = read_times(text, *format);
  return file.ok() ? "" : file.error().message;
}

std::vector<std::string> names(const TimesFile& file) {
  std::vector<std::string> found;
  for (const BenchmarkTimes& one : file.benchmarks) found.push_back(one.name);
  return found;
}

// Written by hyperfine 1.15: each run of a command is a process.
TEST(TimesFile, HyperfinesRunsAreProcesses) {
  const TimesFile file = read(fixture("hyperfine.json"));
  EXPECT_THAT(names(file), ElementsAre("sleep 0.01", "sleep 0.011"));
  EXPECT_EQ(file.benchmarks[0].processes.size(), 12U);
  EXPECT_THAT(file.benchmarks[0].processes[0], ElementsAre(0.014970597));
  EXPECT_EQ(file.note, "");
}

TEST(TimesFile, RunsThatFailedAreLeftOutAndTold) {
  const TimesFile file = read(
      R"({"results": [{"command": "a", "times": [1, 2, 3], "exit_codes": [0, 1, null]}, {"command": "b", "times": []}]})");
  EXPECT_THAT(names(file), ElementsAre("a"));
  EXPECT_THAT(file.benchmarks[0].processes, ElementsAre(ElementsAre(1.0)));
  EXPECT_EQ(file.note, "2 runs that failed were left out");
  EXPECT_THAT(refusal(R"({"results": [{"command": "a", "times": [1], "exit_codes": [1]}]})"),
              HasSubstr("every run of it failed"));
}

// Written by Google Benchmark 1.7.1 with --benchmark_repetitions=5: repetitions are within one process, aggregates are
// no times.
TEST(TimesFile, GoogleBenchmarksRepetitionsAreOneProcess) {
  const TimesFile file = read(fixture("google_benchmark.json"));
  EXPECT_THAT(names(file), ElementsAre("create", "copy/8"));
  for (const BenchmarkTimes& one : file.benchmarks) {
    ASSERT_EQ(one.processes.size(), 1U);
    EXPECT_EQ(one.processes[0].size(), 5U);
    EXPECT_LT(one.processes[0][0], 1e-6) << "nanoseconds";
  }
  const TimesFile units = read(
      R"({"context": {}, "benchmarks": [{"run_name": "a", "run_type": "iteration", "real_time": 2, "time_unit": "ms"},)"
      R"({"run_name": "a", "run_type": "iteration", "real_time": 3, "time_unit": "us"}, {"run_name": "b", "error_occurred": true, "real_time": 0}]})");
  EXPECT_THAT(names(units), ElementsAre("a"));
  EXPECT_THAT(units.benchmarks[0].processes[0], ElementsAre(DoubleNear(2e-3, 1e-15), DoubleNear(3e-6, 1e-18)));
}

// Written by criterion 0.5: a sample's time is that of all its iterations.
TEST(TimesFile, CriterionsSamplesAreDividedByTheirIterations) {
  const TimesFile file = read(fixture("criterion_sample.json"));
  ASSERT_EQ(file.benchmarks.size(), 1U);
  ASSERT_EQ(file.benchmarks[0].processes[0].size(), 10U);
  EXPECT_DOUBLE_EQ(file.benchmarks[0].processes[0][0], 4985411e-9 / 6508);
  EXPECT_DOUBLE_EQ(file.benchmarks[0].processes[0][9], 50129708e-9 / 65080);
}

// Written by pytest-benchmark with --benchmark-save-data.
TEST(TimesFile, PytestBenchmarksDataAreTimes) {
  const TimesFile file = read(fixture("pytest_benchmark.json"));
  EXPECT_THAT(names(file), ElementsAre("test_b.py::test_sorted"));
  EXPECT_EQ(file.benchmarks[0].processes[0].size(), 20U);
  EXPECT_THAT(refusal(R"({"machine_info": {}, "benchmarks": [{"name": "a", "stats": {"mean": 1}}]})"),
              HasSubstr("--benchmark-save-data"));
}

// As perf_analyzer and trtexec document their files.
TEST(TimesFile, PerfAnalyzersRequestsEndWithTheirLastResponse) {
  const TimesFile file = read(fixture("perf_analyzer.json"));
  EXPECT_THAT(names(file), ElementsAre("concurrency 1"));
  ASSERT_EQ(file.benchmarks[0].processes[0].size(), 20U);
  EXPECT_DOUBLE_EQ(file.benchmarks[0].processes[0][7], 2'000'007e-9)
      << "to the nanosecond, which doubles of seconds since 1970 have not";
  std::string overlapping = fixture("perf_analyzer.json");
  overlapping.replace(overlapping.find("1700000000003000000"), 19, "1700000000001000000");
  EXPECT_THAT(refusal(overlapping), HasSubstr("its requests overlap"));
}

TEST(TimesFile, TrtexecsLatencyHasTheCopiesInIt) {
  const TimesFile file = read(fixture("trtexec.json"));
  EXPECT_DOUBLE_EQ(file.benchmarks[0].processes[0][1], 1.21e-3);
}

TEST(TimesFile, BadFilesAreRefusedInOneSentence) {
  EXPECT_EQ(refusal(""), "no times");
  EXPECT_EQ(refusal("{}"), "no times");
  EXPECT_EQ(refusal("[{\"ph\": \"X\"}]"), "no times");
  const std::string whole = fixture("hyperfine.json");
  EXPECT_EQ(refusal(whole.substr(0, whole.size() / 2)), "hyperfine's JSON: it ends early, or is no JSON");
  for (const char* time : {"-1", "null", "\"1\"", "1e999"}) {
    const std::string text = std::string(R"({"results": [{"command": "a", "times": [)") + time + "]}]}";
    EXPECT_THAT(refusal(text), testing::AnyOf(HasSubstr("negative or no number"), HasSubstr("no JSON"))) << time;
  }
  for (const char* text :
       {R"({"results": 1, "command": 2})", R"({"results": [1], "command": 2})",
        R"({"context": 1, "benchmarks": {}, "run_name": 1})", R"({"sampling_mode": 1, "iters": [0], "times": [1]})",
        R"({"sampling_mode": 1, "iters": [1]})",
        R"({"experiments": [{"requests": [{"timestamp": "x", "response_timestamps": [1]}]}]})",
        R"([{"latencyMs": -1, "computeMs": 1}])", R"({"machine_info": 1, "benchmarks": [3]})"}) {
    EXPECT_THAT(refusal(text), HasSubstr(": ")) << text;
  }
}

}  // namespace
}  // namespace infermeter::times_file_test
