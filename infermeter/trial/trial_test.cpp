#include "infermeter/trial/trial.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <barrier>
#include <deque>

#include "infermeter/trial/machine/times.hpp"
#include "infermeter/trial/simulated_subject.hpp"
#include "infermeter/trial/trial_steps.hpp"

namespace infermeter::trial_test {
namespace {

using namespace test;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;

std::vector<std::uint64_t> latencies(const SampleBlock& block) {
  std::vector<std::uint64_t> ticks;
  for (const TickPair& pair : block.timed_done()) ticks.push_back(pair.end - pair.begin);
  return ticks;
}

bool has(const Samples& samples, DiagnosticId id) {
  return std::any_of(samples.diagnostics.begin(), samples.diagnostics.end(), [&](const auto& d) { return d.id == id; });
}

TEST(Trial, MeasuresToTheNanosecond) {
  SimulatedTrial trial;
  const Samples samples = trial.run().samples;
  EXPECT_EQ(samples.end, TrialEnd::ok) << samples.message;
  EXPECT_EQ(samples.phase, Phase::done);
  EXPECT_EQ(latencies(trial.block()), std::vector<std::uint64_t>(10, 250));
  EXPECT_EQ(trial.block().warmup_done().size(), 3U);
  EXPECT_EQ(trial.own_world.runs, 1 + 3 + 10) << "of a single item the outputs are there";
  EXPECT_DOUBLE_EQ(samples.load_s.value(), 0.005);
  EXPECT_DOUBLE_EQ(samples.compile_s.value(), 0.003);
  EXPECT_DOUBLE_EQ(samples.first_inference_s.value(), 250e-9);
  EXPECT_EQ(trial.kept, 1) << "the facts are kept once, before the loop";
}

TEST(Trial, TheFirstInferenceCountsWhereItIsAskedTo) {
  SimulatedTrial trial;
  trial.request.stopping = {.warmup = 0, .iterations = 1, .duration_s = {}, .count_first = true};
  const TrialOutcome outcome = trial.run();
  EXPECT_EQ(outcome.samples.end, TrialEnd::ok) << outcome.samples.message;
  EXPECT_EQ(trial.own_world.runs, 1);
  EXPECT_THAT(latencies(trial.block()), ElementsAre(250U));
  EXPECT_DOUBLE_EQ(outcome.samples.first_inference_s.value(), 250e-9);
  EXPECT_THAT(trial.runs_around_loop, ElementsAre(0, 1));
  EXPECT_EQ(outcome.samples.executed_value("runtime"), "Simulated");
  EXPECT_EQ(outcome.samples.counters.size(), 1U);
  EXPECT_NE(outcome.samples.output_digest, 0U);
  EXPECT_FALSE(has(outcome.samples, DiagnosticId::outputs_not_deterministic));
}

TEST(Trial, ItemsAreRunAgainForTheirOutputsThoughTheFirstCounts) {
  SimulatedTrial trial;
  trial.items = 2;
  trial.request.stopping = {.warmup = 0, .iterations = 3, .duration_s = {}, .count_first = true};
  EXPECT_EQ(trial.run().samples.end, TrialEnd::ok);
  EXPECT_THAT(trial.own_world.bound, ElementsAre(0, 1, 0, 0, 1));
}

TEST(Trial, AFirstInferenceThatCountsAndFailsLeavesNothing) {
  SimulatedTrial trial;
  trial.own_world.fail_at = 0;
  trial.request.stopping = {.warmup = 0, .iterations = 2, .duration_s = {}, .count_first = true};
  const Samples samples = trial.run().samples;
  EXPECT_EQ(samples.end, TrialEnd::run_failed);
  EXPECT_FALSE(samples.first_inference_s.has_value());
  EXPECT_TRUE(trial.block().timed_done().empty());
}

TEST(Trial, WaitsForTheDeviceInsideTheTimedRegion) {
  SimulatedTrial trial;
  trial.own_world.synchronize_ns = 4000;
  static_cast<void>(trial.run());
  EXPECT_THAT(latencies(trial.block()), Each(4250U));
}

TEST(Trial, WithoutSynchronizeOrCompileItDoesWithout) {
  SimulatedTrial trial;
  trial.backend.synchronize = nullptr;
  trial.backend.compile = nullptr;
  trial.backend.counters = nullptr;
  trial.backend.device_memory = nullptr;
  const Samples samples = trial.run().samples;
  EXPECT_EQ(samples.end, TrialEnd::ok);
  EXPECT_FALSE(samples.compile_s.has_value());
  EXPECT_FALSE(samples.memory.device_now.has_value());
  EXPECT_TRUE(samples.counters.empty());
}

TEST(Trial, ReportsWhatTheBackEndReports) {
  SimulatedTrial trial;
  const Samples samples = trial.run().samples;
  EXPECT_EQ(samples.memory.device_peak, 20U);
  ASSERT_EQ(samples.counters.size(), 1U);
  EXPECT_EQ(samples.counters[0].name, "hit_rate");
  EXPECT_EQ(samples.executed_value("runtime"), "Simulated");
  EXPECT_EQ(samples.executed_value("runtime_version"), "1.2");
  EXPECT_EQ(samples.executed_value("library"), "/lib/simulated.so");
  EXPECT_EQ(samples.executed_value("device"), "cpu") << "auto is the first";
}

TEST(Trial, TakesItemsInTurnAndBindsThemOutsideOfTheTimedRegion) {
  SimulatedTrial trial;
  trial.items = 3;
  trial.request.stopping = {.warmup = 2, .iterations = 5, .duration_s = {}};
  const Samples samples = trial.run().samples;
  EXPECT_EQ(latencies(trial.block()), std::vector<std::uint64_t>(5, 250));
  // first; warm-up 0 1; timed 0 1 2 0 1; outputs 0 1 2
  EXPECT_THAT(trial.own_world.bound, ElementsAre(0, 0, 1, 0, 1, 2, 0, 1, 0, 1, 2));
  EXPECT_FALSE(has(samples, DiagnosticId::outputs_constant));
}

TEST(Trial, OneItemIsBoundOnce) {
  SimulatedTrial trial;
  static_cast<void>(trial.run());
  EXPECT_EQ(trial.own_world.binds, 1);
}

TEST(Trial, ADurationEndsWhenTheTimedInferencesReachIt) {
  SimulatedTrial trial;
  trial.request.stopping = {.warmup = 2, .iterations = {}, .duration_s = 10.1e-6};
  static_cast<void>(trial.run());
  EXPECT_EQ(trial.block().timed_done().size(), 41U);  // 40 take 10.0 us
}

TEST(Trial, ADurationWithoutWarmupFindsRoomEnough) {
  SimulatedTrial trial;
  trial.request.stopping = {.warmup = 0, .iterations = {}, .duration_s = 1e-3};
  const Samples samples = trial.run().samples;
  EXPECT_EQ(trial.block().timed_done().size(), 4000U);
  EXPECT_FALSE(has(samples, DiagnosticId::iterations_capped));
}

TEST(Trial, ADurationIsMeasuredToItsEndHoweverSlowTheWarmUpWas) {
  SimulatedTrial trial;
  trial.own_world.run_ns = 100'000;
  trial.request.stopping = {.warmup = 1, .iterations = {}, .duration_s = 0.01};
  trial.backend.run = [](imb_request* request, imb_message message) {
    if (world->runs == 2) world->run_ns = 100;  // a thousand times faster than the warm-up said
    return table::run(request, message);
  };
  const Samples samples = trial.run().samples;
  EXPECT_EQ(trial.block().timed_done().size(), 100'000U);
  EXPECT_FALSE(has(samples, DiagnosticId::iterations_capped));
}

TEST(Trial, ALoadOfAnyLengthKeepsSoManyTimesThatTheyTakeLessThan64MB) {
  const Stopping by_duration{.warmup = 10, .iterations = {}, .duration_s = 3600.0};
  EXPECT_LT(SampleBlock::bytes_for(SampleBlock::capacity_for(by_duration, true, true)), 58'000'000U);
  const Stopping by_requests{.warmup = 10, .iterations = 18'000'000, .duration_s = {}};
  EXPECT_EQ(SampleBlock::capacity_for(by_requests, true, true).timed, 18'000'000U) << "all that was asked for";
}

TEST(Trial, SaysWhenThereIsNoRoomForTheWholeDuration) {
  SimulatedTrial trial;
  trial.own_world.run_ns = 100;
  trial.request.stopping = {.warmup = 1, .iterations = {}, .duration_s = 2.0};
  world->drifting_output = true;  // unrelated: it must not hide the other
  const Samples samples = trial.run().samples;
  EXPECT_EQ(trial.block().timed_done().size(), SampleBlock::max_by_duration);
  EXPECT_TRUE(has(samples, DiagnosticId::iterations_capped));
}

TEST(Trial, WhoeverLooksAtTheTimedLoopIsCalledRightAroundIt) {
  SimulatedTrial trial;
  const Samples samples = trial.run().samples;
  EXPECT_THAT(trial.runs_around_loop, ElementsAre(1 + 3, 1 + 3 + 10));
  EXPECT_TRUE(has(samples, DiagnosticId::no_python_profile)) << "what they say is kept";
  SimulatedTrial untimed;
  untimed.request.time_it = false;
  static_cast<void>(untimed.run());
  EXPECT_TRUE(untimed.runs_around_loop.empty());
}

TEST(Trial, AFailureInTheLoopKeepsWhatCameBefore) {
  SimulatedTrial trial;
  trial.own_world.fail_at = 1 + 3 + 6;
  const Samples samples = trial.run().samples;
  EXPECT_EQ(samples.end, TrialEnd::run_failed);
  EXPECT_EQ(samples.phase, Phase::timed);
  EXPECT_EQ(samples.message, "a timed inference failed: it was told to");
  EXPECT_EQ(trial.block().timed_done().size(), 6U);
  EXPECT_TRUE(samples.noise.own_cpu.has_value()) << "the records of the loop are there nevertheless";
}

TEST(Trial, OutOfMemoryIsAnEndOfItsOwn) {
  SimulatedTrial trial;
  trial.own_world.fail_at = 0;
  trial.own_world.fail_with = IMB_OUT_OF_MEMORY;
  trial.own_world.message = "";
  const Samples samples = trial.run().samples;
  EXPECT_EQ(samples.end, TrialEnd::out_of_memory);
  EXPECT_EQ(samples.message, "the first inference failed: out of memory");
}

TEST(Trial, AnInterruptEndsAfterTheIteration) {
  SimulatedTrial trial;
  trial.own_world.interrupt_at = 1 + 3 + 4;
  const Samples samples = trial.run().samples;
  EXPECT_EQ(samples.end, TrialEnd::interrupted);
  EXPECT_EQ(trial.block().timed_done().size(), 5U) << "the one that was running is kept";
  EXPECT_EQ(trial.own_world.runs, 1 + 3 + 5);
}

TEST(Trial, OutputsOnlyTimesNothing) {
  SimulatedTrial trial;
  trial.request.time_it = false;
  trial.request.keep_outputs = true;
  trial.items = 2;
  const TrialOutcome outcome = trial.run();
  EXPECT_EQ(outcome.samples.end, TrialEnd::ok);
  EXPECT_EQ(outcome.output_values.size(), 2U);
  EXPECT_EQ(trial.own_world.runs, 1 + 2);
}

TEST(Trial, WarmupBeyondTheRoomForItIsRunAndNotKept) {
  SimulatedTrial trial;
  trial.request.stopping.warmup = 5000;
  static_cast<void>(trial.run());
  EXPECT_EQ(trial.block().warmup_done().size(), SampleBlock::max_warmup);
  EXPECT_EQ(trial.block().warmup_iterations(), 5000);
  EXPECT_EQ(trial.own_world.runs, 1 + 5000 + 10);
}

TEST(Trial, NoticesOutputsThatChangeFromRunToRun) {
  SimulatedTrial trial;
  EXPECT_FALSE(has(trial.run().samples, DiagnosticId::outputs_not_deterministic));
  trial.own_world.drifting_output = true;
  EXPECT_TRUE(has(trial.run().samples, DiagnosticId::outputs_not_deterministic));
}

TEST(Trial, NoticesOutputsThatDoNotDependOnInputs) {
  SimulatedTrial trial;
  trial.items = 2;
  EXPECT_FALSE(has(trial.run().samples, DiagnosticId::outputs_constant));
  trial.own_world.constant_output = true;
  EXPECT_TRUE(has(trial.run().samples, DiagnosticId::outputs_constant));
}

TEST(Trial, NoticesOutputsThatAreNotFinite) {
  SimulatedTrial trial;
  trial.own_world.output[1] = std::numeric_limits<float>::infinity();
  const Samples samples = trial.run().samples;
  EXPECT_TRUE(has(samples, DiagnosticId::outputs_not_finite));
  ASSERT_EQ(samples.outputs.size(), 1U);
  EXPECT_EQ(samples.outputs[0].inf_count, 1U);
  EXPECT_EQ(samples.outputs[0].nan_count, 0U);
  EXPECT_EQ(samples.outputs[0].element_count, 2U);
}

TEST(Trial, ComparesWhatIsExecutedWithWhatWasAsked) {
  SimulatedTrial trial;
  trial.own_world.executed_threads = "1";
  const Samples as_asked = trial.run().samples;
  EXPECT_FALSE(has(as_asked, DiagnosticId::precision_not_as_asked));
  EXPECT_FALSE(has(as_asked, DiagnosticId::threads_not_as_asked));
  trial.own_world.executed_dtype = "bfloat16";
  trial.own_world.executed_threads = "4";
  const Samples otherwise = trial.run().samples;
  EXPECT_TRUE(has(otherwise, DiagnosticId::precision_not_as_asked));
  EXPECT_TRUE(has(otherwise, DiagnosticId::threads_not_as_asked));
  trial.request.subject.threads = 0;
  EXPECT_FALSE(has(trial.run().samples, DiagnosticId::threads_not_as_asked)) << "nobody asked for any";
}

TEST(Trial, TheTypesOfAModelsFileAreItsOwn) {
  LoadPlan asked;
  asked.dtype = "float32";
  Samples samples;
  samples.executed = {{"dtype", "float16"}};
  EXPECT_EQ(diagnose_executed(asked, false, false, samples).size(), 1U);
  samples.executed.emplace_back("dtype_from", "model");
  EXPECT_TRUE(diagnose_executed(asked, false, false, samples).empty()) << "no --dtype would execute another one";
  asked.dtype = "bfloat16";
  EXPECT_EQ(diagnose_executed(asked, false, false, samples).size(), 1U);
}

TEST(Trial, AModelThatAnOptionQuantisedIsAsAsked) {
  const LoadPlan asked{.model_path = "",
                       .zoo_name = "",
                       .device = "cpu",
                       .dtype = "float32",
                       .threads = 0,
                       .batch = 1,
                       .dimensions = {},
                       .options = {}};
  Samples samples;
  samples.executed = {{"dtype", "int8"}};
  EXPECT_EQ(diagnose_executed(asked, true, false, samples).size(), 1U);
  samples.executed.emplace_back("quantize", "dynamic: 9 of 10 weights in int8");
  EXPECT_TRUE(diagnose_executed(asked, true, false, samples).empty());
}

TEST(Trial, SaysThatOneRequestAtATimeIsMeasured) {
  SimulatedTrial trial;
  trial.own_world.concurrent_inferences = "1";
  EXPECT_FALSE(has(trial.run().samples, DiagnosticId::one_request_at_a_time));
  SimulatedTrial several;
  several.own_world.concurrent_inferences = "4";
  several.request.subject.options = {{"graph_optimization", "all"}};
  const Samples samples = several.run().samples;
  ASSERT_TRUE(has(samples, DiagnosticId::one_request_at_a_time));
  EXPECT_EQ(samples.diagnostics.front().message,
            "it was measured one request at a time; with graph_optimization=all it could do 4 at once");
}

// Requests that are told apart. In the warm-up each waits for the others: one after the other it would never end.
struct RequestsAtOnce {
  struct Slot {
    RequestsAtOnce* all;
    int in_warmup = 0;
  };
  std::deque<Slot> slots;
  std::barrier<> together{4};

  void put_into(imb_backend& backend) {
    active = this;
    backend.runtime_info = [](imb_runtime*) -> const imb_runtime_info* {
      static const imb_runtime_info many = [] {
        imb_runtime_info info = table::info;
        info.concurrent_requests = 0;
        return info;
      }();
      return &many;
    };
    backend.create_request = [](imb_session*, imb_request** request, imb_message) {
      *request = reinterpret_cast<imb_request*>(&active->slots.emplace_back(active));
      return IMB_OK;
    };
    backend.bind_input = [](imb_request*, std::size_t, const imb_value*, imb_message) { return IMB_OK; };
    backend.run = [](imb_request* request, imb_message) {
      auto& slot = *reinterpret_cast<Slot*>(request);
      if (world->block->phase() != Phase::warmup) return IMB_OK;
      ++slot.in_warmup;
      slot.all->together.arrive_and_wait();
      return IMB_OK;
    };
  }

 private:
  static inline RequestsAtOnce* active = nullptr;
};

TEST(Trial, WarmsUpAllRequestsThatWillBeInFlightAtOnce) {
  for (const auto& [warmup, of_each] : {std::pair{0, 1}, std::pair{3, 1}, std::pair{9, 3}}) {
    SimulatedTrial trial;
    trial.request.subject.load = {{"concurrency", "4"}};
    trial.request.stopping = {.warmup = warmup, .iterations = 10, .duration_s = {}};
    RequestsAtOnce requests;
    requests.put_into(trial.backend);
    const Samples samples = trial.run().samples;
    EXPECT_EQ(samples.end, TrialEnd::ok) << samples.message;
    ASSERT_EQ(requests.slots.size(), 4U);
    for (const auto& slot : requests.slots) EXPECT_EQ(slot.in_warmup, of_each) << warmup;
    EXPECT_EQ(samples.load->clients, 4);
  }
}

TEST(Trial, WarmsUpOneRequestAsOftenAsItIsAskedTo) {
  for (const int warmup : {0, 3}) {
    SimulatedTrial trial;
    trial.request.subject.load = {{"concurrency", "1"}};
    trial.request.stopping = {.warmup = warmup, .iterations = 10, .duration_s = {}};
    EXPECT_EQ(trial.run().samples.end, TrialEnd::ok);
    EXPECT_THAT(trial.runs_around_loop, ElementsAre(1 + warmup, 1 + warmup + 10));
  }
}

TEST(Trial, NotesWhenThePartsOfAnswersCame) {
  SimulatedTrial trial;
  trial.own_world.run_ns = 9000;
  trial.own_world.parts_ns = {2000, 5000, 6000};
  trial.own_world.reported_tokens = 4;
  const Samples samples = trial.run().samples;
  ASSERT_TRUE(samples.generation);
  EXPECT_EQ(samples.generation->answers, 10U);
  EXPECT_EQ(samples.generation->parts, 30U);
  EXPECT_EQ(samples.generation->output_tokens, 40U);
  EXPECT_EQ(samples.generation->prompt_tokens, 70U);
  EXPECT_NEAR(samples.generation->duration_s, 90e-6, 1e-9);
  const auto value_of = [&](std::string_view name) {
    const auto found = std::ranges::find(samples.counters, name, &Counter::name);
    return found == samples.counters.end() ? -1 : found->value;
  };
  EXPECT_NEAR(value_of("ttft_p50"), 2e-6, 2e-9);
  EXPECT_NEAR(value_of("tpot_p50"), 7e-6 / 3, 2e-9);
  EXPECT_NEAR(value_of("itl_p50"), 1e-6, 2e-9);
  EXPECT_TRUE(has(samples, DiagnosticId::parts_not_tokens));
  SimulatedTrial none;
  EXPECT_FALSE(none.run().samples.generation);
}

TEST(Trial, ATokenAPieceNeedsNoNote) {
  SimulatedTrial trial;
  trial.own_world.parts_ns = {100, 200};
  EXPECT_FALSE(has(trial.run().samples, DiagnosticId::parts_not_tokens));
}

TEST(Trial, SaysThatACounterCameTwice) {
  SimulatedTrial trial;
  trial.own_world.counters_of_a_name = 2;
  const Samples samples = trial.run().samples;
  EXPECT_TRUE(has(samples, DiagnosticId::counter_repeated));
  SimulatedTrial once;
  EXPECT_FALSE(has(once.run().samples, DiagnosticId::counter_repeated));
}

TEST(Trial, SaysThatCountersFailed) {
  SimulatedTrial trial;
  trial.own_world.counters_fail = true;
  const Samples samples = trial.run().samples;
  EXPECT_EQ(samples.end, TrialEnd::ok);
  EXPECT_EQ(samples.counters.size(), 1U) << "what came before is kept";
  EXPECT_TRUE(has(samples, DiagnosticId::counters_failed));
  SimulatedTrial good;
  EXPECT_FALSE(has(good.run().samples, DiagnosticId::counters_failed));
}

TEST(Trial, SaysThatTheClockWentBack) {
  SimulatedTrial trial;
  trial.backend.run = [](imb_request* request, imb_message message) {
    if (world->runs == 1 + 3 + 6) world->now_ns -= 3000;
    return table::run(request, message);
  };
  Samples samples = trial.run().samples;
  record_times(trial.block(), {trial.own_world.now_ns + 10'000, trial.own_world.now_ns + 10'000}, samples);
  EXPECT_EQ(samples.iterations(), 6U);
  ASSERT_TRUE(has(samples, DiagnosticId::clock_went_back));
  SimulatedTrial good;
  samples = good.run().samples;
  record_times(good.block(), {good.own_world.now_ns, good.own_world.now_ns}, samples);
  EXPECT_EQ(samples.iterations(), 10U);
  EXPECT_FALSE(has(samples, DiagnosticId::clock_went_back));
}

// Requests of a load overlap in its warm-up, too.
TEST(Trial, OverlappingRequestsAreNoClockThatWentBack) {
  SimulatedTrial trial;
  Samples samples = trial.run().samples;
  ASSERT_GE(trial.block().warmup_done().size(), 2U);
  const std::span<TickPair> warmup = trial.block().warmup();
  warmup[0].end = warmup[1].end;
  samples.diagnostics.clear();
  const ClockPair last{trial.own_world.now_ns, trial.own_world.now_ns};
  record_times(trial.block(), last, samples, true);
  EXPECT_FALSE(has(samples, DiagnosticId::clock_went_back));
  record_times(trial.block(), last, samples, false);
  EXPECT_TRUE(has(samples, DiagnosticId::clock_went_back)) << "of inferences one after the other it is";
}

struct Refusal {
  const char* what;
  void (*change)(Subject&, std::string& path);
  const char* message;
};

TEST(Trial, RefusesWhatTheRuntimeDoesNotList) {
  const Refusal refusals[] = {{"device", [](Subject& s, std::string&) { s.device = "cuba"; },
                               "device 'cuba' is not there: this machine's simulated has cpu, cuda (did you mean "
                               "'cuda'?); choose one with --device"},
                              {"a kind of device", [](Subject& s, std::string&) { s.device = "tpu"; },
                               "device 'tpu' is not there: this machine's simulated has cpu, cuda; choose one"},
                              {"dtype", [](Subject& s, std::string&) { s.dtype = Precision::bfloat16; },
                               "simulated cannot execute bfloat16 here: it has float32; choose one with --dtype"},
                              {"option", [](Subject& s, std::string&) { s.options = {{"graph_optimisation", "all"}}; },
                               "has no option 'graph_optimisation' (did you mean 'graph_optimization'?)"},
                              {"format", [](Subject&, std::string& path) { path = "/a/model.onnx"; },
                               "cannot load 'model.onnx' (it reads sim files)"}};
  for (const Refusal& refusal : refusals) {
    SimulatedTrial trial;
    refusal.change(trial.request.subject, trial.request.model_path);
    const Samples samples = trial.run().samples;
    EXPECT_EQ(samples.end, TrialEnd::load_failed) << refusal.what;
    EXPECT_TRUE(samples.usage) << refusal.what;
    EXPECT_THAT(samples.message, HasSubstr(refusal.message));
  }
}

Port port(std::string name, Shape shape) {
  Port made;
  made.name = std::move(name);
  made.dtype = DType::float32;
  made.shape = std::move(shape);
  return made;
}

TEST(DiagnoseBatch, SaysWhatMightHaveBeenABatch) {
  const auto found = diagnose_batch(std::vector{port("state", {8}), port("x", {48, 64})}, {});
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].id, DiagnosticId::no_batch_axis);
  EXPECT_EQ(found[0].message, "an inference is one item: no input has a batch axis (input 'x' is float32 [48, 64])");
  EXPECT_TRUE(diagnose_batch(std::vector{port("x", {48, 64})}, {{"", "none"}}).empty());
  std::vector<Port> inputs = {port("x", {50, 8, 40}), port("h", {16}), port("s", {})};
  inputs[0].batch_axis = 1;
  const auto reported = diagnose_batch(inputs, {});
  ASSERT_EQ(reported.size(), 1u);
  EXPECT_EQ(reported[0].id, DiagnosticId::batch_axes_told);
  EXPECT_EQ(reported[0].message, "the batch of the inputs: 'x' has it at dimension 1, 'h' has none, 's' has none");
  inputs[0].batch_axis = inputs[1].batch_axis = 0;
  EXPECT_TRUE(diagnose_batch(inputs, {}).empty());
  EXPECT_TRUE(diagnose_batch(std::vector{port("x", {1, 3}), port("y", {8}), port("z", {})}, {}).empty());
}

}  // namespace
}  // namespace infermeter::trial_test
