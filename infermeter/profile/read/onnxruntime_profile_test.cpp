#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "infermeter/profile/read/fixture_file.hpp"
#include "infermeter/profile/read/imported_profile.hpp"
#include "infermeter/profile/read/profile_files.hpp"

namespace infermeter::onnxruntime_profile_test {
namespace {

using test::fixture;
using testing::DoubleNear;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::Pointwise;

constexpr double nanosecond = 1e-9;

// Fixtures: the zoo's mlp, ONNX Runtime 1.31.1; a first inference, one of warm-up, and these three, as they were timed
// around the call.
constexpr std::int64_t mlp_start_ns = 1795329021848271003;
Samples mlp_trial() {
  Samples trial;
  trial.begin_s = {0, 25.872e-6, 51.707e-6};
  trial.end_s = {25.428e-6, 51.405e-6, 80.012e-6};
  trial.clock.origin_monotonic_ns = 3069944539330;
  trial.clock.realtime_ahead_ns = 1795325951932642971;
  trial.clock.realtime_slip_ns = 12;
  return trial;
}

std::vector<std::string> names_of(const OperatorProfile& profile) {
  std::vector<std::string> names;
  for (const ProfiledOperator& op : profile.operators) names.push_back(op.name);
  return names;
}

GraphTensor tensor(std::string name, std::vector<std::int64_t> shape, bool is_constant) {
  return {.name = std::move(name), .dtype = "float32", .shape = std::move(shape), .is_constant = is_constant};
}

// What ONNX Runtime wrote as optimized.onnx of it; shapes of intermediate tensors are not in there.
ModelGraph mlp_graph() {
  GraphTensor between{.name = "relu1", .dtype = "float32", .shape = {}};
  ModelGraph graph;
  graph.tensors = {tensor("input", {1, 16}, false),      tensor("fc1.weight", {64, 16}, true),
                   tensor("fc1.bias", {64}, true),       between,
                   tensor("fc2.weight", {32, 64}, true), tensor("fc2.bias", {32}, true),
                   tensor("relu2", {1, 32}, false),      tensor("fc3.weight", {10, 32}, true),
                   tensor("fc3.bias", {10}, true),       tensor("output", {1, 10}, false)};
  graph.nodes = {{"fused fc1", "com.microsoft.FusedGemm", {0, 1, 2}, {3}, {}},
                 {"fused fc2", "com.microsoft.FusedGemm", {3, 4, 5}, {6}, {}},
                 {"fc3", "Gemm", {6, 7, 8}, {9}, {}}};
  return graph;
}

OperatorProfile must(Result<OperatorProfile> profile) {
  EXPECT_TRUE(profile.ok()) << profile.error().message;
  return profile.ok() ? std::move(profile).value() : OperatorProfile{};
}

TEST(OnnxRuntimeProfile, PlacesARealOneByTheClocks) {
  const OperatorProfile profile =
      must(parse_onnxruntime_profile(fixture("onnxruntime_mlp.json"), nullptr, mlp_trial(), mlp_start_ns));
  EXPECT_THAT(names_of(profile), ElementsAre("fused fc1", "fused fc2", "fc3"));
  EXPECT_THAT(profile.iteration, ElementsAre(0, 0, 0, 1, 1, 1, 2, 2, 2));
  EXPECT_THAT(profile.op, ElementsAre(0, 1, 2, 0, 1, 2, 0, 1, 2));
  EXPECT_THAT(profile.thread, Each(0));
  // The file says 28916 µs; the iteration began 28911.298 µs after the session began to profile.
  EXPECT_THAT(profile.begin_s, Pointwise(DoubleNear(nanosecond), {4.702e-6, 10.702e-6, 15.702e-6, 4.830e-6, 11.830e-6,
                                                                  17.830e-6, 4.995e-6, 10.995e-6, 18.995e-6}));
  EXPECT_THAT(profile.duration_s,
              Pointwise(DoubleNear(nanosecond), {2e-6, 2e-6, 4e-6, 2e-6, 2e-6, 2e-6, 2e-6, 3e-6, 2e-6}));
  EXPECT_FALSE(profile.cut);
  ASSERT_EQ(profile.sources.size(), 1U);
  EXPECT_TRUE(profile.sources[0].available);
  EXPECT_THAT(profile.sources[0].detail, Not(HasSubstr("middle")));
}

TEST(OnnxRuntimeProfile, TellsOperatorsWithoutAGraph) {
  const OperatorProfile profile =
      must(parse_onnxruntime_profile(fixture("onnxruntime_mlp.json"), nullptr, mlp_trial(), mlp_start_ns));
  ASSERT_EQ(profile.operators.size(), 3U);
  const ProfiledOperator& op = profile.operators[0];
  EXPECT_EQ(op.kind, "FusedGemm");
  EXPECT_EQ(op.precision, "float32");
  EXPECT_EQ(op.provider, "CPUExecutionProvider");
  EXPECT_EQ(op.shapes, "(1, 16), (64,) -> (1, 64)");  // the weights were packed
  EXPECT_EQ(op.activation_bytes, 64U);
  EXPECT_EQ(op.parameter_bytes, 256U);
  EXPECT_EQ(op.output_bytes, 256U);
  EXPECT_EQ(op.arena_in_use_bytes, 14888U);
  EXPECT_EQ(op.arena_peak_bytes, 15144U);  // the highest of all inferences, the first one included
  EXPECT_TRUE(op.layout.empty() && op.inputs.empty() && op.outputs.empty());
}

// Of an operator with such a name and such inputs.
std::string precision_of(std::string_view kind, std::string_view inputs) {
  const std::string node =
      R"({"cat":"Node","pid":1,"tid":1,"ph":"X","dur":5,"ts":1,"name":"a_kernel_time","args":{"op_name":")" +
      std::string(kind) + R"(","provider":"CPUExecutionProvider","node_index":"0","input_type_shape":[)" +
      std::string(inputs) + R"(],"output_type_shape":[{"float":[2]}]}})";
  const std::string run = R"({"cat":"Session","pid":1,"tid":1,"ph":"X","dur":9,"ts":0,"name":"model_run","args":{}})";
  const auto profile = import_onnxruntime_profile('[' + run + ',' + node + ']', nullptr);
  EXPECT_TRUE(profile.ok());
  return profile.ok() ? profile->operators.operators.at(0).precision : "";
}

TEST(OnnxRuntimeProfile, ThePrecisionIsWhatAnOperatorComputesIn) {
  EXPECT_EQ(precision_of("Gemm", R"({"float16":[2]},{"float":[2]})"), "float16");
  EXPECT_EQ(precision_of("Where", R"({"bool":[2]},{"float":[2]},{"float":[2]})"), "float32");
  EXPECT_EQ(precision_of("EmbedLayerNormalization", R"({"int32":[2]},{"int32":[2]},{"float16":[2]})"), "float16");
  EXPECT_EQ(precision_of("DynamicQuantizeMatMul", R"({"float":[2]},{"int8":[2]})"), "int8");
  EXPECT_EQ(precision_of("QLinearConv", R"({"uint8":[2]},{"float":[]})"), "uint8");
  EXPECT_EQ(precision_of("Cast", R"({"int64":[2]})"), "float32");
}

TEST(OnnxRuntimeProfile, TakesFromTheGraphWhatTheProfileLacks) {
  const ModelGraph graph = mlp_graph();
  const OperatorProfile profile =
      must(parse_onnxruntime_profile(fixture("onnxruntime_mlp.json"), &graph, mlp_trial(), mlp_start_ns));
  ASSERT_EQ(profile.operators.size(), 3U);
  EXPECT_EQ(profile.operators[0].kind, "FusedGemm");
  EXPECT_EQ(profile.operators[0].shapes, "(1, 16), (64, 16), (64,) -> (1, 64)");
  EXPECT_EQ(profile.operators[0].parameter_bytes, 4U * (64 * 16 + 64));
  EXPECT_THAT(profile.operators[0].inputs, ElementsAre("input", "fc1.weight", "fc1.bias"));
  EXPECT_THAT(profile.operators[0].outputs, ElementsAre("relu1"));
  EXPECT_EQ(profile.operators[1].shapes, "(1, 64), (32, 64), (32,) -> (1, 32)");
  EXPECT_EQ(profile.operators[2].shapes, "(1, 32), (10, 32), (10,) -> (1, 10)");
}

TEST(OnnxRuntimeProfile, FindsNodesWithoutNamesByKindAndOrder) {
  ModelGraph graph = mlp_graph();
  for (std::size_t i = 0; i < 3; ++i) graph.nodes[i].name = fmt::format("{}#{}", graph.nodes[i].kind, i);
  graph.nodes[2].kind = "com.microsoft.nchwc.Gemm";
  const OperatorProfile profile =
      must(parse_onnxruntime_profile(fixture("onnxruntime_mlp.json"), &graph, mlp_trial(), mlp_start_ns));
  ASSERT_EQ(profile.operators.size(), 3U);
  EXPECT_THAT(profile.operators[0].outputs, ElementsAre("relu1"));
  EXPECT_THAT(profile.operators[1].outputs, ElementsAre("relu2"));
  EXPECT_EQ(profile.operators[2].kind, "Gemm");
  EXPECT_EQ(profile.operators[2].layout, "NCHWc");
  // One node more of a kind, and order shows nothing.
  graph.nodes.push_back({"another", "com.microsoft.FusedGemm", {}, {}, {}});
  const OperatorProfile other =
      must(parse_onnxruntime_profile(fixture("onnxruntime_mlp.json"), &graph, mlp_trial(), mlp_start_ns));
  EXPECT_TRUE(other.operators[0].outputs.empty());
  EXPECT_FALSE(other.operators[2].outputs.empty());
}

TEST(OnnxRuntimeProfile, PutsTheLastInferencesIntoTheMiddleWithoutAClock) {
  const OperatorProfile profile =
      must(parse_onnxruntime_profile(fixture("onnxruntime_mlp.json"), nullptr, mlp_trial()));
  EXPECT_THAT(profile.iteration, ElementsAre(0, 0, 0, 1, 1, 1, 2, 2, 2));
  // 17 µs of 25.428, and the first operator begins 1 µs after the inference.
  EXPECT_NEAR(profile.begin_s[0], (25.428e-6 - 17e-6) / 2 + 1e-6, nanosecond);
  EXPECT_NEAR(profile.begin_s[6], (28.305e-6 - 21e-6) / 2, nanosecond);
  EXPECT_THAT(profile.sources[0].detail, HasSubstr("middle"));
}

TEST(OnnxRuntimeProfile, DoesNotJoinClocksThatSlipped) {
  Samples trial = mlp_trial();
  for (const std::int64_t slip : {50'001, -50'001}) {
    trial.clock.realtime_slip_ns = slip;
    const auto profile = must(parse_onnxruntime_profile(fixture("onnxruntime_mlp.json"), nullptr, trial, mlp_start_ns));
    EXPECT_NEAR(profile.begin_s[0], (25.428e-6 - 17e-6) / 2 + 1e-6, nanosecond);
    EXPECT_THAT(profile.sources[0].detail, HasSubstr("middle"));
  }
  trial.clock.realtime_slip_ns.reset();
  EXPECT_THAT(
      must(parse_onnxruntime_profile(fixture("onnxruntime_mlp.json"), nullptr, trial, mlp_start_ns)).sources[0].detail,
      HasSubstr("middle"));
}

TEST(OnnxRuntimeProfile, TellsIterationsByTheClockWhereMoreWereRecorded) {
  Samples trial = mlp_trial();
  trial.begin_s.pop_back();
  trial.end_s.pop_back();
  const auto profile = must(parse_onnxruntime_profile(fixture("onnxruntime_mlp.json"), nullptr, trial, mlp_start_ns));
  EXPECT_THAT(profile.iteration, ElementsAre(0, 0, 0, 1, 1, 1));
  EXPECT_NEAR(profile.duration_s[2], 4e-6, nanosecond);  // fc3: 4, 2 and 2 µs
  const auto last_two = must(parse_onnxruntime_profile(fixture("onnxruntime_mlp.json"), nullptr, trial));
  EXPECT_NEAR(last_two.duration_s[2], 2e-6, nanosecond);
}

TEST(OnnxRuntimeProfile, FallsBackToTheLastOnesIfTheClockIsAnother) {
  const auto profile = must(
      parse_onnxruntime_profile(fixture("onnxruntime_mlp.json"), nullptr, mlp_trial(), mlp_start_ns + 1'000'000'000));
  EXPECT_THAT(profile.iteration, ElementsAre(0, 0, 0, 1, 1, 1, 2, 2, 2));
  EXPECT_NEAR(profile.begin_s[0], (25.428e-6 - 17e-6) / 2 + 1e-6, nanosecond);
}

TEST(OnnxRuntimeProfile, TakesTheThreadWithTheWorkAsTheMainOne) {
  Samples trial;
  trial.begin_s = {0, 32.125e-3, 56.099e-3};
  trial.end_s = {32.118e-3, 56.092e-3, 80.090e-3};
  const auto profile = must(parse_onnxruntime_profile(fixture("onnxruntime_mlp_parallel.json"), nullptr, trial));
  EXPECT_EQ(profile.iteration.size(), 9U);
  EXPECT_THAT(profile.thread, Each(0));
}

std::string node(std::string_view name, std::int64_t ts, std::int64_t dur, int tid = 1, int index = 0) {
  return fmt::format(
      R"({{"cat":"Node","pid":1,"tid":{},"dur":{},"ts":{},"ph":"X","name":"{}_kernel_time","args":{{"op_name":"Conv","node_index":"{}"}}}},)"
      "\n",
      tid, dur, ts, name, index);
}
std::string model_run(std::int64_t ts, std::int64_t dur) {
  return fmt::format(R"({{"cat":"Session","pid":1,"tid":1,"dur":{},"ts":{},"ph":"X","name":"model_run","args":{{}}}},)"
                     "\n",
                     dur, ts);
}
Samples timed(std::vector<double> begin_s, std::vector<double> end_s) {
  Samples trial;
  trial.begin_s = std::move(begin_s);
  trial.end_s = std::move(end_s);
  return trial;
}

TEST(OnnxRuntimeProfile, NumbersThreadsAndOrdersTheirOperatorsByTheGraph) {
  const std::string json = "[\n" + node("b", 0, 3, 9, 2) + node("a", 1, 8, 1, 1) + model_run(0, 10) + "]";
  const auto profile = must(parse_onnxruntime_profile(json, nullptr, timed({0}, {10e-6})));
  EXPECT_THAT(names_of(profile), ElementsAre("a", "b"));
  EXPECT_THAT(profile.op, ElementsAre(1, 0));
  EXPECT_THAT(profile.thread, ElementsAre(1, 0));
}

TEST(OnnxRuntimeProfile, TellsNodesOfOneNameInTwoGraphsApart) {
  const std::string json =
      "[" + node("same", 0, 3, 1, 0) + node("same", 4, 3, 1, 7) + node("same", 8, 1, 1, 0) + model_run(0, 10) + "]";
  const auto profile = must(parse_onnxruntime_profile(json, nullptr, timed({0}, {10e-6})));
  EXPECT_THAT(profile.op, ElementsAre(0, 1, 0));
}

TEST(OnnxRuntimeProfile, LeavesOutWhatLiesInNoTimedInference) {
  const std::string json = "[" + node("warm", 0, 5) + model_run(0, 5) + node("between", 6, 1) + node("in", 10, 3) +
                           node("reaches out", 14, 9) + node("at the end", 18, 2) + model_run(10, 8) + "]";
  const auto profile = must(parse_onnxruntime_profile(json, nullptr, timed({0}, {10e-6})));
  // An end may seem 2 µs late, as begins and durations are cut to whole ones.
  EXPECT_THAT(names_of(profile), ElementsAre("in", "at the end"));
}

TEST(OnnxRuntimeProfile, KeepsWhatIsWholeOfACutFile) {
  const std::string whole = fixture("onnxruntime_mlp.json");
  std::size_t least = 9, cuts = 0;
  for (std::size_t size = whole.size() - 3; size > 29; size -= 29) {
    const auto profile = parse_onnxruntime_profile(whole.substr(0, size), nullptr, mlp_trial(), mlp_start_ns);
    EXPECT_FALSE(parse_onnxruntime_profile(whole.substr(0, size), nullptr, mlp_trial()).ok());
    if (!profile.ok()) {
      EXPECT_FALSE(profile.error().message.empty());
      continue;
    }
    EXPECT_TRUE(profile->cut);
    EXPECT_THAT(profile->sources[0].detail, HasSubstr("ends early"));
    EXPECT_EQ(profile->iteration.size() % 3, 0U);  // whole iterations only
    least = std::min(least, profile->iteration.size());
    ++cuts;
  }
  EXPECT_EQ(least, 3U);
  EXPECT_GT(cuts, 100U);
}

TEST(OnnxRuntimeProfile, SaysHowManyEventsAreBroken) {
  std::string json = "[\n" + node("a", 1, 2) + node("b", 4, 2) + node("c", 7, 2) + model_run(0, 10) + "]";
  const std::size_t at = json.find("b_kernel");
  json.insert(at, 1, '"');  // an odd number of quotation marks: what follows would be the inside of strings
  const auto profile = must(parse_onnxruntime_profile(json, nullptr, timed({0}, {10e-6})));
  EXPECT_THAT(names_of(profile), ElementsAre("a", "c"));
  EXPECT_THAT(profile.sources[0].detail, HasSubstr("1 of its events cannot be read"));
}

TEST(OnnxRuntimeProfile, RefusesForeignFilesWithASentence) {
  const Samples trial = timed({0, 1}, {0.5, 1.5});
  for (const std::string& json :
       {std::string(), std::string("[]"), std::string("{}"), std::string("null"), std::string("[1,2,[3]]"),
        std::string(1 << 20, '['), std::string("[") + std::string(1 << 20, '{'), std::string("[{\"name\":\"\xff\"}]"),
        "[" + node("a", 0, 1) + "]", "[" + model_run(0, 1) + "]", "[" + node("a", 0, 1) + model_run(0, 5) + "]",
        "[" + node("a", -5, 1) + model_run(-5, 9) + model_run(-5, 9) + "]",
        std::string(
            R"([{"name":"model_run","cat":"Session","ts":1e300,"dur":1},{"name":3,"cat":[],"ts":"1","dur":{}}])"),
        std::string(R"([{"name":"model_run","cat":"Session","ts":99999999999999999999,"dur":1}])")}) {
    const auto profile = parse_onnxruntime_profile(json, nullptr, trial, mlp_start_ns);
    ASSERT_FALSE(profile.ok()) << json.substr(0, 80);
    EXPECT_THAT(profile.error().message, Not(HasSubstr("\n")));
  }
}

TEST(OnnxRuntimeProfile, SurvivesArgumentsOfOtherTypes) {
  const std::string json =
      R"([{"cat":"Node","dur":1,"ts":0,"name":"a_kernel_time","args":{"input_type_shape":[{"float":["x",-9]},7,{"seq":{}},{}],)"
      R"("output_type_shape":{"float":[1]},"activation_size":-1,"parameter_size":"12x","output_size":"99999999999999999999999"}},)"
      R"({"cat":"Node","dur":1,"ts":2,"name":"b_kernel_time","args":[]},)" +
      model_run(0, 5) + "]";
  const auto profile = must(parse_onnxruntime_profile(json, nullptr, timed({0}, {5e-6})));
  ASSERT_EQ(profile.operators.size(), 2U);
  EXPECT_EQ(profile.operators[0].shapes, "(-1, -9)");
  EXPECT_FALSE(profile.operators[0].activation_bytes || profile.operators[0].parameter_bytes ||
               profile.operators[0].output_bytes);
}

TEST(OnnxRuntimeProfile, SurvivesTimesFromNoClock) {
  Samples trial = mlp_trial();
  for (const std::int64_t far : {INT64_MIN, INT64_MIN + 1, INT64_MAX, std::int64_t{0}}) {
    trial.clock.origin_monotonic_ns = trial.clock.realtime_ahead_ns = far;
    EXPECT_TRUE(parse_onnxruntime_profile(fixture("onnxruntime_mlp.json"), nullptr, trial, far).ok());
  }
  trial.begin_s[0] = -1e300;
  trial.end_s[1] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_TRUE(parse_onnxruntime_profile(fixture("onnxruntime_mlp.json"), nullptr, trial, mlp_start_ns).ok());
}

}  // namespace
}  // namespace infermeter::onnxruntime_profile_test
