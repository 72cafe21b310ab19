#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "infermeter/profile/read/profile_files.hpp"

namespace infermeter::operators_json_test {
namespace {

using testing::DoubleNear;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pointwise;

Samples trial_of_two() {
  Samples trial;
  trial.begin_s = {0.0, 0.010};
  trial.end_s = {0.005, 0.016};
  trial.clock = {.name = "tsc",
                 .tick_s = 1e-9,
                 .read_cost_s = 1e-8,
                 .origin_monotonic_ns = 7'000'000'000,
                 .realtime_ahead_ns = 1'700'000'000'000'000'000,
                 .realtime_slip_ns = 0};
  return trial;
}

// Three recorded iterations, of which the last two are the timed ones; `at` is the begin of the second one.
std::string events_file(std::string_view clock, std::int64_t at) {
  return fmt::format(
      R"({{"format":"infermeter-operators","version":1,"source":"a runtime's counters","clock":"{}","iterations":3,)"
      R"("operators":[{{"name":"conv1","kind":"Conv","kernel":"jit","precision":"float32","layout":"NCHWc","shapes":"(1,) -> [1]",)"
      R"("provider":"CPU","origin_names":["conv1","relu1"],"inputs":["x"],"outputs":["y"],"activation_bytes":4,"parameter_bytes":5,)"
      R"("output_bytes":6,"arena_peak_bytes":7,"arena_in_use_bytes":5}},{{"name":"reorder"}}],)"
      R"("sources":[{{"name":"graph","available":true,"detail":"its own"}}],)"
      R"("events":{{"iteration":[0,1,1,2],"op":[0,0,1,0],"thread":[0,0,1,0],"begin_ns":[0,{},{},{}],)"
      R"("duration_ns":[5,3000000,1000000,4000000]}}}})",
      clock, at + 1'000'000, at + 4'000'000, at + 10'500'000);
}

OperatorProfile must(Result<OperatorProfile> profile) {
  EXPECT_TRUE(profile.ok()) << profile.error().message;
  return profile.ok() ? std::move(profile).value() : OperatorProfile{};
}

TEST(OperatorsJson, PlacesEventsOfEitherClock) {
  for (const auto& [clock, at] : {std::pair("monotonic", std::int64_t{7'000'000'000}),
                                  std::pair("realtime", std::int64_t{1'700'000'007'000'000'000})}) {
    const OperatorProfile profile = must(parse_operators(events_file(clock, at), trial_of_two()));
    EXPECT_THAT(profile.iteration, ElementsAre(0, 0, 1)) << clock;
    EXPECT_THAT(profile.op, ElementsAre(0, 1, 0));
    EXPECT_THAT(profile.thread, ElementsAre(0, 1, 0));
    EXPECT_THAT(profile.begin_s, Pointwise(DoubleNear(1e-12), {0.001, 0.004, 0.0005}));
    EXPECT_THAT(profile.duration_s, Pointwise(DoubleNear(1e-12), {0.003, 0.001, 0.004}));
    EXPECT_FALSE(profile.cut);
  }
}

TEST(OperatorsJson, TakesTimesSinceAnIterationsBeginAsTheyAre) {
  std::string json = events_file("iteration", 0);
  const OperatorProfile profile = must(parse_operators(json, trial_of_two()));
  EXPECT_THAT(profile.begin_s, ElementsAre(0.001, 0.004, 0.0105));
}

TEST(OperatorsJson, PutsAnIterationIntoTheMiddleIfTheClockCannotBeJoined) {
  Samples trial = trial_of_two();
  trial.clock.realtime_slip_ns = 60'000;
  const auto profile = must(parse_operators(events_file("realtime", 1'700'000'007'000'000'000), trial));
  // From 1 to 5 ms of one that takes 5 ms, and 4 ms of one that takes 6.
  EXPECT_THAT(profile.begin_s, Pointwise(DoubleNear(1e-12), {0.0005, 0.0035, 0.001}));
  EXPECT_THAT(profile.sources.at(0).detail, HasSubstr("middle"));
}

TEST(OperatorsJson, KeepsEverythingThatIsToldOfAnOperator) {
  const OperatorProfile profile = must(parse_operators(events_file("iteration", 0), trial_of_two()));
  ASSERT_EQ(profile.operators.size(), 2U);
  const ProfiledOperator& op = profile.operators[0];
  EXPECT_EQ(op.name + op.kind + op.kernel + op.precision + op.layout + op.shapes + op.provider,
            "conv1Convjitfloat32NCHWc(1,) -> [1]CPU");
  EXPECT_THAT(op.origin_names, ElementsAre("conv1", "relu1"));
  EXPECT_THAT(op.inputs, ElementsAre("x"));
  EXPECT_THAT(op.outputs, ElementsAre("y"));
  EXPECT_EQ(op.activation_bytes, 4U);
  EXPECT_EQ(op.parameter_bytes, 5U);
  EXPECT_EQ(op.output_bytes, 6U);
  EXPECT_EQ(op.arena_peak_bytes, 7U);
  EXPECT_EQ(op.arena_in_use_bytes, 5U);
  EXPECT_FALSE(profile.operators[1].activation_bytes);
  ASSERT_EQ(profile.sources.size(), 2U);
  EXPECT_EQ(profile.sources[0].detail, "a runtime's counters");
  EXPECT_EQ(profile.sources[1].name, "graph");
  EXPECT_TRUE(profile.sources[1].available);
}

TEST(OperatorsJson, ReadsMeansAndMakesNoEvents) {
  const auto profile =
      must(parse_operators(R"({"format":"infermeter-operators","version":1,"operators":[{"name":"a"},{"name":"b"}],)"
                           R"("means":{"duration_ns":[1500.5,0],"calls":[1,0.5]}})",
                           trial_of_two()));
  EXPECT_FALSE(profile.has_events());
  EXPECT_THAT(profile.mean_s, Pointwise(DoubleNear(1e-15), {1500.5e-9, 0.0}));
  EXPECT_THAT(profile.mean_calls, ElementsAre(1.0, 0.5));
}

TEST(OperatorsJson, KeepsTheWholeIterationsOfACutFile) {
  const std::string whole = events_file("iteration", 0);
  const std::size_t last = whole.rfind(",4000000");
  // In its last list, behind the first event of the third iteration: that may lack others.
  const auto profile = must(parse_operators(whole.substr(0, last + 8) + ",", trial_of_two()));
  EXPECT_THAT(profile.iteration, ElementsAre(0, 0));
  EXPECT_TRUE(profile.cut);
  EXPECT_THAT(profile.sources.at(0).detail, HasSubstr("ends early"));
  // A number that is cut is not another number; then nothing whole is left.
  EXPECT_FALSE(parse_operators(whole.substr(0, last + 3), trial_of_two()).ok());
}

TEST(OperatorsJson, RefusesWhatItCannotBe) {
  const auto with = [](std::string_view what) {
    return fmt::format(R"({{"format":"infermeter-operators","version":1,"operators":[{{"name":"a"}}],{}}})", what);
  };
  const std::pair<std::string, std::string> cases[] = {
      {"", "not valid JSON"},
      {"[]", "should be an object"},
      {"{}", "format"},
      {R"({"format":"infermeter-operators","version":2})", "version 2"},
      {R"({"format":"infermeter-operators","version":1,"clock":"sun"})", "clock"},
      {R"({"format":"infermeter-operators","version":1})", "no operators"},
      {R"({"format":"infermeter-operators","version":1,"operators":[{"kind":"Conv"}]})", "'operators[0].name'"},
      {with(R"("means":{"duration_ns":[1,2],"calls":[1,1]})"), "one mean"},
      {with(R"("means":{"duration_ns":[-1],"calls":[1]})"), "not a time"},
      {with(R"("means":{"duration_ns":[null],"calls":[1]})"), ""},
      {with(R"("events":{})"), "no event"},
      {with(R"("events":{"iteration":[0],"op":[1],"thread":[0],"begin_ns":[0],"duration_ns":[1]})"), "operator 1 of 1"},
      {with(R"("events":{"iteration":[2],"op":[0],"thread":[0],"begin_ns":[0],"duration_ns":[1]})"),
       "iteration 2 of 2"},
      {with(R"("events":{"iteration":[0],"op":[0],"thread":[0],"begin_ns":[0],"duration_ns":[-1]})"), "for -1 ns"},
      {with(R"("events":{"iteration":[0],"op":[0],"thread":[0],"begin_ns":[9223372036854775807],"duration_ns":[1]})"),
       "cannot be"},
      {with(R"("events":{"iteration":[-1],"op":[0],"thread":[0],"begin_ns":[0],"duration_ns":[1]})"), "iteration[0]"},
      {std::string(200'000, '['), "not valid JSON"},
      {std::string((std::size_t{64} << 20U) + 1, ' '), "64 MiB"}};
  for (const auto& [json, sentence] : cases) {
    const auto profile = parse_operators(json, trial_of_two());
    if (sentence.empty()) continue;
    ASSERT_FALSE(profile.ok()) << json.substr(0, 200);
    EXPECT_THAT(profile.error().message, HasSubstr(sentence));
  }
}

TEST(OperatorsJson, SurvivesEveryCut) {
  const std::string whole = events_file("realtime", 1'700'000'007'000'000'000);
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const auto profile = parse_operators(whole.substr(0, size), trial_of_two());
    if (!profile.ok()) continue;
    EXPECT_TRUE(profile->cut) << size;
    EXPECT_EQ(profile->iteration.size(), profile->duration_s.size());
  }
}

}  // namespace
}  // namespace infermeter::operators_json_test
