#include "infermeter/importing/times_file.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>

#include "infermeter/diagnostics/test_paths.hpp"
#include "infermeter/text/whole_file.hpp"

namespace infermeter::times_file_test {
namespace {

using testing::DoubleNear;
using testing::ElementsAre;
using testing::HasSubstr;

std::string fixture(const std::string& name) {
  return whole_file(std::filesystem::path(test::source_dir) / "infermeter/importing/fixtures" / name);
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
      R"({"run_name": "a", "run_type": "iteration", "real_time": 3, "time_unit": "us"}, {"run_name": "b", "error_occurred": true, "real_time": 0},)"
      R"({"run_name": "a", "run_type": "iteration", "skipped": true, "skip_message": "no", "iterations": 0, "real_time": 0, "time_unit": "ns"}]})");
  EXPECT_THAT(names(units), ElementsAre("a"));
  EXPECT_EQ(units.note, "2 runs that failed or were skipped were left out");
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
  const auto& requests = file.benchmarks[0].requests;
  ASSERT_EQ(requests.size(), 20U);
  EXPECT_EQ(requests[7].end_ns - requests[7].begin_ns, 2'000'007);
  EXPECT_EQ(requests[7].moments_ns.size(), 2U);
  EXPECT_EQ(most_in_flight(requests), 1);
}

TEST(TimesFile, RequestsMayOverlapAndComeInAnyOrder) {
  const TimesFile file = read(R"({"experiments": [{"experiment": {"mode": "request_rate", "value": 2}, "requests": [
    {"timestamp": 30, "response_timestamps": [50]}, {"timestamp": 10, "response_timestamps": [40]},
    {"timestamp": 40, "response_timestamps": [60]}, {"timestamp": 20, "response_timestamps": [35]}]}]})");
  const auto& requests = file.benchmarks[0].requests;
  ASSERT_EQ(requests.size(), 4U);
  EXPECT_EQ(requests.front().begin_ns, 10);
  EXPECT_EQ(most_in_flight(requests), 3) << "what begins when another ends is not in flight with it";
  EXPECT_THAT(requests.front().moments_ns, testing::IsEmpty()) << "one response is the whole answer";
}

TEST(TimesFile, AnExperimentsValueMayBeAnything) {
  const auto named = [](const std::string& value) {
    return names(read(R"({"experiments": [{"requests": [{"timestamp": 1, "response_timestamps": [2]}], )"
                      R"("experiment": {"mode": "m", "value": )" +
                      value + "}}]}"));
  };
  EXPECT_THAT(named("2"), ElementsAre("m 2"));
  EXPECT_THAT(named("null"), ElementsAre("m null"));
  constexpr std::size_t deep = 200'000;  // in a recursion, more than a stack has
  EXPECT_THAT(named(std::string(deep, '[') + std::string(deep, ']')), ElementsAre("m"));
}

TEST(TimesFile, AResponseFromBeforeItsRequestIsRefused) {
  const auto of = [](const std::string& request) {
    return refusal(R"({"experiments": [{"requests": [)" + request + "]}]}");
  };
  EXPECT_THAT(of(R"({"timestamp": 30, "response_timestamps": [29]})"), HasSubstr("from before its request"));
  EXPECT_THAT(of(R"({"timestamp": 30, "response_timestamps": [40, 39]})"), HasSubstr("from before its request"));
  EXPECT_THAT(of(R"({"timestamp": -1, "response_timestamps": [39]})"), HasSubstr("not a whole number of nanoseconds"));
  EXPECT_THAT(of(R"({"timestamp": 1, "response_timestamps": [18446744073709551615]})"),
              HasSubstr("not a whole number"));
  EXPECT_THAT(of(R"({"timestamp": 1.5, "response_timestamps": [2]})"), HasSubstr("not a whole number of nanoseconds"));
}

