#include "infermeter/profile/read/imported_profile.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "infermeter/profile/read/fixture_file.hpp"

namespace infermeter::imported_profile_test {
namespace {

using testing::DoubleNear;
using testing::Each;
using testing::HasSubstr;
using testing::Pointwise;

using Format = ProfileFormat;

constexpr std::string_view kOperatorsFile =
    R"({"format":"infermeter-operators","version":1,"clock":"iteration","iterations":2,)"
    R"("operators":[{"name":"a","kind":"Conv"},{"name":"b","kind":"Relu"}],)"
    R"("events":{"iteration":[0,0,1,1],"op":[0,1,0,1],"thread":[0,0,0,0],"begin_ns":[10,60,5,40],)"
    R"("duration_ns":[50,30,20,45]}})";
constexpr std::string_view kMeansFile =
    R"({"format":"infermeter-operators","version":1,"operators":[{"name":"a"},{"name":"b"}],)"
    R"("means":{"duration_ns":[2000,1000],"calls":[1,1]}})";

// As benchmark_app in C++ writes it, with its separator at the end of every line.
constexpr std::string_view kCounters =
    "layerName;execStatus;layerType;execType;realTime (ms);cpuTime (ms);\n"
    "conv1;EXECUTED;Convolution;brgconv_avx512_f32;0.400000;0.400000;\n"
    "folded;OPTIMIZED_OUT;Constant;undef;0.000000;0.000000;\n"
    "a;b;c;EXECUTED;Reorder;jit_uni_f16;0.100000;0.100000;\n"
    "Total;;;;0.5;0.5;\n"
    "\n"
    "layerName;execStatus;layerType;execType;realTime (ms);cpuTime (ms);\n"
    "conv1;EXECUTED;Convolution;brgconv_avx512_f32;0.600000;0.600000;\n"
    "folded;OPTIMIZED_OUT;Constant;undef;0.000000;0.000000;\n"
    "a;b;c;EXECUTED;Reorder;jit_uni_f16;0.300000;0.300000;\n"
    "Total;;;;0.9;0.9;\n"
    "\n";
// As the Python one writes it.
constexpr std::string_view kCountersJson = R"({"report_type": "detailed", "detailed_performance": [
    {"nodes": [{"name": "conv1", "node_type": "Convolution", "status": "Status.EXECUTED", "real_time": "0.400",
                "cpu_time": "0.400", "exec_type": "brgconv_avx512_f32"},
               {"name": "out", "node_type": "Result", "status": "Status.NOT_RUN", "real_time": "0.000",
                "cpu_time": "0.000", "exec_type": "unknown_f32"}],
     "total_real_time": "0.400", "total_cpu_time": "0.400"},
    {"nodes": [{"name": "conv1", "node_type": "Convolution", "status": "Status.EXECUTED", "real_time": 0.8,
                "cpu_time": 0.8, "exec_type": "brgconv_avx512_f32"}], "total_real_time": "0.800"}]})";

constexpr std::string_view kPerf =
    "# captured by perf\n"
    "cafe  6532 4567.123456:    2004008 cpu-clock:u: \n"
    "\t          401136 main+0x10 (/tmp/cafe)\n"
    "\n";
constexpr std::string_view kCollapsed = "main;work;multiply (a.cpp:12) 12\nmain;other 1\n";

std::string torch(std::string_view replaced_by) {
  std::string text = test::fixture("torch_small.json");
  constexpr std::string_view name = "infermeter_iteration";
  int step = 0;
  for (std::size_t at = text.find(name); at != std::string::npos; at = text.find(name, at + replaced_by.size())) {
    text.replace(at, name.size(),
                 std::string(replaced_by) + (replaced_by.ends_with('#') ? std::to_string(++step) : ""));
  }
  return text;
}

double seconds_of(const SelfTimedProfile& profile, std::size_t iteration) {
  return profile.end_s.at(iteration) - profile.begin_s.at(iteration);
}

// ---- What it is ----

