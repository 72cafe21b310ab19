// The test instrument does what its options say, to the number.
#include <gmock/gmock.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdlib>

#include "backend_under_test.hpp"
#include "fake/compute.hpp"

namespace infermeter::backend_fake_test {
namespace {

using testing::HasSubstr;
using Options = std::map<std::string, std::string>;

struct FakeTest : BackendTest {
  Ready ready_with(const Options& options) const { return make_ready(1, {.model = "-", .options = options}); }

  std::vector<float> output_with(const Options& options) const {
    const Ready ready = ready_with(options);
    EXPECT_EQ(run(ready.request).status, IMB_OK);
    return first_output(ready.request).value;
  }

  static double seconds_of_run(const Request& request) {
    const auto begin = std::chrono::steady_clock::now();
    EXPECT_EQ(run(request).status, IMB_OK);
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  }

  // The machine may take the time away from any one of them.
  static double shortest_of(int times, const Request& request) {
    double shortest = seconds_of_run(request);
    for (int i = 1; i < times; ++i) shortest = std::min(shortest, seconds_of_run(request));
    return shortest;
  }

  imb_value raw_output(const Ready& ready) const {
    EXPECT_EQ(run(ready.request).status, IMB_OK);
    Message message;
    imb_value value{};
    EXPECT_EQ(table().output_value(ready.request.get(), 0, &value, message.view()), IMB_OK);
    return value;
  }

