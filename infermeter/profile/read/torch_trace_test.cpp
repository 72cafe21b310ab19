#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "infermeter/profile/read/fixture_file.hpp"
#include "infermeter/profile/read/profile_files.hpp"

namespace infermeter::torch_trace_test {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;

Samples timed(std::vector<double> begin_s, std::vector<double> end_s) {
  Samples trial;
  trial.begin_s = std::move(begin_s);
  trial.end_s = std::move(end_s);
  return trial;
}

OperatorProfile must(Result<OperatorProfile> profile) {
  EXPECT_TRUE(profile.ok()) << profile.error().message;
  return profile.ok() ? std::move(profile).value() : OperatorProfile{};
}

std::vector<std::string> names_of(const OperatorProfile& profile) {
  std::vector<std::string> names;
  for (const ProfiledOperator& op : profile.operators) names.push_back(op.name);
  return names;
}

// Two inferences of a linear layer, ReLU, a convolution and softmax, torch 2.14.1; arguments that nobody reads are
// taken out.
const Samples two = timed({0, 600e-6}, {575e-6, 725e-6});

TEST(TorchTrace, KeepsTheOperatorsThatTheProgramCalls) {
  const OperatorProfile profile = must(parse_torch_trace(test::fixture("torch_small.json"), two));
  EXPECT_THAT(names_of(profile),
              ElementsAre("aten::linear#0", "aten::relu#0", "aten::unsqueeze#0", "aten::conv1d#0", "aten::softmax#0"));
  EXPECT_THAT(profile.iteration, ElementsAre(0, 0, 0, 0, 0, 1, 1, 1, 1, 1));
  EXPECT_THAT(profile.op, ElementsAre(0, 1, 2, 3, 4, 0, 1, 2, 3, 4));
  EXPECT_THAT(profile.thread, Each(0));
  // 118.107 µs behind the annotation's begin, which lasts 570.028 of 575 µs; times of the trace have 1/2048 µs here.
  EXPECT_NEAR(profile.begin_s[0], 118.107e-6 + (575e-6 - 570.028e-6) / 2, 2e-9);
  EXPECT_NEAR(profile.duration_s[0], 130.627e-6, 2e-9);
  EXPECT_NEAR(profile.duration_s[8], 28.647e-6, 2e-9);
  EXPECT_FALSE(profile.cut);
}

TEST(TorchTrace, TellsWhatDidTheWork) {
  const OperatorProfile profile = must(parse_torch_trace(test::fixture("torch_small.json"), two));
  ASSERT_EQ(profile.operators.size(), 5U);
  EXPECT_EQ(profile.operators[3].kind, "conv1d");
  EXPECT_EQ(profile.operators[3].kernel, "_slow_conv2d_forward");
  EXPECT_EQ(profile.operators[0].kernel, "addmm");
  EXPECT_EQ(profile.operators[0].precision, "float32");
  EXPECT_EQ(profile.operators[0].shapes, "(1, 16), (64, 16), (64,)");
}

std::string event(std::string_view cat, std::string_view name, double ts, double dur, int tid = 1) {
  return fmt::format(R"({{"ph":"X","cat":"{}","name":"{}","pid":1,"tid":{},"ts":{},"dur":{},"args":{{}}}},)", cat, name,
                     tid, ts, dur);
}
std::string trace(const std::string& events) { return R"({"traceEvents":[)" + events + "]}"; }
std::string iteration(double ts, double dur) { return event("user_annotation", "infermeter_iteration", ts, dur); }

TEST(TorchTrace, IsNotLedAstrayByOneCallThatWasInterrupted) {
  std::string events;
  for (int i = 0; i < 3; ++i) {
    const double at = 10'000 * i, longer = i == 1 ? 5'000 : 0;
    events += iteration(at, 9'000) + event("cpu_op", "aten::conv2d", at + 1, 200 + longer) +
              event("cpu_op", "aten::mkldnn_convolution", at + 2, 150);
  }
  const auto profile = must(parse_torch_trace(trace(events), timed({0, 0.01, 0.02}, {0.009, 0.019, 0.029})));
  ASSERT_EQ(profile.operators.size(), 1U);
  EXPECT_EQ(profile.operators[0].kernel, "mkldnn_convolution");
}

TEST(TorchTrace, LooksIntoBracketsThatAreNoOperators) {
  const auto profile =
      must(parse_torch_trace(trace(iteration(0, 100) + event("cpu_op", "Torch-Compiled Region: 0/0", 10, 80) +
                                   event("cpu_op", "aten::addmm", 20, 30) + event("cpu_op", "aten::copy_", 25, 5) +
                                   event("cpu_op", "aten::addmm", 60, 10)),
                             timed({0}, {100e-6})));
  EXPECT_THAT(names_of(profile), ElementsAre("Torch-Compiled Region: 0/0#0", "aten::addmm#0", "aten::addmm#1"));
  EXPECT_NEAR(profile.duration_s[0], 80e-6, 1e-12);
  EXPECT_NEAR(profile.begin_s[1], 20e-6, 1e-12);
}

TEST(TorchTrace, TakesTheLastAnnotationsAndTheirThreads) {
  const std::string events = iteration(0, 10) + event("cpu_op", "aten::warm", 1, 2) + iteration(20, 10) +
                             event("cpu_op", "aten::a", 21, 2) + event("cpu_op", "aten::b", 22, 5, 7) +
                             event("cpu_op", "aten::across", 29, 5) + event("cpu_op", "aten::after", 40, 1);
  const auto profile = must(parse_torch_trace(trace(events), timed({0}, {10e-6})));
  EXPECT_THAT(names_of(profile), ElementsAre("aten::a#0", "aten::b#0"));
  EXPECT_THAT(profile.thread, ElementsAre(0, 1));
}

TEST(TorchTrace, NamesTheModuleAround) {
  const auto profile =
      must(parse_torch_trace(trace(iteration(0, 100) + event("python_function", "nn.Module: Net_0", 5, 90) +
                                   event("user_annotation", "infermeter_module fc1", 10, 20) +
                                   event("cpu_op", "aten::linear", 12, 10) + event("cpu_op", "aten::relu", 40, 10)),
                             timed({0}, {100e-6})));
  ASSERT_EQ(profile.operators.size(), 2U);
  EXPECT_THAT(profile.operators[0].origin_names, ElementsAre("fc1"));
  EXPECT_THAT(profile.operators[1].origin_names, ElementsAre("Net_0"));
}

TEST(TorchTrace, KeepsWholeIterationsOfACutFile) {
  const std::string whole = test::fixture("torch_small.json");
  const std::size_t second = whole.rfind("infermeter_iteration");
  for (std::size_t size = 0; size < whole.rfind(']'); size += 61) {
    const auto profile = parse_torch_trace(whole.substr(0, size), two);
    // The first iteration is known to be whole once the second one has begun.
    EXPECT_EQ(profile.ok(), size > whole.find('\n', second)) << size;
    if (!profile.ok()) continue;
    EXPECT_EQ(profile->iteration.size(), 5U);
    EXPECT_TRUE(profile->cut);
  }
}

TEST(TorchTrace, RefusesForeignFilesWithASentence) {
  for (const std::string& json :
       {std::string(), std::string("[]"), trace(""), trace("null"), trace(event("cpu_op", "aten::a", 0, 1)),
        trace(iteration(0, 5)), trace(iteration(0, -5) + event("cpu_op", "aten::a", 0, 1)), trace(iteration(1e300, 5)),
        std::string(R"({"traceEvents":{"ph":"X"}})"), R"({"traceEvents":[)" + std::string(100'000, '[')}) {
    const auto profile = parse_torch_trace(json, two);
    ASSERT_FALSE(profile.ok()) << json.substr(0, 100);
    EXPECT_FALSE(profile.error().message.empty());
  }
  EXPECT_FALSE(parse_torch_trace(test::fixture("torch_small.json"), Samples{}).ok());
}

}  // namespace
}  // namespace infermeter::torch_trace_test