TEST(ImportedProfile, IsKnownByWhatIsInIt) {
  EXPECT_EQ(format_of_profile(test::fixture("onnxruntime_mlp.json")), Format::onnxruntime);
  EXPECT_EQ(format_of_profile(test::fixture("torch_small.json")), Format::torch);
  EXPECT_EQ(format_of_profile(kCounters), Format::openvino_csv);
  EXPECT_EQ(format_of_profile(kCountersJson), Format::openvino_json);
  EXPECT_EQ(format_of_profile(kOperatorsFile), Format::operators);
  EXPECT_EQ(format_of_profile(kPerf), Format::perf_script);
  EXPECT_EQ(format_of_profile(kCollapsed), Format::collapsed);
  EXPECT_EQ(format_of_profile("[unknown];[libx.so] 3\n"), Format::collapsed);
  EXPECT_EQ(format_of_profile(R"({"a":{"traceEvents":[]},"b":"\"traceEvents\":"})"), std::nullopt);
  for (const std::string_view other : {"", " \n", "hello\n", "{}", "[1]", "PERFILE2\x01", "\x89PNG\r\n", "a,b\n1,2\n"})
    EXPECT_EQ(format_of_profile(other), std::nullopt) << other;
}

TEST(ImportedProfile, SaysWhatElseItIs) {
  const auto why = [](std::string_view bytes) { return import_profile(bytes, nullptr).error().message; };
  EXPECT_THAT(why("PERFILE2\x01"), HasSubstr("perf script -i"));
  EXPECT_THAT(why("layerName,execStatus\n"), HasSubstr("average_counters"));
  EXPECT_THAT(why(""), HasSubstr("empty"));
  EXPECT_THAT(why("hello\n"), HasSubstr("not a profile that can be read"));
}

// ---- ONNX Runtime ----

TEST(ImportedProfile, TakesEveryInferenceOfOnnxRuntime) {
  const auto profile = import_onnxruntime_profile(test::fixture("onnxruntime_mlp.json"), nullptr);
  ASSERT_TRUE(profile.ok()) << profile.error().message;
  const std::size_t runs = profile->begin_s.size();
  ASSERT_GT(runs, 3U);
  EXPECT_EQ(profile->operators.operators.size(), 3U);
  EXPECT_EQ(profile->begin_s.front(), 0);
  // Each operator lies in its own inference, where the file has it.
  for (std::size_t i = 0; i < profile->operators.iteration.size(); ++i) {
    const std::size_t run = profile->operators.iteration[i];
    EXPECT_GE(profile->operators.begin_s[i], 0);
    EXPECT_LE(profile->operators.begin_s[i] + profile->operators.duration_s[i], seconds_of(*profile, run) + 2e-6);
  }
  EXPECT_EQ(profile->operators.iteration.back(), runs - 1);
  EXPECT_THAT(profile->operators.sources.at(0).detail, HasSubstr("the first ones too"));
}

TEST(ImportedProfile, RefusesInferencesThatOverlap) {
  const auto profile = import_onnxruntime_profile(
      R"([{"cat":"Session","ph":"X","name":"model_run","tid":1,"ts":0,"dur":100,"args":{}},
{"cat":"Session","ph":"X","name":"model_run","tid":2,"ts":50,"dur":100,"args":{}},
{"cat":"Node","ph":"X","name":"a_kernel_time","tid":1,"ts":60,"dur":10,"args":{"op_name":"Relu"}}])",
      nullptr);
  ASSERT_FALSE(profile.ok());
  EXPECT_THAT(profile.error().message, HasSubstr("overlap"));
}

// ---- torch ----

