#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "infermeter/profile/write/test_traces.hpp"
#include "infermeter/profile/write/trace_labels.hpp"
#include "infermeter/profile/write/trace_writers.hpp"

namespace infermeter::chrome_trace_test {
namespace {

using Json = nlohmann::json;

Json events_of(const TraceFile& trace) { return Json::parse(chrome_trace(trace)).at("traceEvents"); }

std::vector<Json> complete_events(const Json& events) {
  std::vector<Json> result;
  for (const Json& event : events) {
    if (event.at("ph") == "X") result.push_back(event);
  }
  return result;
}

TEST(ChromeTrace, SaysEverySliceInMicroseconds) {
  const Samples samples = test::trace_samples(2, 0.01);
  const OperatorProfile profile = test::trace_profile();
  const std::vector<TraceSource> sources = {
      {.subject = "resnet50@x", .trial = {&samples, &profile}, .stacks = nullptr}};
  const Json events = events_of(trace_of(sources));
  const std::vector<Json> slices = complete_events(events);
  ASSERT_EQ(slices.size(), 10U);
  EXPECT_EQ(events[0].at("args").at("name"), "resnet50@x, process 1");
  EXPECT_EQ(slices[5].at("name"), "conv1");
  EXPECT_EQ(slices[5].at("cat"), "cpu_op");
  EXPECT_EQ(slices[5].at("args").at("kind"), "Conv");
  EXPECT_EQ(slices[0].at("name"), "ProfilerStep#0");
  EXPECT_EQ(slices[0].at("cat"), "user_annotation");
  EXPECT_EQ(slices[5].at("ts"), 11500.0);
  EXPECT_EQ(slices[5].at("dur"), 4000.0);
  EXPECT_EQ(slices[5].at("args").at("iteration"), 1);
  EXPECT_EQ(slices[5].at("args").at("kernel"), "jit_avx512_f32");
  EXPECT_EQ(slices[5].at("args").at("flops"), 236e6);
  EXPECT_EQ(slices[5].at("tid"), slices[5].at("pid")) << "the main thread";
  EXPECT_NE(slices[9].at("tid"), slices[5].at("tid"));
  EXPECT_EQ(slices[0].at("args"), Json({{"iteration", 0}}));
}

TEST(ChromeTrace, KeepsNanoseconds) {
  Samples samples = test::trace_samples(1, 0.01);
  samples.begin_s = {5000};
  samples.end_s = {5000 + 0.123456789};
  const OperatorProfile profile;
  const std::vector<TraceSource> sources = {{.subject = "a", .trial = {&samples, &profile}, .stacks = nullptr}};
  EXPECT_NE(chrome_trace(trace_of(sources)).find("\"dur\":123456.789,"), std::string::npos);
}

// Readers that add begin and length in doubles must not find slices of a row that overlap.
TEST(ChromeTrace, SlicesThatTouchDoNotOverlapInDoubles) {
  Samples samples = test::trace_samples(1, 0.5);
  OperatorProfile profile;
  double at = 0.000033658516;
  for (std::uint32_t i = 0; i < 200; ++i) {
    profile.operators.push_back(test::trace_operator("op" + std::to_string(i), "Op"));
    const double length = 0.000014016616 + 1.0007e-6 * i;
    test::add_trace_event(profile, 0, i, 0, at, length);
    test::add_trace_event(profile, 0, i, 0, at + length / 3, length - length / 3);  // to the same end
    at += length;
  }
  const std::vector<TraceSource> sources = {{.subject = "a", .trial = {&samples, &profile}, .stacks = nullptr}};
  const std::vector<Json> slices = complete_events(events_of(trace_of(sources)));
  ASSERT_EQ(slices.size(), 401U);
  std::vector<double> open;
  for (const Json& slice : slices) {
    const double begin = slice.at("ts"), end = begin + slice.at("dur").get<double>();
    while (!open.empty() && open.back() <= begin) open.pop_back();
    if (!open.empty()) {
      EXPECT_LE(end, open.back()) << slice;
    }
    open.push_back(end);
  }
}

TEST(ChromeTrace, CountsBytes) {
  const Samples samples = test::trace_samples(2, 0.01);
  const OperatorProfile profile = test::trace_profile();
  const std::vector<TraceSource> sources = {{.subject = "a", .trial = {&samples, &profile}, .stacks = nullptr}};
  const Json events = events_of(trace_of(sources));
  EXPECT_EQ(events.back().at("ph"), "C");
  EXPECT_EQ(events.back().at("name"), "arena, peak");
  EXPECT_EQ(events.back().at("args").at("bytes"), 6e6);
}

TEST(ChromeTrace, ProcessesAndThreadsHaveNumbersOfTheirOwn) {
  const Samples samples = test::trace_samples(2, 0.01);
  const OperatorProfile profile = test::trace_profile();
  const std::vector<TraceSource> sources(3, {.subject = "a", .trial = {&samples, &profile}, .stacks = nullptr});
  std::map<int, int> process_of_thread;
  for (const Json& event : complete_events(events_of(trace_of(sources)))) {
    const auto [place, is_new] = process_of_thread.emplace(event.at("tid"), event.at("pid"));
    EXPECT_EQ(place->second, event.at("pid"));
  }
  EXPECT_EQ(process_of_thread.size(), 6U);
}

TEST(ChromeTrace, IsJsonWhateverTheNames) {
  for (const std::string& name : test::hostile_texts()) {
    const Samples samples = test::trace_samples(2, 0.01);
    OperatorProfile profile = test::trace_profile();
    for (ProfiledOperator& op : profile.operators) {
      op.name = op.kind = op.kernel = op.shapes = op.provider = name;
      op.nodes = {name, name};
    }
    const std::vector<TraceSource> sources = {{.subject = name, .trial = {&samples, &profile}, .stacks = nullptr}};
    const std::vector<Json> slices = complete_events(events_of(trace_of(sources)));
    ASSERT_EQ(slices.size(), 10U);
    EXPECT_EQ(slices[1].at("name"), name.empty() ? "(no name)" : trace_text(name));
  }
}

TEST(ChromeTrace, OfNothingIsValidToo) { EXPECT_TRUE(events_of({}).empty()); }

}  // namespace
}  // namespace infermeter::chrome_trace_test