// Written by AIPerf 0.13.0: one request of warm-up and eight after it, one at a time.
TEST(TimesFile, AIPerfsWarmUpIsLeftOut) {
  const TimesFile file = read(fixture("aiperf-0.13.0/one.jsonl"));
  ASSERT_THAT(names(file), ElementsAre(""));
  const auto& requests = file.benchmarks[0].requests;
  ASSERT_EQ(requests.size(), 8U);
  EXPECT_EQ(most_in_flight(requests), 1);
  for (const TimedRequest& request : requests) {
    EXPECT_EQ(request.output_tokens, 8U);
    EXPECT_EQ(request.moments_ns.size(), 8U);
    EXPECT_TRUE(std::ranges::is_sorted(request.moments_ns));
    EXPECT_GE(request.moments_ns.front() - request.begin_ns, 20'000'000) << "the server's first token is not earlier";
  }
  EXPECT_EQ(most_in_flight(read(fixture("aiperf-0.13.0/many.jsonl")).benchmarks[0].requests), 3);
}

TEST(TimesFile, AIPerfsStatisticsAreNoTimes) {
  EXPECT_THAT(refusal(fixture("aiperf-0.13.0/one.json")), HasSubstr("import profile_export.jsonl"));
}

TEST(TimesFile, AIPerfsRecordsThatAreWrongNameTheirLine) {
  const std::string good = fixture("aiperf-0.13.0/one.jsonl");
  const std::size_t third = good.find('\n', good.find('\n') + 1) + 1;
  EXPECT_THAT(refusal(good.substr(0, third + 200)), HasSubstr("line 3 ends early, or is not JSON"));
  const std::string head = good.substr(0, third);
  const auto with = [&](std::string line) { return refusal(head + line + "\n"); };
  EXPECT_THAT(with("[]"), HasSubstr("line 3: it contains a time that is not a whole number"));
  const std::string about = R"({"metadata": {"request_start_ns": 5, "request_end_ns": 9}, "metrics": )";
  EXPECT_THAT(with(about + "{}}"), HasSubstr("line 3: it contains a request without its latency in ms"));
  EXPECT_THAT(with(about + R"({"request_latency": {"value": 1, "unit": "sec"}}})"), HasSubstr("without its latency"));
  EXPECT_THAT(with(about + R"({"request_latency": {"value": -1, "unit": "ms"}}})"), HasSubstr("without its latency"));
  EXPECT_EQ(with(about + R"({"request_latency": {"value": 1, "unit": "ms"}}})"), "");
  const std::string gaps = about + R"({"request_latency": {"value": 9, "unit": "ms"}, "time_to_first_token":
    {"value": 2, "unit": "ms"}, "inter_chunk_latency": {"unit": "ms", "value": [1, )";
  const auto pieces = [&](std::string rest) {
    std::ranges::replace(rest, '\n', ' ');
    return read(head + rest + "\n").benchmarks[0].requests.front().moments_ns;
  };
  EXPECT_THAT(pieces(gaps + "2]}}}"), ElementsAre(2'000'005, 3'000'005, 5'000'005));
  EXPECT_THAT(pieces(gaps + "8]}}}"), ElementsAre(2'000'005)) << "beyond the request's end";
  EXPECT_THAT(pieces(gaps + "1e9, 1e9]}}}"), ElementsAre(2'000'005));
  EXPECT_THAT(pieces(gaps + "-1]}}}"), ElementsAre(2'000'005));
}

TEST(TimesFile, AIPerfsRequestsThatFailedAreTold) {
  std::string text = fixture("aiperf-0.13.0/one.jsonl");
  const std::string failure = R"("error":{"type":"Timeout","message":"late"},"metrics")";
  for (const std::size_t at : {text.rfind("\"metrics\"")}) text.replace(at, 9, failure);
  EXPECT_EQ(read(text).note, "1 request failed");
  std::string all = fixture("aiperf-0.13.0/one.jsonl");
  for (std::size_t at = all.find("\"metrics\""); at != std::string::npos; at = all.find("\"metrics\"", at + 60))
    all.replace(at, 9, failure);
  EXPECT_THAT(refusal(all), HasSubstr("every request of it failed"));
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
  EXPECT_EQ(refusal(whole.substr(0, whole.size() / 2)), "hyperfine's JSON: it ends early, or is not JSON");
  for (const char* time : {"-1", "null", "\"1\"", "1e999"}) {
    const std::string text = std::string(R"({"results": [{"command": "a", "times": [)") + time + "]}]}";
    EXPECT_THAT(refusal(text), testing::AnyOf(HasSubstr("negative or no number"), HasSubstr("not JSON"))) << time;
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