TEST(ImportedProfile, TakesTheIterationsThatATraceMarks) {
  const auto ours = import_torch_trace(torch("infermeter_iteration"));
  const auto steps = import_torch_trace(torch("ProfilerStep#"));
  ASSERT_TRUE(ours.ok() && steps.ok());
  ASSERT_GT(ours->begin_s.size(), 1U);
  EXPECT_EQ(steps->begin_s, ours->begin_s);
  EXPECT_EQ(steps->operators.duration_s, ours->operators.duration_s);
  EXPECT_THAT(ours->operators.sources.at(0).detail, HasSubstr("infermeter_iteration"));
  EXPECT_THAT(steps->operators.sources.at(0).detail, HasSubstr("ProfilerStep#"));
}

TEST(ImportedProfile, TakesAllOfATraceThatMarksNothing) {
  const auto profile = import_torch_trace(torch("something"));
  ASSERT_TRUE(profile.ok()) << profile.error().message;
  ASSERT_EQ(profile->begin_s.size(), 1U);
  EXPECT_THAT(profile->operators.iteration, Each(0U));
  EXPECT_THAT(profile->operators.sources.at(0).detail, HasSubstr("all of it counts as one"));
  const auto marked = import_torch_trace(torch("infermeter_iteration"));
  EXPECT_EQ(profile->operators.duration_s.size(), marked->operators.duration_s.size());
}

TEST(ImportedProfile, SaysThatKernelsOfAGpuAreLeftOut) {
  std::string text = test::fixture("torch_small.json");
  text.insert(text.find('{', text.find("traceEvents")),
              R"({"ph":"X","cat":"kernel","name":"k","ts":1,"dur":1,"tid":7},)");
  const auto profile = import_torch_trace(text);
  ASSERT_TRUE(profile.ok());
  EXPECT_THAT(profile->operators.sources.at(0).detail, HasSubstr("1 kernels of a GPU are left out"));
}

// ---- operators.json ----

TEST(ImportedProfile, AnIterationIsAsLongAsItsOperatorsSay) {
  const auto profile = import_operators(kOperatorsFile);
  ASSERT_TRUE(profile.ok()) << profile.error().message;
  ASSERT_EQ(profile->begin_s.size(), 2U);
  EXPECT_NEAR(seconds_of(*profile, 0), 90e-9, 1e-12);
  EXPECT_NEAR(seconds_of(*profile, 1), 85e-9, 1e-12);
  EXPECT_THAT(profile->operators.begin_s, Pointwise(DoubleNear(1e-15), std::vector<double>{10e-9, 60e-9, 5e-9, 40e-9}));
}

TEST(ImportedProfile, AClockOfItsOwnIsFollowed) {
  std::string text(kOperatorsFile);
  text.replace(text.find("\"iteration\""), 11, "\"realtime\"");
  text.replace(text.find("[10,60,5,40]"), 12,
               "[1795329021848271003,1795329021848271053,1795329021849000000,1795329021849000030]");
  const auto profile = import_operators(text);
  ASSERT_TRUE(profile.ok()) << profile.error().message;
  EXPECT_NEAR(seconds_of(*profile, 0), 80e-9, 1e-12);
  EXPECT_NEAR(profile->begin_s.at(1), 728997e-9, 1e-12);
  EXPECT_THAT(profile->operators.begin_s, Pointwise(DoubleNear(1e-15), std::vector<double>{0.0, 50e-9, 0.0, 30e-9}));
}

TEST(ImportedProfile, MeansStayMeans) {
  const auto profile = import_operators(kMeansFile);
  ASSERT_TRUE(profile.ok()) << profile.error().message;
  EXPECT_FALSE(profile->operators.has_events());
  EXPECT_NEAR(seconds_of(*profile, 0), 3e-6, 1e-15);
}

TEST(ImportedProfile, ManyIterationsAreRefusedBeforeTheyTakeMemory) {
  std::string text(kOperatorsFile);
  text.replace(text.find("\"iterations\":2"), 14, "\"iterations\":4294967295");
  const auto profile = import_operators(text);
  ASSERT_FALSE(profile.ok());
  EXPECT_THAT(profile.error().message, HasSubstr("iterations"));
}

// ---- OpenVINO ----

