// Binding, running, and what the outputs are.
#include <gmock/gmock.h>

#include <chrono>
#include <cmath>
#include <cstddef>
#include <memory>
#include <set>
#include <thread>

#include "backend_under_test.hpp"

namespace infermeter::backend_run_test {
namespace {

using testing::HasSubstr;

struct RunTest : BackendTest {
  static std::vector<float> output_of(const Request& request) {
    const auto ran = run(request);
    EXPECT_EQ(ran.status, IMB_OK) << ran.message;
    const auto output = first_output(request);
    EXPECT_EQ(output.status, IMB_OK) << output.message;
    return output.value;
  }
};

TEST_F(RunTest, NothingRunsBeforeItsInputsAreBound) {
  const auto loaded = load(runtime_);
  const auto created = create_request(loaded.value);
  ASSERT_EQ(created.status, IMB_OK) << created.message;
  const auto outcome = run(created.value);
  EXPECT_EQ(outcome.status, IMB_INVALID_ARGUMENT);
  EXPECT_THAT(outcome.message, HasSubstr(table().input(loaded.value.get(), 0)->name));
}

TEST_F(RunTest, ThereIsNoOutputBeforeAnInference) {
  const Ready ready = make_ready();
  EXPECT_EQ(first_output(ready.request).status, IMB_INVALID_ARGUMENT);
}

TEST_F(RunTest, WhatDoesNotFitIsRefusedWithWantedAndGot) {
  const Ready ready = make_ready();
  const std::string name = table().input(ready.session.get(), 0)->name;
  Input wrong = ready.input;
  wrong.dtype = IMB_INT32;
  auto outcome = bind_input(ready.request, 0, wrong.view());
  EXPECT_EQ(outcome.status, IMB_INVALID_ARGUMENT);
  EXPECT_THAT(outcome.message, testing::AllOf(HasSubstr(name), HasSubstr("float32"), HasSubstr("int32")));

  wrong = ready.input;
  wrong.shape.back() += 1;
  outcome = bind_input(ready.request, 0, wrong.view());
  EXPECT_EQ(outcome.status, IMB_INVALID_ARGUMENT);
  EXPECT_THAT(outcome.message, testing::AllOf(HasSubstr(name), HasSubstr("x" + std::to_string(wrong.shape.back()))));

  wrong.shape.pop_back();
  EXPECT_EQ(bind_input(ready.request, 0, wrong.view()).status, IMB_INVALID_ARGUMENT);

  imb_value value = ready.input.view();
  value.size_bytes -= 4;  // fewer bytes than the shape needs would be read beyond their end
  EXPECT_EQ(bind_input(ready.request, 0, value).status, IMB_INVALID_ARGUMENT);

  value = ready.input.view();
  value.kind = IMB_SEQUENCE;
  EXPECT_EQ(bind_input(ready.request, 0, value).status, IMB_INVALID_ARGUMENT);
  value.kind = IMB_NONE;
  EXPECT_EQ(bind_input(ready.request, 0, value).status, IMB_INVALID_ARGUMENT);
}

TEST_F(RunTest, IndicesBeyondThePortsAreRefused) {
  const Ready ready = make_ready();
  EXPECT_EQ(bind_input(ready.request, table().input_count(ready.session.get()), ready.input.view()).status,
            IMB_INVALID_ARGUMENT);
  ASSERT_EQ(run(ready.request).status, IMB_OK);
  Message message;
  imb_value value{};
  EXPECT_EQ(
      table().output_value(ready.request.get(), table().output_count(ready.session.get()), &value, message.view()),
      IMB_INVALID_ARGUMENT);
}

TEST_F(RunTest, OutputsFitTheirPortAndAreTheSameEachTime) {
  const Ready ready = make_ready();
  const std::vector<float> input = ready.input.values;
  const auto first = output_of(ready.request);
  EXPECT_EQ(output_of(ready.request), first);
  EXPECT_EQ(ready.input.values, input) << "an inference changed its input";
  const imb_port& port = *table().output(ready.session.get(), 0);
  std::size_t count = 1;
  for (std::size_t i = 0; i < port.rank; ++i) count *= static_cast<std::size_t>(port.shape[i]);
  EXPECT_EQ(first.size(), count);
  for (const float value : first) EXPECT_TRUE(std::isfinite(value));
}

TEST_F(RunTest, OutputsFollowWhatIsBound) {
  const Ready ready = make_ready(1);
  const auto first = output_of(ready.request);
  const Input other = make_input(*table().input(ready.session.get(), 0), 2);
  ASSERT_EQ(bind_input(ready.request, 0, other.view()).status, IMB_OK);
  EXPECT_NE(output_of(ready.request), first);
  ASSERT_EQ(bind_input(ready.request, 0, ready.input.view()).status, IMB_OK);
  EXPECT_EQ(output_of(ready.request), first);
}

TEST_F(RunTest, FailedBindLeavesTheRequestUsable) {
  const Ready ready = make_ready();
  const auto first = output_of(ready.request);
  Input wrong = ready.input;
  wrong.dtype = IMB_INT32;
  ASSERT_NE(bind_input(ready.request, 0, wrong.view()).status, IMB_OK);
  ASSERT_EQ(bind_input(ready.request, 0, ready.input.view()).status, IMB_OK);
  EXPECT_EQ(output_of(ready.request), first);
}

TEST_F(RunTest, RequestsDoNotInterfere) {
  const Ready ready = make_ready(1);
  const auto created = create_request(ready.session);
  ASSERT_EQ(created.status, IMB_OK) << created.message;
  const Input other = make_input(*table().input(ready.session.get(), 0), 2);
  ASSERT_EQ(bind_input(created.value, 0, other.view()).status, IMB_OK);
  const auto first = output_of(ready.request);
  const auto second = output_of(created.value);
  EXPECT_NE(first, second);
  EXPECT_EQ(first_output(ready.request).value, first) << "another request's inference changed this one's output";
}

TEST_F(RunTest, SessionsDoNotInterfere) {
  const Ready one = make_ready(1), two = make_ready(2);
  const auto first = output_of(one.request);
  const auto second = output_of(two.request);
  EXPECT_NE(first, second);
  EXPECT_EQ(first_output(one.request).value, first);
}

TEST_F(RunTest, RequestsRunAtTheSameTimeWhereThatIsPromised) {
  if (info().concurrent_requests == 1) GTEST_SKIP();
  const Ready one = make_ready(1);
  const auto created = create_request(one.session);
  const Input other = make_input(*table().input(one.session.get(), 0), 2);
  ASSERT_EQ(bind_input(created.value, 0, other.view()).status, IMB_OK);
  const auto first = output_of(one.request), second = output_of(created.value);
  const auto repeat = [](const Request& request, const std::vector<float>& expected) {
    for (int i = 0; i < 200; ++i) EXPECT_EQ(output_of(request), expected);
  };
  std::thread thread([&] { repeat(created.value, second); });
  repeat(one.request, first);
  thread.join();
}

TEST_F(RunTest, AnItemsOutputDoesNotDependOnTheBatch) {
  const Ready two = make_ready(1, {.batch = 2}), one = make_ready(1, {.batch = 1});
  Input item = one.input;
  item.values.assign(two.input.values.begin(), two.input.values.begin() + static_cast<long>(item.values.size()));
  ASSERT_EQ(bind_input(one.request, 0, item.view()).status, IMB_OK);
  const auto alone = output_of(one.request), together = output_of(two.request);
  ASSERT_EQ(together.size(), 2 * alone.size());
  for (std::size_t i = 0; i < alone.size(); ++i) EXPECT_NEAR(alone[i], together[i], 1e-5);
}

TEST_F(RunTest, DynamicBatchTakesAnySize) {
  const auto loaded = load(runtime_, {.batch = 0});
  const auto created = create_request(loaded.value);
  ASSERT_EQ(created.status, IMB_OK) << created.message;
  std::size_t per_item = 0;
  for (const std::int64_t batch : {1, 3, 2}) {
    const Input input = make_input(*table().input(loaded.value.get(), 0), 1, batch);
    ASSERT_EQ(bind_input(created.value, 0, input.view()).status, IMB_OK);
    const auto output = output_of(created.value);
    if (batch == 1) per_item = output.size();
    EXPECT_EQ(output.size(), per_item * static_cast<std::size_t>(batch));
  }
}

TEST_F(RunTest, SubmitAndWaitAreAnInference) {
  if (table().submit == nullptr) GTEST_SKIP();
  const Ready ready = make_ready();
  const auto expected = output_of(ready.request);
  Message message;
  EXPECT_EQ(table().wait(ready.request.get(), message.view()), IMB_INVALID_ARGUMENT) << "nothing was submitted";
  for (int i = 0; i < 3; ++i) {
    ASSERT_EQ(table().submit(ready.request.get(), message.view()), IMB_OK) << message.text();
    ASSERT_EQ(table().wait(ready.request.get(), message.view()), IMB_OK) << message.text();
    EXPECT_EQ(first_output(ready.request).value, expected);
  }
}

TEST_F(RunTest, AQueueHandsOutWhatHasEnded) {
  if (table().struct_size <= offsetof(imb_backend, queues) || table().queues == nullptr) GTEST_SKIP();
  const imb_queue_slots& slots = *table().queues;
  const Ready ready = make_ready();
  const auto expected = output_of(ready.request);
  const auto created = create_request(ready.session);
  ASSERT_EQ(created.status, IMB_OK) << created.message;
  const Input input = make_input(*table().input(ready.session.get(), 0), 1, 1);
  ASSERT_EQ(bind_input(created.value, 0, input.view()).status, IMB_OK);
  Message message;
  imb_queue* made = nullptr;
  ASSERT_EQ(slots.create(ready.session.get(), &made, message.view()), IMB_OK) << message.text();
  const std::unique_ptr<imb_queue, void (*)(imb_queue*)> queue(made, slots.destroy);
  constexpr std::int64_t minute_ns = 60'000'000'000;
  const auto monotonic_ns = [] {
    return std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1);
  };
  for (int i = 0; i < 3; ++i) {
    const std::int64_t begin_ns = monotonic_ns();
    std::set<imb_request*> in_flight{ready.request.get(), created.value.get()};
    for (imb_request* const request : in_flight)
      ASSERT_EQ(slots.submit(queue.get(), request, message.view()), IMB_OK) << message.text();
    while (!in_flight.empty()) {
      imb_request* ended = nullptr;
      std::int64_t ended_ns = 0;
      ASSERT_EQ(slots.next_ended(queue.get(), minute_ns, &ended, &ended_ns, message.view()), IMB_OK) << message.text();
      EXPECT_GE(ended_ns, begin_ns);
      EXPECT_LE(ended_ns, monotonic_ns());
      ASSERT_EQ(in_flight.erase(ended), 1U);
      ASSERT_EQ(table().wait(ended, message.view()), IMB_OK) << message.text();
      EXPECT_EQ(first_output(ended == ready.request.get() ? ready.request : created.value).value, expected);
    }
    imb_request* none = ready.request.get();
    std::int64_t never_ns = 0;
    EXPECT_EQ(slots.next_ended(queue.get(), 0, &none, &never_ns, message.view()), IMB_OK);
    EXPECT_EQ(none, nullptr);
  }
  EXPECT_EQ(output_of(ready.request), expected) << "alone, after the queue";
}

TEST_F(RunTest, OptionalSlotsSucceed) {
  const Ready ready = make_ready();
  ASSERT_EQ(run(ready.request).status, IMB_OK);
  Message message;
  if (table().synchronize != nullptr) {
    EXPECT_EQ(table().synchronize(ready.session.get(), message.view()), IMB_OK);
  }
  const auto ignore = [](void*, const char*, const char*, double) {};
  if (table().counters != nullptr) {
    EXPECT_EQ(table().counters(ready.session.get(), ignore, nullptr, message.view()), IMB_OK);
  }
  std::uint64_t now = 0, peak = 0;
  if (table().device_memory != nullptr) {
    EXPECT_EQ(table().device_memory(ready.session.get(), &now, &peak, message.view()), IMB_OK);
    EXPECT_LE(now, peak);
  }
}

}  // namespace
}  // namespace infermeter::backend_run_test