  std::map<std::string, double> counters_with(const Options& options) const {
    const Ready ready = ready_with(options);
    std::map<std::string, double> counters;
    const auto note = [](void* user, const char* name, const char*, double value) {
      (*static_cast<std::map<std::string, double>*>(user))[name] = value;
    };
    Message message;
    EXPECT_EQ(table().counters(ready.session.get(), note, &counters, message.view()), IMB_OK);
    return counters;
  }
};

TEST_F(FakeTest, SaysWhatItIs) { EXPECT_STREQ(info().runtime_name, "fake (test instrument)"); }

// Lower bounds only: the machine may always take longer.
TEST_F(FakeTest, InferenceTakesAtLeastItsTime) {
  for (const char* work : {"spin", "sleep"}) {
    const Ready ready = ready_with({{"latency", "constant:2ms"}, {"work", work}});
    for (int i = 0; i < 3; ++i) EXPECT_GE(seconds_of_run(ready.request), 2e-3) << work;
  }
}

TEST_F(FakeTest, EmptySubjectTakesNoTime) {
  const Ready ready = ready_with({{"latency", "constant:1s"}, {"work", "none"}});
  EXPECT_LT(seconds_of_run(ready.request), 0.5);
}

TEST_F(FakeTest, FirstInferenceAndDriftTakeLonger) {
  const Ready first = ready_with({{"latency", "constant:1us"}, {"first_delay", "20ms"}});
  EXPECT_GE(seconds_of_run(first.request), 20e-3);
  EXPECT_LT(shortest_of(5, first.request), 20e-3);
  const Ready drift = ready_with({{"latency", "constant:1us"}, {"drift", "step:20000:5"}});
  EXPECT_LT(shortest_of(5, drift.request), 20e-3);
  EXPECT_GE(seconds_of_run(drift.request), 20e-3);
}

TEST(ComputationTest, UnitIsOneStep) {
  Computation computation;
  computation.run(2);
  EXPECT_EQ(computation.result(), (2 * 0.5 + 1) * 0.5 + (1 + 1 / 2048.0));
  computation.run(1);
  EXPECT_EQ(computation.result(), ((2 * 0.5 + 1) * 0.5 + (1 + 1 / 2048.0)) * 0.5 + 1);
}

// 20 times the work: no optimiser took it away, and the machine cannot have disturbed all of the shortest.
TEST_F(FakeTest, TwentyTimesTheUnitsTakeAtLeastTenTimesAsLong) {
  const Ready little = ready_with({{"compute", "200000"}}), much = ready_with({{"compute", "4000000"}});
  EXPECT_GE(shortest_of(3, much.request), 10 * shortest_of(15, little.request));
}

TEST_F(FakeTest, UnitsComeBeforeTheTimeToPass) {
  const Ready both = ready_with({{"compute", "4000000"}, {"latency", "constant:1ms"}});
  const Ready units = ready_with({{"compute", "4000000"}});
  EXPECT_GE(shortest_of(5, both.request), 1e-3 + 0.5 * shortest_of(5, units.request));
}

TEST_F(FakeTest, AsynchronousInferenceEndsInSynchronize) {
  const Ready ready = ready_with({{"latency", "constant:20ms"}, {"asynchronous", "true"}});
  EXPECT_LT(shortest_of(5, ready.request), 20e-3);
  Message message;
  EXPECT_EQ(table().synchronize(ready.session.get(), message.view()), IMB_OK);
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(run(ready.request).status, IMB_OK);
  EXPECT_EQ(table().synchronize(ready.session.get(), message.view()), IMB_OK);
  EXPECT_GE(std::chrono::steady_clock::now() - begin, std::chrono::milliseconds(20));
}

TEST_F(FakeTest, OutputsAreOfTheKindAskedFor) {
  EXPECT_THAT(output_with({{"outputs", "zeros"}}), testing::Each(0.0f));
  EXPECT_THAT(output_with({{"outputs", "ones"}}), testing::Each(1.0f));
  EXPECT_TRUE(std::signbit(output_with({{"outputs", "negative_zero"}})[0]));
  EXPECT_TRUE(std::isnan(output_with({{"outputs", "nan"}})[0]));
  EXPECT_TRUE(std::isinf(output_with({{"outputs", "inf"}})[0]));
  EXPECT_NE(output_with({{"outputs", "random"}}), output_with({{"outputs", "random"}}));
  auto hash = output_with({}), permuted = output_with({{"outputs", "permuted"}});
  EXPECT_NE(hash, permuted);
  EXPECT_THAT(permuted, testing::UnorderedElementsAreArray(hash));
}

TEST_F(FakeTest, OutputsHaveTheWrongFormIfAsked) {
  const Ready shape = ready_with({{"outputs", "wrong_shape"}}), dtype = ready_with({{"outputs", "wrong_dtype"}});
  EXPECT_EQ(raw_output(shape).shape[1], 9);
  EXPECT_EQ(raw_output(dtype).dtype, IMB_FLOAT64);
}

TEST_F(FakeTest, OutputErrorIsAbsoluteOrRelative) {
  const auto exact = output_with({}), absolute = output_with({{"output_error", "0.01"}}),
             relative = output_with({{"output_error", "1%"}});
  for (std::size_t i = 0; i < exact.size(); ++i) {
    EXPECT_NEAR(absolute[i] - exact[i], 0.01f, 1e-6);
    EXPECT_NEAR(relative[i], exact[i] * 1.01f, 1e-6);
  }
}

TEST_F(FakeTest, FailsWhereItIsToldAndNowhereElse) {
  for (const char* place : {"load", "compile"}) {
    const auto failed = load(runtime_, {.model = "-", .options = {{"fail", place}}});
    EXPECT_EQ(failed.status, IMB_MODEL_ERROR);
    EXPECT_THAT(failed.message, HasSubstr(place == std::string("load") ? "loading" : "compiling"));
  }
  const Ready ready = ready_with({{"fail", "run:3"}});
  EXPECT_EQ(run(ready.request).status, IMB_OK);
  EXPECT_EQ(run(ready.request).status, IMB_OK);
  const auto third = run(ready.request);
  EXPECT_EQ(third.status, IMB_RUN_ERROR);
  EXPECT_THAT(third.message, HasSubstr("inference 3"));
  EXPECT_EQ(run(ready.request).status, IMB_OK);
  EXPECT_EQ(load(runtime_, {.model = "-", .options = {{"out_of_memory", "load"}}}).status, IMB_OUT_OF_MEMORY);
}

TEST_F(FakeTest, MemoryThatIsNotThereIsAnError) {
  const auto outcome = load(runtime_, {.model = "-", .options = {{"memory", "900000GB"}}});
  EXPECT_EQ(outcome.status, IMB_OUT_OF_MEMORY);
}

using FakeDeathTest = FakeTest;

TEST_F(FakeDeathTest, EndsTheProcessAsTold) {
  const auto load_with = [&](const char* key) {
    const auto outcome = load(runtime_, {.model = "-", .options = {{key, "load"}}});
  };
  EXPECT_EXIT(load_with("crash"), testing::KilledBySignal(SIGSEGV), "");
  EXPECT_EXIT(load_with("abort"), testing::KilledBySignal(SIGABRT), "");
  EXPECT_EXIT(load_with("kill"), testing::KilledBySignal(SIGKILL), "");
  EXPECT_EXIT(load_with("exit"), testing::ExitedWithCode(0), "");
}

TEST_F(FakeDeathTest, WritesNoiseToStderr) {
  const auto load_noisily = [&] {
    const auto outcome = load(runtime_, {.model = "-", .options = {{"stderr", "200B"}}});
    std::_Exit(outcome.status == IMB_OK ? 3 : 4);
  };
  EXPECT_EXIT(load_noisily(), testing::ExitedWithCode(3), "told to write to stderr");
}

TEST_F(FakeTest, TellsWhatItsAttemptsCameTo) {
  const auto counters = counters_with({{"counters", "hit_rate:0.83+hits:12"},
                                       {"read_file", "/nonexistent/file"},
                                       {"write_file", "/nonexistent/file"},
                                       {"execute", "true"}});
  EXPECT_EQ(counters.at("hit_rate"), 0.83);
  EXPECT_EQ(counters.at("hits"), 12);
  EXPECT_EQ(counters.at("read_error"), ENOENT);
  EXPECT_EQ(counters.at("write_error"), ENOENT);
  EXPECT_EQ(counters.at("execute_error"), 0);
}

TEST_F(FakeTest, TellsAnotherExecutionThanTheOneAskedFor) {
  const Ready ready = ready_with({{"executed_dtype", "bfloat16"}, {"executed_threads", "9"}, {"provider", "abacus"}});
  std::map<std::string, std::string> facts;
  const auto note = [](void* user, const char* name, const char* value) {
    (*static_cast<std::map<std::string, std::string>*>(user))[name] = value;
  };
  Message message;
  ASSERT_EQ(table().executed(ready.session.get(), note, &facts, message.view()), IMB_OK);
  EXPECT_EQ(facts["dtype"], "bfloat16");
  EXPECT_EQ(facts["threads"], "9");
  EXPECT_EQ(facts["provider"], "abacus");
}

TEST_F(FakeTest, InputsAreThoseAskedFor) {
  const auto loaded = load(runtime_, {.model = "-",
                                      .batch = 4,
                                      .dimensions = {{"height", "32"}},
                                      .options = {{"inputs", "image:uint8:-1x3xheightxwidth+ids:int64:7"}}});
  ASSERT_EQ(loaded.status, IMB_OK) << loaded.message;
  ASSERT_EQ(table().input_count(loaded.value.get()), 2u);
  const imb_port& image = *table().input(loaded.value.get(), 0);
  EXPECT_THAT(std::vector<std::int64_t>(image.shape, image.shape + image.rank), testing::ElementsAre(4, 3, 32, -1));
  EXPECT_EQ(image.dtype, IMB_UINT8);
  EXPECT_STREQ(image.dimension_names[3], "width");
  EXPECT_EQ(table().input(loaded.value.get(), 1)->dtype, IMB_INT64);
}

TEST_F(FakeTest, ValuesThatMakeNoSenseAreRefusedByKey) {
  const std::vector<std::pair<std::string, std::string>> wrong = {
      {"latency", "constant:5"}, {"latency", "normal:1ms"}, {"drift", "ramp:1:2"},      {"seed", "x"},
      {"memory", "12parsecs"},   {"inputs", "x:float32"},   {"inputs", "x:complex7:3"}, {"outputs", "prime"},
      {"output_error", "big"},   {"fail", "sometimes"},     {"fail", "run:0"},          {"counters", "a"},
      {"work", "play"},          {"load_delay", "-1s"},     {"compute", "-1"},          {"compute", "2.5"}};
  for (const auto& [key, value] : wrong) {
    const auto outcome = load(runtime_, {.model = "-", .options = {{key, value}}});
    EXPECT_EQ(outcome.status, IMB_INVALID_ARGUMENT) << key << "=" << value;
    EXPECT_THAT(outcome.message, HasSubstr(key + "=" + value));
  }
}

}  // namespace
}  // namespace infermeter::backend_fake_test