void expect_counters(const Result<SelfTimedProfile>& profile, double conv_s) {
  ASSERT_TRUE(profile.ok()) << profile.error().message;
  const OperatorProfile& operators = profile->operators;
  EXPECT_FALSE(operators.has_events());
  EXPECT_EQ(operators.operators.at(0).name, "conv1");
  EXPECT_EQ(operators.operators.at(0).kind, "Convolution");
  EXPECT_EQ(operators.operators.at(0).kernel, "brgconv_avx512_f32");
  EXPECT_EQ(operators.operators.at(0).precision, "float32");
  EXPECT_NEAR(operators.mean_s.at(0), conv_s, 1e-12);
  EXPECT_EQ(profile->begin_s.size(), 1U);
  EXPECT_NEAR(seconds_of(*profile, 0), std::accumulate(operators.mean_s.begin(), operators.mean_s.end(), 0.0), 1e-15);
}

TEST(ImportedProfile, CountersAreMeansOverRequests) {
  const auto profile = import_openvino_csv(kCounters);
  expect_counters(profile, 0.5e-3);
  ASSERT_EQ(profile->operators.operators.size(), 2U);
  EXPECT_EQ(profile->operators.operators[1].name, "a;b;c");  // a name may hold the separator
  EXPECT_EQ(profile->operators.operators[1].precision, "float16");
  EXPECT_NEAR(profile->operators.mean_s[1], 0.2e-3, 1e-12);
  EXPECT_FALSE(profile->operators.cut);
}

TEST(ImportedProfile, CountersOfThePythonProgram) {
  std::string text(kCounters);
  for (std::size_t at = text.find(";\n"); at != std::string::npos; at = text.find(";\n")) text.erase(at, 1);
  for (std::size_t at = 0; (at = text.find(";EXECUTED", at)) != std::string::npos; at += 9)
    text.insert(at + 1, "Status.");
  expect_counters(import_openvino_csv(text), 0.5e-3);
  expect_counters(import_openvino_json(kCountersJson), 0.6e-3);
}

TEST(ImportedProfile, OperatorsOfOneNameAreTwo) {
  std::string text(kCounters.substr(0, kCounters.find("layerName", 1)));
  text.insert(text.find("Total"), "conv1;EXECUTED;Convolution;brgconv_avx512_f32;0.200000;0.200000;\n");
  const auto profile = import_openvino_csv(text);
  ASSERT_TRUE(profile.ok());
  EXPECT_THAT(profile->operators.mean_s, Pointwise(DoubleNear(1e-12), std::vector<double>{0.4e-3, 0.1e-3, 0.2e-3}));
}

TEST(ImportedProfile, ARequestThatIsCutIsLeftOutUnlessItIsTheOnlyOne) {
  const auto two = import_openvino_csv(kCounters.substr(0, kCounters.size() - 30));
  expect_counters(two, 0.4e-3);
  EXPECT_TRUE(two->operators.cut);
  const auto one = import_openvino_csv(kCounters.substr(0, kCounters.find("folded")));
  expect_counters(one, 0.4e-3);
  EXPECT_TRUE(one->operators.cut);
  const auto json = import_openvino_json(kCountersJson.substr(0, kCountersJson.rfind("\"cpu_time\"")));
  expect_counters(json, 0.4e-3);
  EXPECT_TRUE(json->operators.cut);
}

TEST(ImportedProfile, ALineWithoutATimeIsNamed) {
  std::string text(kCounters);
  text.replace(text.find("0.400000"), 8, "fast");
  const auto profile = import_openvino_csv(text);
  ASSERT_FALSE(profile.ok());
  EXPECT_THAT(profile.error().message, HasSubstr("line 2"));
  for (const std::string bad : {"-1", "1e400", "nan", "inf", ""}) {
    std::string other(kCounters);
    other.replace(other.find("0.400000"), 8, bad);
    EXPECT_FALSE(import_openvino_csv(other).ok()) << bad;
  }
}

TEST(ImportedProfile, TablesWithoutEndTakeTimeOnceOnly) {
  std::string text;
  for (int i = 0; i < 20'000; ++i) text += "{\"nodes\":[";
  EXPECT_FALSE(import_openvino_json(text).ok());
  text.clear();
  for (int i = 0; i < 20'000; ++i) text += "layerName;execStatus;layerType;execType;realTime (ms);\n";
  EXPECT_FALSE(import_openvino_csv(text).ok());
}

// ---- Damage: whatever the bytes, a profile that holds together, or one sentence ----

void read(std::string_view bytes) {
  const auto profile = import_profile(bytes, nullptr);
  if (!profile.ok()) {
    ASSERT_FALSE(profile.error().message.empty());
    ASSERT_EQ(profile.error().message.find('\n'), std::string::npos);
    return;
  }
  ASSERT_NE(profile->timed.has_value(), profile->stacks.has_value());
  if (!profile->timed) return;
  const SelfTimedProfile& timed = *profile->timed;
  const OperatorProfile& operators = timed.operators;
  ASSERT_EQ(timed.begin_s.size(), timed.end_s.size());
  ASSERT_FALSE(timed.begin_s.empty());
  ASSERT_FALSE(operators.operators.empty());
  for (std::size_t i = 0; i < timed.begin_s.size(); ++i) {
    ASSERT_TRUE(std::isfinite(timed.begin_s[i]) && std::isfinite(timed.end_s[i]));
    ASSERT_LE(timed.begin_s[i], timed.end_s[i]);
  }
  for (const std::uint32_t iteration : operators.iteration) ASSERT_LT(iteration, timed.begin_s.size());
  for (const std::uint32_t op : operators.op) ASSERT_LT(op, operators.operators.size());
  for (const double mean : operators.mean_s) ASSERT_TRUE(std::isfinite(mean) && mean >= 0);
  if (!operators.has_events()) {
    ASSERT_EQ(operators.mean_s.size(), operators.operators.size());
  }
}

std::string damaged(std::string bytes, std::mt19937& random) {
  const auto below = [&](std::size_t limit) { return random() % limit; };
  static const std::vector<std::string> pieces = {"\n",
                                                  ";",
                                                  "{",
                                                  "}",
                                                  "[",
                                                  "]",
                                                  "\"",
                                                  ",",
                                                  ":",
                                                  "-",
                                                  "\xff",
                                                  "99999999999999999999",
                                                  "1e400",
                                                  "Total;;;;",
                                                  "null",
                                                  "layerName;execStatus;layerType;execType;realTime (ms);\n",
                                                  "\"nodes\":[",
                                                  "model_run",
                                                  "ProfilerStep#"};
  for (std::size_t changes = 1 + below(4); changes > 0 && !bytes.empty(); --changes) {
    const std::size_t at = below(bytes.size());
    switch (below(4)) {
      case 0: bytes[at] = static_cast<char>(below(256)); break;
      case 1: bytes.insert(at, pieces[below(pieces.size())]); break;
      case 2: bytes.erase(at, 1 + below(20)); break;
      default: bytes.insert(at, bytes.substr(below(bytes.size()), below(200))); break;
    }
  }
  return bytes;
}

TEST(ImportedProfile, AnyDamageIsReadOrRefused) {
  const std::pair<std::string, int> inputs[] = {
      {std::string(kCounters), 600},           {std::string(kCountersJson), 400},
      {std::string(kOperatorsFile), 600},      {std::string(kMeansFile), 200},
      {test::fixture("torch_small.json"), 30}, {test::fixture("onnxruntime_mlp.json"), 30}};
  std::mt19937 random(9);
  for (const auto& [whole, rounds] : inputs) {
    const std::size_t step = std::max<std::size_t>(1, whole.size() / 300);
    for (std::size_t size = 0; size < whole.size(); size += step) read(std::string_view(whole).substr(0, size));
    for (int round = 0; round < rounds; ++round) read(damaged(whole, random));
  }
}

}  // namespace
}  // namespace infermeter::imported_profile_test
